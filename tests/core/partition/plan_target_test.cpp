// Lists of changes that bring a peak within a limit: the shortest ones, under conditions, and why
// there is none. On literals, on random graphs compared with all possible lists, and on captures.

#include "core/partition/plan_target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <optional>
#include <random>

#include "core/open/open.h"
#include "core/partition/partition.h"
#include "tests/support/graphs.h"
#include "tests/support/judged_plan.h"
#include "tests/support/must.h"
#include "tests/support/paths.h"
#include "tests/support/random_graph.h"
#include "tests/support/slow.h"

namespace jointer::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

// Two layers, each with a value of 4 KiB and one of 2 KiB, and one of 8 KiB outside of them, which
// the backward reads from the last to the first. The peak is where `t` is live with all of them.
// The copy of a0 to the host has ended by then, as it may take as long as the next layer.
constexpr const char* kTwoLayers = R"(
  x: f32[1024] = input
  y: f32[512] = input
  z: f32[2048] = input
  w: f32[16384] = input
  c: f32[2048] = aten.exp(z)                    {norm}
  a0: f32[1024] = aten.sin(x)                   {layers.0.attention}
  b0: f32[512] = aten.cos(y)                    {layers.0.feed_forward}
  a1: f32[1024] = aten.sin(a0)                  {layers.1.attention}
  b1: f32[512] = aten.cos(b0)                   {layers.1.feed_forward}
  sa: f32[1] = aten.sum(a1)                     {layers.2}
  sb: f32[1] = aten.sum(b1)                     {layers.2}
  sc: f32[1] = aten.sum(c)                      {layers.2}
  t: f32[16384] = aten.neg(w)                   {layers.3}
  st: f32[1] = aten.sum(t)                      {layers.3}
  dx: f32[1024] = tangent
  dy: f32[512] = tangent
  dz: f32[2048] = tangent
  gc: f32[2048] = aten.mul.Tensor(dz, c)        {norm backward}
  gb1: f32[512] = aten.mul.Tensor(dy, b1)       {layers.1.feed_forward backward}
  ga1: f32[1024] = aten.mul.Tensor(dx, a1)      {layers.1.attention backward}
  gb0: f32[512] = aten.mul.Tensor(gb1, b0)      {layers.0.feed_forward backward}
  ga0: f32[1024] = aten.mul.Tensor(ga1, a0)     {layers.0.attention backward}
  return [sa, sb, sc, st, ga0, gb0, gc]
)";

// A graph whose plan saves everything. Each call takes 1 us, but `slow` takes 9 us.
struct Saved {
  explicit Saved(std::string_view text, std::string_view slow = {}) {
    made = must(partition(parse(text), {.partitioner = Partitioner::default_partition}));
    costs.resize(made.joint.node_count());
    for (const NodeId id : made.joint.order())
      if (made.joint.node(id).kind == NodeKind::call)
        costs[id.index()] = {.lane = NodeCost::Lane::compute,
                             .ns = made.joint.name(id) == slow ? 9000 : 1000};
    what_if = std::make_unique<PlanWhatIf>(
        made.joint, costs, std::vector<Flops>(made.joint.node_count()), MemoryOptions(),
        SimulationOptions(),
        PlanWhatIfOptions{.transfers = {.ns_per_byte = 10},
                          .partitioner = Partitioner::default_partition});
  }
  [[nodiscard]] std::int64_t peak() const {
    return what_if->figures(made.plan).value().figures.peak_bytes;
  }
  [[nodiscard]] ChangeList free(std::int64_t bytes, PlanTarget target = {}) const {
    target.peak_bytes = peak() - bytes;
    return must(find_changes(made.joint, *what_if, made.plan, target));
  }
  [[nodiscard]] std::string why_not(std::int64_t bytes, PlanTarget target = {}) const {
    target.peak_bytes = peak() - bytes;
    return why_not_reached(free(bytes, target), target);
  }

  Partition made;
  std::vector<NodeCost> costs;
  std::unique_ptr<PlanWhatIf> what_if;
};

std::vector<std::string> change_names(const ChangeList& list) {
  std::vector<std::string> all;
  for (const ListedChange& each : list.changes)
    all.push_back(fmt::format("{} {}", each.move.name, to_string(each.move.to)));
  return all;
}

PlanTarget by(MoveUnit unit, std::optional<std::size_t> at_most = {}) {
  return {.moves = {.unit = unit}, .at_most = at_most};
}

TEST(PlanTarget, TheFewestTensorsAreChanged) {
  const Saved s(kTwoLayers);
  EXPECT_THAT(change_names(s.free(8192)), ElementsAre("c recompute"));
  const ChangeList two = s.free(8193);
  EXPECT_EQ(two.changes.size(), 2U);
  EXPECT_TRUE(two.is_reached);
  EXPECT_TRUE(two.is_shortest);
  EXPECT_LE(two.figures.figures.peak_bytes, s.peak() - 8193);
}

TEST(PlanTarget, EachLineHasTheFiguresAfterIt) {
  const Saved s(kTwoLayers);
  const ChangeList list = s.free(12'288);
  ASSERT_EQ(list.changes.size(), 2U);
  const PlanMove& first = list.changes.front().move;
  const SavePlan after = s.what_if->change(s.made.plan, first.nodes(), first.to).value();
  EXPECT_EQ(list.changes.front().after, s.what_if->figures(after).value());
  EXPECT_EQ(list.changes.back().after, list.figures);
  EXPECT_EQ(list.figures, s.what_if->figures(list.plan).value());
  EXPECT_EQ(list.before, s.what_if->figures(s.made.plan).value());
}

TEST(PlanTarget, OfEqualLengthsTheShorterStepIsTaken) {
  const PlanTarget recomputing{.moves = {.offload = false}};
  EXPECT_THAT(change_names(Saved(kTwoLayers, "a0").free(4096, recomputing)),
              ElementsAre("c recompute"));
  EXPECT_THAT(change_names(Saved(kTwoLayers, "c").free(4096, recomputing)),
              ElementsAre("a0 recompute"));
}

TEST(PlanTarget, ConditionsExcludeOffloadAndRecomputation) {
  const Saved s(kTwoLayers);
  EXPECT_THAT(change_names(s.free(4096, {.moves = {.recompute = false}})),
              ElementsAre("a0 offload"));
  EXPECT_THAT(s.why_not(8192, {.moves = {.recompute = false}}),
              HasSubstr("Freeing 8.00 KiB is impossible"));
  EXPECT_THAT(change_names(s.free(8192, {.moves = {.offload = false}})),
              ElementsAre("c recompute"));
}

TEST(PlanTarget, AMetTargetNeedsNoChange) {
  const ChangeList list = Saved(kTwoLayers).free(0);
  EXPECT_TRUE(list.is_reached);
  EXPECT_TRUE(list.is_shortest);
  EXPECT_TRUE(list.changes.empty());
}

TEST(PlanTarget, TheSameTensorChangesInAllLayers) {
  const Saved s(kTwoLayers);
  const ChangeList list = s.free(20'000, by(MoveUnit::all_layers));
  ASSERT_EQ(list.changes.size(), 3U);
  EXPECT_THAT(change_names(list),
              testing::UnorderedElementsAre(StartsWith("c "), StartsWith("aten.sin"),
                                            StartsWith("aten.cos")));
  for (const ListedChange& each : list.changes)
    if (each.move.name == "aten.sin.default") {
      EXPECT_EQ(each.move.module, "layers.*.attention");
      EXPECT_EQ(each.move.values.size(), 2U);
      EXPECT_EQ(each.move.bytes(), 8192);
    }
}

TEST(PlanTarget, OperatorsAndLayersChangeAsAWhole) {
  const Saved s(kTwoLayers);
  EXPECT_EQ(s.free(16'000, by(MoveUnit::op, 2)).changes.size(), 2U);
  const ChangeList layers = s.free(12'288, by(MoveUnit::layer));
  EXPECT_THAT(layers.changes.size(), 2U);
  EXPECT_TRUE(layers.is_reached);
  // The tensor outside of the layers does not change.
  EXPECT_THAT(s.why_not(20'000, by(MoveUnit::layer)),
              HasSubstr("the 2 layers that may change occupy 12.0 KiB at the peak"));
}

TEST(PlanTarget, SaysWhyTooFewChangesCannotReachIt) {
  const Saved s(kTwoLayers);
  EXPECT_EQ(s.why_not(16'384, by(MoveUnit::tensor, 2)),
            "With 2 tensors, at most 12.0 KiB can be freed: the largest occupies 8.00 KiB. Freeing "
            "16.0 KiB requires at least 3 tensors.");
  const ChangeList best = s.free(16'384, by(MoveUnit::tensor, 2));
  EXPECT_FALSE(best.is_reached);
  EXPECT_EQ(best.changes.size(), 2U);
  EXPECT_EQ(best.figures.figures.peak_bytes, s.peak() - 12'288);
}

TEST(PlanTarget, TagsAreRespected) {
  const Saved s(std::string(kTwoLayers)
                    .replace(std::string(kTwoLayers).find("{norm}"), 6, "{norm MUST_SAVE}"));
  EXPECT_THAT(s.why_not(16'384), HasSubstr("Another 8.00 KiB there is tagged to be saved."));
}

TEST(PlanTarget, ValuesInOneStorageChangeTogether) {
  const Saved s(R"(
    x: f32[1024] = input
    w: f32[16384] = input
    a: f32[1024] = aten.sin(x)
    v: f32[32,32] = aten.view(a, [32, 32])
    t: f32[16384] = aten.neg(w)
    s: f32[1] = aten.sum(t)
    dy: f32[1024] = tangent
    dv: f32[32,32] = tangent
    g: f32[1024] = aten.mul.Tensor(dy, a)         {backward}
    h: f32[32,32] = aten.mul.Tensor(dv, v)        {backward}
    return [s, g, h]
  )");
  const ChangeList list = s.free(4096, by(MoveUnit::tensor, 1));
  ASSERT_EQ(list.changes.size(), 1U);
  EXPECT_TRUE(list.is_reached);
}

// `count` values, of 512 bytes, 1024 bytes, and so on. The peak is where `t` is live with all of
// them.
std::string many_values(int count) {
  std::string inputs, forward, sums, tangents, backward, outputs, gradients;
  for (int n = 1; n <= count; ++n) {
    const int size = 128 * n;
    inputs += fmt::format("  x{}: f32[{}] = input\n", n, size);
    forward += fmt::format("  a{0}: f32[{1}] = aten.sin(x{0})\n", n, size);
    sums += fmt::format("  s{0}: f32[1] = aten.sum(a{0})\n", n);
    tangents += fmt::format("  d{}: f32[{}] = tangent\n", n, size);
    backward +=
        fmt::format("  g{0}: f32[{1}] = aten.mul.Tensor(d{0}, a{0})  {{backward}}\n", n, size);
    outputs += fmt::format(", s{}", n);
    gradients += fmt::format(", g{}", n);
  }
  return fmt::format(
      "  w: f32[{0}] = input\n{1}{2}{3}  t: f32[{0}] = aten.neg(w)\n"
      "  st: f32[1] = aten.sum(t)\n{4}{5}  return [st{6}{7}]\n",
      512 * count * count, inputs, forward, sums, tangents, backward, outputs, gradients);
}

// Only one list of 70 tensors is long enough, but it has very many beginnings whose values occupy
// almost as much.
TEST(PlanTarget, ListsOfManyTensorsAreFound) {
  const Saved s(many_values(100));
  std::int64_t largest = 0;
  for (int n = 31; n <= 100; ++n) largest += 512 * n;
  const ChangeList list = s.free(largest, {.moves = {.offload = false}, .effort = 400});
  EXPECT_EQ(list.changes.size(), 70U);
  EXPECT_TRUE(list.is_reached);
  EXPECT_TRUE(list.is_shortest);
}

// --- All possible lists of up to two changes ---

struct Best {
  bool is_reached = false;
  std::size_t size = 0;
  std::int64_t step_ns = 0;
};

std::optional<Figures> figures_of(const Judged& judged, const std::vector<PlanMove>& moves,
                                  const std::vector<std::size_t>& choice) {
  SavePlan plan = judged.partition.plan;
  for (const PlanAction to : {PlanAction::recompute, PlanAction::offload}) {
    std::vector<NodeId> nodes;
    for (const std::size_t i : choice)
      if (moves[i].to == to)
        for (const NodeId node : moves[i].nodes()) nodes.push_back(node);
    if (nodes.empty()) continue;
    const auto change = judged.what_if->change_all(plan, nodes, to);
    if (!change) return std::nullopt;
    plan = change->plan;
  }
  return judged.what_if->figures(plan).value().figures;
}

Best best_of_all(const Judged& judged, const std::vector<PlanMove>& moves, std::int64_t limit) {
  Best best;
  const auto consider = [&](const std::vector<std::size_t>& choice) {
    const auto figures = figures_of(judged, moves, choice);
    if (!figures || figures->peak_bytes > limit) return;
    if (!best.is_reached ||
        std::pair(choice.size(), figures->step_ns) < std::pair(best.size, best.step_ns))
      best = {true, choice.size(), figures->step_ns};
  };
  consider({});
  for (std::size_t i = 0; i < moves.size(); ++i) {
    consider({i});
    for (std::size_t j = 0; j < moves.size(); ++j)
      if (i < j && moves[i].unit != moves[j].unit) consider({i, j});
  }
  return best;
}

RC_GTEST_PROP(PlanTargetProperty, TheListIsTheBestOfAll, (std::uint64_t seed)) {
  std::mt19937_64 chance(seed);
  const auto judged = judge(random_graph(
      seed, {.calls = 10 + chance() % 30, .gradients = chance() % 2 == 0, .writes = false}));
  RC_PRE(static_cast<bool>(judged));
  const Graph& joint = judged->partition.joint;
  const PlanWhatIf& what_if = *judged->what_if;
  const SavePlan& plan = judged->partition.plan;
  const std::int64_t peak = what_if.figures(plan).value().figures.peak_bytes;
  PlanTarget target{.peak_bytes = peak,
                    .moves = {.unit = static_cast<MoveUnit>(chance() % 4),
                              .recompute = chance() % 4 != 0,
                              .offload = chance() % 4 != 0},
                    .at_most = 2,
                    .effort = chance() % 2 == 0 ? PlanTarget::kEffort : 100'000};
  const auto moves = moves_of(joint, what_if.candidates(plan).value(), target.moves);
  RC_PRE(!moves.empty());
  // The peak after two changes, or a little less.
  const std::vector<std::size_t> some{chance() % moves.size(), chance() % moves.size()};
  if (const auto figures = figures_of(*judged, moves, some))
    target.peak_bytes = std::min(peak - 1, figures->peak_bytes);
  if (chance() % 4 == 0) target.peak_bytes -= 512;
  const ChangeList list = find_changes(joint, what_if, plan, target).value();
  const Best best = best_of_all(*judged, moves, target.peak_bytes);
  RC_ASSERT(!list.is_reached || best.is_reached);
  RC_ASSERT(list.changes.size() <= 2);
  RC_ASSERT(list.is_reached == (list.figures.figures.peak_bytes <= target.peak_bytes));
  RC_ASSERT(list.is_reached == why_not_reached(list, target).empty());
  RC_ASSERT(what_if.figures(list.plan).value() == list.figures);
  // With less effort, not all lists are tried.
  if (!best.is_reached || target.effort == PlanTarget::kEffort) return;
  RC_ASSERT(list.is_reached);
  RC_TAG(list.changes.size());
  RC_ASSERT(list.is_shortest);
  RC_ASSERT(list.changes.size() == best.size);
  RC_ASSERT(list.figures.figures.step_ns == best.step_ns);
}

// --- Captures ---

struct Captured : Judged {
  explicit Captured(const std::string& name) {
    const auto graph =
        must(open_graph({.path = shared_directory() + "/captures/" + name + ".joint.json.zst"}));
    partition = jointer::partition(graph).value();
    const auto estimator = make_estimator({}).value();
    costs = estimate_all(partition.joint, *estimator);
    flops.resize(partition.joint.node_count());
    what_if = std::make_unique<PlanWhatIf>(
        partition.joint, costs, flops, MemoryOptions(), SimulationOptions(),
        PlanWhatIfOptions{.transfers = estimator->transfer_costs()});
  }
};

constexpr std::int64_t kGiB = std::int64_t{1} << 30;

TEST(PlanTargetCapture, ThreeTensorsOfLlamaCannotFreeFiveGiB) {
  JOINTER_SLOW_TEST();
  JOINTER_NEEDS_SHARED();
  const Captured llama("llama3_8b_tp2_fsdp2");
  const std::int64_t peak = llama.what_if->figures(llama.partition.plan).value().figures.peak_bytes;
  PlanTarget target{.peak_bytes = peak - 5 * kGiB, .at_most = 3};
  const ChangeList three =
      find_changes(llama.partition.joint, *llama.what_if, llama.partition.plan, target).value();
  EXPECT_FALSE(three.is_reached);
  EXPECT_EQ(three.changes.size(), 3U);
  EXPECT_LT(three.figures.figures.peak_bytes, peak);
  EXPECT_THAT(why_not_reached(three, target), StartsWith("With 3 tensors, at most "));

  target.at_most.reset();
  const ChangeList many =
      find_changes(llama.partition.joint, *llama.what_if, llama.partition.plan, target).value();
  EXPECT_TRUE(many.is_reached);
  EXPECT_GE(many.changes.size(), many.count.needed_for(5 * kGiB).value());

  target.moves.unit = MoveUnit::all_layers;
  target.at_most = 3;
  const ChangeList same =
      find_changes(llama.partition.joint, *llama.what_if, llama.partition.plan, target).value();
  EXPECT_TRUE(same.is_reached);
  EXPECT_LE(same.changes.size(), 3U);
}

}  // namespace
}  // namespace jointer::test
