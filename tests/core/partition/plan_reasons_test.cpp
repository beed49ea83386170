// The reasons for a plan's values hold in its pair: recomputed values run in the backward, and so
// does every call that a reason names as a reader.

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <regex>

#include "core/open/open.h"
#include "core/partition/partition.h"
#include "tests/support/must.h"
#include "tests/support/paths.h"
#include "tests/support/random_graph.h"

namespace jointer::test {
namespace {

// The call of the backward that a reason names, or empty.
std::string reader_in(const std::string& text) {
  static const std::regex kReader(
      R"(and (\w+), which depends on it|for (\w+): saving it|and (\w+) in the backward|^(\w+) depends on it)");
  std::smatch found;
  if (!std::regex_search(text, found, kReader)) return {};
  for (std::size_t i = 1; i < found.size(); ++i)
    if (found[i].matched) return found[i];
  return {};
}

// The reasons that do not hold, and the number of readers named.
struct Said {
  std::string untrue;
  std::size_t readers = 0;
};

Said check_reasons(const Partition& done, const Graph& pair) {
  std::vector<bool> is_saved(done.joint.node_count(), false);
  for (const auto* list : {&done.plan.saved, &done.plan.saved_symbols})
    for (const NodeId id : *list) is_saved[id.index()] = true;
  Said said;
  for (const NodeId id : done.joint.order()) {
    const PlanReason& reason = done.reasons[id.index()];
    const std::string_view name = done.joint.name(id);
    if (reason.kind == PlanReason::Kind::none) continue;
    const auto runs = [&](std::string_view call) {
      const NodeId again = pair.find(PartId(1), call);
      return again && pair.node(again).kind == NodeKind::call;
    };
    if (!is_saved[id.index()] && !runs(name))
      said.untrue += fmt::format("{} is not recomputed; ", name);
    const std::string reader = reader_in(reason.text);
    if (reader.empty() || reader == "backward") continue;
    ++said.readers;
    if (!runs(reader)) said.untrue += fmt::format("{}: {}; ", name, reason.text);
  }
  return said;
}

RC_GTEST_PROP(PlanReasons, NameWhatTheBackwardRuns, (bool is_default, bool ignore_tags)) {
  const Graph joint = random_graph(
      *rc::gen::arbitrary<std::uint64_t>(),
      {.calls = *rc::gen::inRange<std::size_t>(2, 60), .gradients = true, .writes = false});
  PartitionOptions options{.ignore_tags = ignore_tags};
  if (is_default) options.partitioner = Partitioner::default_partition;
  if (!is_default) options.activation_budget = *rc::gen::element(0.0, 0.5, 1.0);
  const auto done = partition(joint, options);
  if (!done) RC_DISCARD("refused");
  const auto pair = emit_pair(done->joint, done->plan, options.partitioner);
  if (!pair) RC_FAIL(pair.error().message);
  RC_ASSERT(check_reasons(*done, *pair).untrue == "");
}

class PlanReasonsOfSample : public testing::TestWithParam<const char*> {};

TEST_P(PlanReasonsOfSample, NameWhatTheBackwardRuns) {
  const auto joint = must(open_graph({.path = source_path("resources/samples/") + GetParam()}));
  for (const Partitioner partitioner : {Partitioner::min_cut, Partitioner::default_partition})
    for (const double budget : {1.0, 0.5, 0.0}) {
      if (partitioner == Partitioner::default_partition && budget < 1) continue;
      const auto done =
          must(partition(joint, {.partitioner = partitioner, .activation_budget = budget}));
      const auto pair = must(emit_pair(done.joint, done.plan, partitioner));
      const Said said = check_reasons(done, pair);
      EXPECT_EQ(said.untrue, "") << "budget " << budget;
      EXPECT_GT(said.readers, 0U);
    }
}

INSTANTIATE_TEST_SUITE_P(Samples, PlanReasonsOfSample,
                         testing::Values("llama_debug_tp2_fsdp2.joint.json.zst",
                                         "llama_8b_tp2_fsdp2.joint.json.zst"));

}  // namespace
}  // namespace jointer::test
