// Compares what-if with full recomputation after every move and in every gap of a preview. Also
// tests legal ranges: within them a graph stays sound and computes the same, and one gap further it
// would not.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "core/graph/effects.h"
#include "core/graph/validate.h"
#include "core/open/open.h"
#include "core/schedule/what_if.h"
#include "tests/support/must.h"
#include "tests/support/paths.h"
#include "tests/support/random_costs.h"
#include "tests/support/random_graph.h"
#include "tests/support/slow.h"

namespace jointer::test {
namespace {

struct Options {
  MemoryOptions memory;
  SimulationOptions simulation;
};

Options random_options(const Graph& graph, std::mt19937_64& chance) {
  Options options;
  if (!graph.is_pair() && chance() % 3 == 0) options.memory.rules = MemoryRules::torch;
  if (chance() % 2 == 0) options.memory.optimizer = OptimizerState::adamw;
  if (chance() % 3 == 0) options.memory.collectives = CollectiveLibrary::gloo;
  if (options.memory.rules == MemoryRules::runtime && chance() % 4 == 0)
    options.memory.runs_on = DeviceType::cpu;
  options.simulation.one_communication_stream = chance() % 4 == 0;
  return options;
}

class Editing {
 public:
  Editing(Graph graph, std::vector<NodeCost> costs, const Options& options, std::uint64_t seed)
      : graph_(std::move(graph)),
        costs_(std::move(costs)),
        options_(options),
        dependencies_(graph_),
        what_if_(graph_, dependencies_, costs_, options.memory, options.simulation),
        recomputed_(graph_),
        chance_(seed) {
    for (const NodeId id : graph_.order()) {
      const Node& n = graph_.node(id);
      if (n.kind != NodeKind::call) continue;
      calls_.push_back(id);
      if (graph_.is_collective_start(n) || graph_.is_wait(n)) communication_.push_back(id);
    }
  }

  [[nodiscard]] WhatIf& what_if() { return what_if_; }
  [[nodiscard]] const Graph& graph() const { return graph_; }
  [[nodiscard]] const Dependencies& dependencies() const { return dependencies_; }
  std::mt19937_64& chance() { return chance_; }

  [[nodiscard]] Figures recompute(std::span<const NodeId> order) {
    recomputed_.set_order({order.begin(), order.end()});
    const Simulation simulation(recomputed_, costs_, options_.simulation);
    return {.peak_bytes = MemoryTimeline(recomputed_, options_.memory).peak_bytes(),
            .step_ns = simulation.step_ns(),
            .exposed_ns = simulation.exposed_ns()};
  }

  // The profile of the order that was recomputed last.
  [[nodiscard]] std::vector<std::int64_t> profile() const {
    const MemoryTimeline timeline(recomputed_, options_.memory);
    return {timeline.profile().begin(), timeline.profile().end()};
  }

  // One call, or a few near each other, that can move; empty if there are none.
  std::vector<NodeId> pick_block() {
    for (int attempt = 0; attempt < 20 && !calls_.empty(); ++attempt) {
      const auto& from = communication_.empty() || chance_() % 2 == 0 ? calls_ : communication_;
      const NodeId first = from[chance_() % from.size()];
      std::vector<NodeId> block{first};
      const auto order = what_if_.order();
      const auto at = static_cast<std::size_t>(std::ranges::find(order, first) - order.begin());
      for (std::uint64_t more = chance_() % 4 == 0 ? 1 + chance_() % 3 : 0; more > 0; --more) {
        const std::size_t other = at + 1 + chance_() % 4;
        if (other < order.size() && std::ranges::find(block, order[other]) == block.end())
          block.push_back(order[other]);
      }
      if (const auto range = what_if_.range(block); range && range->last > range->first)
        return block;
    }
    return {};
  }

  [[nodiscard]] static std::size_t pick_gap(const LegalRange& range, std::mt19937_64& chance) {
    return range.first + chance() % (range.last - range.first + 1);
  }

 private:
  Graph graph_;
  std::vector<NodeCost> costs_;
  Options options_;
  Dependencies dependencies_;
  WhatIf what_if_;
  Graph recomputed_;
  std::mt19937_64 chance_;
  std::vector<NodeId> calls_, communication_;
};

// The order with the block in a gap, by definition.
std::vector<NodeId> moved(std::span<const NodeId> order, std::span<const NodeId> block,
                          std::size_t gap) {
  std::vector<NodeId> rest, taken;
  for (const NodeId id : order)
    (std::find(block.begin(), block.end(), id) == block.end() ? rest : taken).push_back(id);
  rest.insert(rest.begin() + static_cast<std::ptrdiff_t>(gap), taken.begin(), taken.end());
  return rest;
}

void expect_equal(const Figures& actual, const Figures& expected, const std::string& what) {
  EXPECT_EQ(actual.peak_bytes, expected.peak_bytes) << what;
  EXPECT_EQ(actual.step_ns, expected.step_ns) << what;
  EXPECT_EQ(actual.exposed_ns, expected.exposed_ns) << what;
}

// A near preview equals the whole preview in its gaps; gaps that it leaves out at the end equal the
// last one.
void expect_near(Editing& editing, std::span<const NodeId> block, const LegalRange& range,
                 const std::string& what) {
  const RangePreview whole = *editing.what_if().preview(block);
  std::size_t first = Editing::pick_gap(range, editing.chance());
  std::size_t last = Editing::pick_gap(range, editing.chance());
  if (first > last) std::swap(first, last);
  if (editing.chance()() % 2 == 0) {  // a few gaps, then those that may be left out
    first = std::max(range.first, range.current - std::min<std::size_t>(range.current, 3));
    last = range.last;
  }
  const NearPreview near = *editing.what_if().preview_near(block, first, last);
  ASSERT_EQ(near.first, first);
  ASSERT_FALSE(near.at.empty());
  for (std::size_t gap = first; gap <= last; ++gap) {
    const Figures& expected = whole.at[gap - range.first];
    const std::string where =
        fmt::format("near preview of {}, gap {} of {} to {}", what, gap, first, last);
    if (gap - first < near.at.size()) {
      expect_equal(near.at[gap - first], expected, where);
      continue;
    }
    EXPECT_GE(first + near.at.size() - 1, range.current) << where;
    EXPECT_EQ(near.at.back().step_ns, expected.step_ns) << where;
    EXPECT_EQ(near.at.back().exposed_ns, expected.exposed_ns) << where;
    EXPECT_LE(near.at.back().peak_bytes, expected.peak_bytes) << where;
  }
}

// Moves blocks around. After each move the numbers must equal full recomputation, and after every
// `previews_every` moves so must those of a preview, in at most `gaps` of its gaps.
std::size_t edit(Editing& editing, std::size_t moves, std::size_t previews_every,
                 std::size_t gaps) {
  std::size_t done = 0;
  expect_equal(editing.what_if().figures(), editing.recompute(editing.what_if().order()), "first");
  for (; done < moves && !testing::Test::HasFailure(); ++done) {
    const std::vector<NodeId> block = editing.pick_block();
    if (block.empty()) break;
    const LegalRange range = *editing.what_if().range(block);
    const auto order = editing.what_if().order();
    const std::string what =
        fmt::format("{}, {} nodes, range {} {} {}", editing.graph().name(block.front()),
                    block.size(), range.first, range.current, range.last);
    if (done % previews_every == 0) {
      const auto preview = editing.what_if().preview(block);
      EXPECT_EQ(preview->at.size(), range.last - range.first + 1);
      const std::size_t count = preview->at.size();
      for (std::size_t i = 0; i < std::min(count, gaps); ++i) {
        const std::size_t at = count <= gaps ? i : editing.chance()() % count;
        expect_equal(preview->at[at], editing.recompute(moved(order, block, range.first + at)),
                     fmt::format("preview of {}, gap {}", what, range.first + at));
      }
    }
    if (done % previews_every == 0) {
      expect_near(editing, block, range, what);
      expect_equal(editing.what_if().figures(), editing.recompute(order), "after " + what);
    }
    const std::size_t gap = Editing::pick_gap(range, editing.chance());
    const std::vector<NodeId> expected = moved(order, block, gap);
    EXPECT_TRUE(editing.what_if().move(block, gap).has_value());
    EXPECT_TRUE(std::ranges::equal(editing.what_if().order(), expected));
    expect_equal(editing.what_if().figures(), editing.recompute(expected),
                 fmt::format("{} to {}", what, gap));
    if (done % previews_every == 0) {
      EXPECT_EQ(editing.what_if().profile(), editing.profile()) << what;
    }
  }
  return done;
}

TEST(WhatIfProperty, EqualsRecomputationOnRandomGraphs) {
  std::size_t moves = 0;
  for (std::uint64_t seed = 0; moves < 10'000 && !HasFailure(); ++seed) {
    std::mt19937_64 chance(seed);
    Graph graph = random_graph(seed, {.calls = 10 + chance() % 80, .pair = seed % 3 == 0});
    std::vector<NodeCost> costs = random_costs(graph, seed);
    const Options options = random_options(graph, chance);
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Editing editing(std::move(graph), std::move(costs), options, seed);
    moves += edit(editing, 40, 4, 100);
  }
}

// Long enough that the streams synchronize again before the end.
TEST(WhatIfProperty, EqualsRecomputationOnLongRandomGraphs) {
  JOINTER_SLOW_TEST();
  for (std::uint64_t seed = 0; seed < 24 && !HasFailure(); ++seed) {
    std::mt19937_64 chance(seed);
    Graph graph = random_graph(seed, {.calls = 1000 + chance() % 3000, .pair = seed % 4 == 0});
    std::vector<NodeCost> costs = random_costs(graph, seed);
    const Options options = random_options(graph, chance);
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Editing editing(std::move(graph), std::move(costs), options, seed);
    edit(editing, 60, 10, 12);
  }
}

class WhatIfOfCapture : public testing::TestWithParam<std::string> {};

TEST_P(WhatIfOfCapture, EqualsRecomputation) {
  JOINTER_SLOW_IF(is_large_capture(GetParam()));
  auto graph = must(open_graph({.path = GetParam()}));
  const bool is_large = graph.node_count() > 20'000;
  std::vector<NodeCost> costs = estimate_all(graph, **make_estimator({}));
  for (const std::uint64_t seed : {7U, 8U}) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    std::mt19937_64 chance(seed);
    Editing editing(graph, costs, random_options(graph, chance), seed);
    edit(editing, is_large ? 25 : 40, 8, is_large ? 5 : 10);
    costs = random_costs(graph, seed);  // the second time
  }
}

INSTANTIATE_TEST_SUITE_P(Shared, WhatIfOfCapture, testing::ValuesIn(shared_captures()),
                         parameter_name<testing::TestParamInfo<std::string>>);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(WhatIfOfCapture);

TEST(WhatIfProperty, EqualsRecomputationOnARealPair) {
  JOINTER_NEEDS_SHARED();
  const std::string path = shared_directory() + "/captures/llama3_8b_tp2_fsdp2.min_cut.";
  auto graph = must(open_graph({.path = path + "fw.json.zst", .backward = path + "bw.json.zst"}));
  ASSERT_TRUE(graph.is_pair());
  std::vector<NodeCost> costs = estimate_all(graph, **make_estimator({}));
  Editing editing(std::move(graph), std::move(costs), {}, 5);
  edit(editing, 150, 10, 10);
}

// --- Legal ranges ---

// Computes a graph with numbers as contents: every storage has one, and every call makes new ones
// from those it reads. Reads and writes that last until a wait are repeated at the wait.
class Meaning {
 public:
  explicit Meaning(const Graph& graph) : graph_(graph), contents_(graph.storage_count(), 1) {}

  std::uint64_t of(std::span<const NodeId> order) {
    std::uint64_t result = 0;
    for (const NodeId id : order) {
      const Node& n = graph_.node(id);
      if (n.kind == NodeKind::output)
        result = mix(result, read(graph_.inputs(id)));
      else
        run(id, n);
    }
    return result;
  }

 private:
  static std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
    return (a ^ (b + 0x9e3779b97f4a7c15ULL + (a << 6U) + (a >> 2U))) * 0xff51afd7ed558ccdULL;
  }
  [[nodiscard]] std::uint64_t read(std::span<const NodeId> nodes) const {
    std::uint64_t hash = 0;
    for (const NodeId id : nodes)
      for (const Tensor& t : graph_.tensors(id))
        hash = mix(hash, contents_[graph_.real_storage(t.storage).index()]);
    return hash;
  }
  void write(NodeId id, std::uint64_t content) {
    for (const Tensor& t : graph_.tensors(id))
      contents_[graph_.real_storage(t.storage).index()] = mix(content, t.storage.value());
  }
  void run(NodeId id, const Node& n) {
    std::uint64_t made = mix(id.value(), read(graph_.inputs(id)));
    if (effects_of(graph_, n).has(Effects::draws)) made = mix(made, ++draws_);
    std::vector<NodeId> written;
    written_arguments(graph_, n, written);
    if (graph_.is_wait(n)) {
      // The collective reads its inputs until this wait, and has its result from now on.
      const NodeId start = graph_.collective_of_wait(n);
      if (start && waited_.insert(start).second)
        write(start, mix(start.value(), read(graph_.inputs(start))));
    } else if (!written.empty()) {
      for (const NodeId to : written) write(to, made);
    } else if (!graph_.op(n).is_view && !graph_.op(n).is_getitem) {
      write(id, made);
    }
  }

  const Graph& graph_;
  std::vector<std::uint64_t> contents_;
  std::set<NodeId> waited_;
  std::uint64_t draws_ = 0;
};

RC_GTEST_PROP(LegalRangeProperty, MovesWithinItKeepTheGraphSoundAndItsResults,
              (std::uint64_t seed, bool pair)) {
  Graph graph = random_graph(seed, {.calls = 60, .pair = pair});
  std::vector<NodeCost> costs = random_costs(graph, seed);
  Editing editing(std::move(graph), std::move(costs), {}, seed);
  const std::uint64_t meaning = Meaning(editing.graph()).of(editing.graph().order());
  Graph checked = editing.graph();
  for (int i = 0; i < 15; ++i) {
    const std::vector<NodeId> block = editing.pick_block();
    if (block.empty()) break;
    const LegalRange range = *editing.what_if().range(block);
    RC_ASSERT(editing.what_if().move(block, Editing::pick_gap(range, editing.chance())));
    const auto order = editing.what_if().order();
    checked.set_order({order.begin(), order.end()});
    RC_ASSERT(validate(checked).has_value());
    RC_ASSERT(Meaning(editing.graph()).of(order) == meaning);
  }
}

// Returns true if `order` keeps the dependency that limits a range.
bool keeps(std::span<const NodeId> order, NodeId first, NodeId second) {
  return std::ranges::find(order, first) < std::ranges::find(order, second);
}

void expect_ends_to_be_right(Editing& editing, std::span<const NodeId> block,
                             const LegalRange& range) {
  const Graph& graph = editing.graph();
  const auto order = editing.what_if().order();
  Graph checked = graph;
  const auto breaks = [&](std::size_t gap, NodeId first, NodeId second, DependencyKind kind) {
    std::vector<NodeId> wrong = moved(order, block, gap);
    EXPECT_FALSE(keeps(wrong, first, second));
    const auto known = editing.dependencies().before(second);
    EXPECT_TRUE(std::ranges::any_of(
        known, [&](const Dependency& d) { return d.node == first && d.kind == kind; }));
    checked.set_order(std::move(wrong));
    if (kind == DependencyKind::data) {
      EXPECT_FALSE(validate(checked).has_value());
    }
  };
  const std::size_t rest = order.size() - block.size();
  const auto is_wall = [&](NodeId id) {
    return graph.node(id).kind == NodeKind::placeholder || graph.node(id).kind == NodeKind::output;
  };
  if (range.after) {
    breaks(range.first - 1, range.after, range.held_after, range.after_kind);
    EXPECT_FALSE(earliest_reason(graph, range).empty());
  } else if (range.first > 0) {
    EXPECT_TRUE(is_wall(moved(order, block, range.first)[range.first - 1]));
  }
  if (range.before) {
    breaks(range.last + 1, range.held_before, range.before, range.before_kind);
    EXPECT_FALSE(latest_reason(graph, range).empty());
  } else if (range.last < rest) {
    EXPECT_TRUE(is_wall(moved(order, block, range.last)[range.last + block.size()]));
  }
}

TEST(LegalRangeProperty, OneGapFurtherBreaksTheLimitingDependency) {
  for (std::uint64_t seed = 0; seed < 300 && !HasFailure(); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Graph graph = random_graph(seed, {.calls = 50, .pair = seed % 2 == 0});
    std::vector<NodeCost> costs = random_costs(graph, seed);
    Editing editing(std::move(graph), std::move(costs), {}, seed);
    for (int i = 0; i < 6; ++i) {
      const std::vector<NodeId> block = editing.pick_block();
      if (block.empty()) break;
      const LegalRange range = *editing.what_if().range(block);
      expect_ends_to_be_right(editing, block, range);
      ASSERT_TRUE(
          editing.what_if().move(block, Editing::pick_gap(range, editing.chance())).has_value());
    }
  }
}

}  // namespace
}  // namespace jointer::test
