// Values of parameters beyond those of any machine are accepted, and act as no limit or as one that
// nothing meets.

#include <gtest/gtest.h>

#include <limits>

#include "core/graph/canonical.h"
#include "core/graph/validate.h"
#include "core/open/open.h"
#include "tests/passes/run_pass.h"
#include "tests/support/paths.h"
#include "tests/support/slow.h"

namespace jointer::test {
namespace {

const Graph& sample(bool is_pair) {
  static const auto kOpen = [](const char* name) {
    auto graph = open_graph({.path = source_path(std::string("resources/samples/") + name)});
    if (!graph) throw std::runtime_error(graph.error().message);
    return *std::move(graph);
  };
  static const Graph kJoint = kOpen("llama_debug_tp2_fsdp2.joint.json.zst");
  static const Graph kPair = kOpen("llama_debug_tp2_fsdp2.min_cut.json.zst");
  return is_pair ? kPair : kJoint;
}

// These limit the duration of a search and its start, not its result.
bool is_of_the_search(const std::string& parameter) {
  return parameter == "evaluations" || parameter == "effort" || parameter == "seed" ||
         parameter == "threads";
}

std::vector<PassValue> extremes(const Parameter& parameter) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  std::vector<PassValue> values;
  switch (parameter.type) {
    case Parameter::Type::number:
      values = {0.0, 1e-300, 1e12, 1e300, std::numeric_limits<double>::max()};
      break;
    case Parameter::Type::integer:
    case Parameter::Type::bytes:
      values = {0, std::int64_t{1} << 50, kMax};
      break;
    default:
      break;
  }
  std::erase_if(values, [&](const PassValue& value) {
    return !Arguments::check(std::span(&parameter, 1), {{parameter.name, value}});
  });
  return values;
}

class ExtremeNumbers : public testing::TestWithParam<std::string> {};

// The graph is sound, and the same for any two values that exceed every need.
TEST_P(ExtremeNumbers, ActAsNoLimit) {
  JOINTER_SLOW_IF(GetParam() == "fastest_plan" || GetParam() == "greedy_bucketing_by_mb" ||
                  GetParam() == "autobucketing_reordering");
  const PassInfo info = built_in_passes().find(GetParam())->info;
  const Graph& graph = sample(info.stage != PassStage::joint &&
                              info.stage != PassStage::partition && info.stage != PassStage::fsdp);
  for (const Parameter& parameter : info.parameters) {
    if (is_of_the_search(parameter.name)) continue;
    SCOPED_TRACE(parameter.name);
    std::string enough;
    for (const PassValue& value : extremes(parameter)) {
      PipelineStep step{.pass = info.name, .given = {{parameter.name, value}}};
      if (info.stage == PassStage::search) step.given.emplace_back("evaluations", 8);
      SCOPED_TRACE(to_text(step));
      const auto done = run_pipeline(graph, {step}, built_in_passes(), simple_costs());
      ASSERT_TRUE(done) << done.error().message;
      if (done->error) {
        EXPECT_EQ(done->error->kind, Error::Kind::usage) << done->error->message;
        continue;
      }
      const Graph& made = *done->steps.front().graph;
      ASSERT_TRUE(validate(made));
      const auto* whole = value.as<std::int64_t>();
      const auto* number = value.as<double>();
      if ((whole != nullptr && *whole > 1) || (number != nullptr && *number > 1)) {
        if (enough.empty()) enough = graph_hash(made);
        EXPECT_EQ(graph_hash(made), enough);
      }
    }
  }
}

std::vector<std::string> passes_with_numbers() {
  std::vector<std::string> names;
  const PassRegistry registry = built_in_passes();
  for (const Pass& pass : registry.passes())
    for (const Parameter& parameter : pass.info.parameters)
      if (!extremes(parameter).empty() && !is_of_the_search(parameter.name)) {
        names.push_back(pass.info.name);
        break;
      }
  return names;
}

INSTANTIATE_TEST_SUITE_P(Passes, ExtremeNumbers, testing::ValuesIn(passes_with_numbers()),
                         [](const auto& parameter) { return parameter.param; });

class Caps : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(Caps, ALargerCapNeverMergesLess) {
  const auto [pass, cap] = GetParam();
  std::size_t merged = 0;
  for (const double value : {0.0, 1e-6, 0.01, 0.1, 1.0, 50.0, 1e9, 1e12, 1e19, 1e300}) {
    const PipelineStep step{.pass = pass, .given = {{cap, value}}};
    SCOPED_TRACE(to_text(step));
    const auto done = run_pipeline(sample(true), {step}, built_in_passes(), {});
    ASSERT_TRUE(done && !done->error);
    EXPECT_GE(done->steps.front().merged, merged);
    merged = done->steps.front().merged;
  }
  EXPECT_GT(merged, 0U);
}

INSTANTIATE_TEST_SUITE_P(Buckets, Caps,
                         testing::Values(std::pair("greedy_bucketing_by_mb", "bucket_cap_mb"),
                                         std::pair("autobucketing_reordering",
                                                   "max_bucket_memory_gb")),
                         [](const auto& parameter) { return std::string(parameter.param.second); });

TEST(ExtremeNumbers, AnUnreachableGainMovesNothing) {
  const StepResult step = run_pass(sample(true), "place_collectives{least_gain_us=1e300}");
  EXPECT_EQ(step.moved, 0U);
}

// With None, upstream uses the other limit. If both are None, torch 2.11 does not let the peak
// grow, and torch 2.15 has no limit.
TEST(MemoryIncrease, NoneLeavesTheOtherLimit) {
  const auto made = [](const char* given) {
    return graph_hash(
        *run_pass(sample(true), std::string("autobucketing_reordering{") + given + "}").graph);
  };
  EXPECT_EQ(made("max_memory_increase_gb=none"), made("max_memory_increase_gb=0"));
  EXPECT_EQ(made("max_memory_increase_ratio=none"), made("max_memory_increase_ratio=0"));
  const std::string neither = "max_memory_increase_gb=none,max_memory_increase_ratio=none";
  EXPECT_EQ(made((neither + ",rules=torch-2.11").c_str()),
            made("max_memory_increase_gb=0,max_memory_increase_ratio=0,rules=torch-2.11"));
  EXPECT_EQ(made((neither + ",rules=torch-2.15").c_str()),
            made("max_memory_increase_gb=1000000,rules=torch-2.15"));
}

}  // namespace
}  // namespace jointer::test
