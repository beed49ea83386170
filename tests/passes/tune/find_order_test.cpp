// The orders found for the graphs of plans, and the searches for plans with orders.

#include "passes/tune/find_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/environment.h"
#include "core/capture/native_writer.h"
#include "core/open/open.h"
#include "core/pass/pipeline_run.h"
#include "core/policy/ordered_list.h"
#include "core/policy/with_fsdp.h"
#include "core/schedule/caching_allocator.h"
#include "passes/built_in.h"
#include "tests/support/graphs.h"
#include "tests/support/paths.h"
#include "tests/support/random_graph.h"
#include "tests/support/slow.h"

namespace jointer::test {
namespace {

using testing::ElementsAre;

constexpr std::string_view kCosts = "simple{tflops=5,mem_gbs=40}";

AnalysisOptions analysis() {
  return {.memory = {}, .estimator = {.name = std::string(kCosts)}, .simulation = {}};
}

Graph sample() {
  return open_graph({.path = source_path("resources/samples/llama_debug_tp2_fsdp2.joint.json.zst")})
      .value();
}

// With collectives, some of which may be hidden.
Graph small_joint() {
  return random_graph(6, {.calls = 60, .gradients = true, .writes = false});
}

// A joint graph with its plan at budget 1.
struct Asked {
  explicit Asked(Graph joint, LimitedMemory memory = LimitedMemory::allocated,
                 std::function<bool()> is_cancelled = {})
      : graph(std::move(joint)) {
    whole = partition(graph).value();
    costs = estimate_all(whole.joint, **make_estimator(analysis().estimator));
    flops.resize(whole.joint.node_count());
    const PlanWhatIf what_if(whole.joint, costs, flops);
    figures = what_if.figures(whole.plan).value();
    TradeOffOptions options{
        .partition = {},
        .now = {.budget = -1, .name = "now", .plan = whole.plan, .figures = figures},
        .fsdp = fsdp_policy(graph),
        .memory = memory,
        .max_budgets = 4,
        .effort = 50};
    options.partition.watcher.is_cancelled = std::move(is_cancelled);
    trade_off = TradeOff::make(graph, {costs, flops, {}, {}, {}}, std::move(options)).value();
  }
  [[nodiscard]] std::int64_t limit() const { return figures.figures.peak_bytes * 97 / 100; }

  Graph graph;
  Partition whole;
  std::vector<NodeCost> costs;
  std::vector<Flops> flops;
  PlanFigures figures;
  std::unique_ptr<TradeOff> trade_off;
};

TEST(FindOrder, ReturnsTheFiguresOfThePassesThatItNames) {
  const FindOrder find = order_finder(built_in_passes(), analysis());
  std::size_t shorter = 0;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const Graph graph = random_graph(seed, {.calls = 80, .pair = true});
    const Figures own = step_figures(graph, analysis())->figures;
    const auto order = find(graph, {.bytes = own.peak_bytes});
    ASSERT_TRUE(order) << order.error().message;
    EXPECT_LE(order->figures.step_ns, own.step_ns);
    if (order->passes.empty()) {
      EXPECT_EQ(order->figures, own);
      continue;
    }
    ++shorter;
    EXPECT_LE(order->figures.peak_bytes, own.peak_bytes);
    const auto after = in_order(graph, order->passes, built_in_passes(), analysis());
    ASSERT_TRUE(after) << after.error().message;
    EXPECT_EQ(step_figures(*after, analysis())->figures, order->figures);
  }
  EXPECT_GT(shorter, 5U);
}

TEST(FindOrder, KeepsTheOrderIfNothingFits) {
  const Asked asked(sample());
  const Graph pair = asked.trade_off->graph_of(asked.whole.plan).value();
  const FindOrder find = order_finder(built_in_passes(), analysis());
  EXPECT_NE(find(pair, {.bytes = asked.figures.figures.peak_bytes})->passes, "");
  EXPECT_EQ(find(pair, {.bytes = 1})->passes, "");
  EXPECT_EQ(in_order(pair, "", built_in_passes(), analysis())->order().size(), pair.order().size());
}

// The values of the parameters for the growth of the peak with which a finder runs its passes.
using Growths = std::map<std::string, std::set<double>, std::less<>>;

Growths growths_of(const Graph& graph, const OrderLimit& limit) {
  Growths growths;
  std::mutex mutex;  // pipelines run at the same time
  const PassRegistry built_in = built_in_passes();
  PassRegistry recording;
  for (Pass pass : built_in.passes()) {
    pass.run = [&](Graph&, const Arguments& arguments, PassContext&) -> Result<void> {
      const std::lock_guard lock(mutex);
      for (const char* parameter : {"peak_memory_budget", "reorder_iterative_peak_memory_budget",
                                    "max_memory_increase_ratio", "max_memory_increase_gb"})
        if (arguments.has_value(parameter)) growths[parameter].insert(arguments.number(parameter));
      return {};
    };
    EXPECT_TRUE(recording.add(std::move(pass)));
  }
  const auto order = order_finder(std::move(recording), analysis())(graph, limit);
  EXPECT_TRUE(order);
  return growths;
}

TEST(FindOrder, PassesGetTheRoomAsAParameter) {
  const Asked asked(sample());
  const Graph pair = asked.trade_off->graph_of(asked.whole.plan).value();
  const std::int64_t peak = step_figures(pair, analysis())->figures.peak_bytes;
  const std::int64_t reserved = reserved_peak_bytes(pair, analysis().memory);
  const auto more = [](std::int64_t bytes) { return bytes * 11234 / 10000; };
  for (const OrderLimit& limit :
       {OrderLimit{.bytes = more(peak)},
        OrderLimit{.memory = LimitedMemory::reserved, .bytes = more(reserved)}}) {
    const Growths some = growths_of(pair, limit);
    EXPECT_THAT(some.at("peak_memory_budget"), ElementsAre(0, 0.123));
    EXPECT_THAT(some.at("reorder_iterative_peak_memory_budget"), ElementsAre(0.123));
    EXPECT_THAT(some.at("max_memory_increase_ratio"), ElementsAre(0.123));
    EXPECT_THAT(some.at("max_memory_increase_gb"), ElementsAre(0));
  }
  for (const std::int64_t bytes : {peak, peak / 2, std::numeric_limits<std::int64_t>::min()}) {
    const Growths none = growths_of(pair, {.bytes = bytes});
    EXPECT_THAT(none.at("peak_memory_budget"), ElementsAre(0));
    EXPECT_THAT(none.at("reorder_iterative_peak_memory_budget"), ElementsAre(0));
    EXPECT_THAT(none.at("max_memory_increase_ratio"), ElementsAre(0));
  }
  const Growths many = growths_of(
      pair, {.bytes = std::numeric_limits<std::int64_t>::max(), .wants_communication = true});
  EXPECT_THAT(many.at("peak_memory_budget"), ElementsAre(0, 0.2));
  EXPECT_THAT(many.at("reorder_iterative_peak_memory_budget"), ElementsAre(0.2));
  EXPECT_FALSE(many.contains("max_memory_increase_ratio")) << "takes too long";
}

TEST(FindOrder, AnOrderWithRoomFits) {
  const Asked asked(sample());
  const Graph pair = asked.trade_off->graph_of(asked.whole.plan).value();
  const Figures own = step_figures(pair, analysis())->figures;
  const FindOrder find = order_finder(built_in_passes(), analysis());
  for (const auto memory : {LimitedMemory::allocated, LimitedMemory::reserved})
    for (const std::int64_t percent : {102, 110}) {
      const bool counts_reserved = memory == LimitedMemory::reserved;
      const std::int64_t bytes =
          counts_reserved ? reserved_peak_bytes(pair, analysis().memory) : own.peak_bytes;
      const OrderLimit limit{.memory = memory, .bytes = bytes * percent / 100};
      const PlanOrder order = find(pair, limit).value();
      if (order.passes.empty()) {
        EXPECT_TRUE(counts_reserved) << "place_collectives fits without more memory";
        EXPECT_EQ(order.figures, own);
        continue;
      }
      EXPECT_LT(order.figures.step_ns, own.step_ns);
      EXPECT_LE(counts_reserved ? order.reserved_bytes : order.figures.peak_bytes, limit.bytes);
      // The parameters are part of the pipeline.
      const Graph after = in_order(pair, order.passes, built_in_passes(), analysis()).value();
      EXPECT_EQ(step_figures(after, analysis())->figures, order.figures);
      EXPECT_EQ(reserved_peak_bytes(after, analysis().memory), order.reserved_bytes);
    }
}

TEST(FindOrder, StopsWhenCancelled) {
  const Asked asked(sample());
  const Graph pair = asked.trade_off->graph_of(asked.whole.plan).value();
  const auto order = order_finder(built_in_passes(), analysis(),
                                  {.is_cancelled = [] { return true; }})(pair, {.bytes = 1 << 30});
  ASSERT_FALSE(order);
  EXPECT_EQ(order.error().kind, Error::Kind::cancelled);
}

TEST(FindOrder, UsesTwinGroupsOnlyIfAllowed) {
  const Asked asked(sample());
  const Graph pair = asked.trade_off->graph_of(asked.whole.plan).value();
  const OrderLimit limit{.bytes = 10 * asked.figures.figures.peak_bytes};
  const PlanOrder usual = order_finder(built_in_passes(), analysis())(pair, limit).value();
  const PlanOrder allowed =
      order_finder(built_in_passes(), analysis(), {.twin_groups = true})(pair, limit).value();
  EXPECT_EQ(usual.passes.find("reassign_to_pg"), std::string::npos);
  EXPECT_LE(allowed.figures.step_ns, usual.figures.step_ns);
  // Both pipelines with twin groups are among those tried.
  for (const char* passes : {"reassign_to_pg,place_collectives",
                             "reassign_to_pg,transformer_block_bucketing,place_collectives"}) {
    const auto after = in_order(pair, passes, built_in_passes(), analysis());
    ASSERT_TRUE(after) << after.error().message;
    const Figures figures = step_figures(*after, analysis())->figures;
    ASSERT_LE(figures.peak_bytes, limit.bytes);
    EXPECT_LE(allowed.figures.step_ns, figures.step_ns);
  }
}

TEST(OrderedSearch, IsNoSlowerThanAPlanInItsOwnOrder) {
  const Asked asked(sample());
  const Fit own = asked.trade_off->fastest_within(asked.limit()).value();
  const Fit fit =
      fastest_ordered(*asked.trade_off, asked.limit(), order_finder(built_in_passes(), analysis()))
          .value();
  ASSERT_TRUE(fit.fits);
  EXPECT_LT(fit.point.figures.figures.step_ns, own.point.figures.figures.step_ns);
  EXPECT_LE(fit.point.figures.figures.peak_bytes, asked.limit());
  EXPECT_LE(fit.bound_ns, fit.point.figures.figures.step_ns);
  EXPECT_LE(fit.bound_ns, own.bound_ns);
  EXPECT_GT(fit.bound_ns, 0);
  const Graph pair = asked.trade_off->graph_of(fit.point.plan).value();
  const Graph ordered = in_order(pair, fit.point.order, built_in_passes(), analysis()).value();
  EXPECT_EQ(step_figures(ordered, analysis())->figures, fit.point.figures.figures);
}

// Also if an order has a lower peak than the plan in its own order.
TEST(OrderedSearch, TriesEachPlanOnce) {
  const Asked asked(sample());
  std::vector<std::string> tried;
  const FindOrder find = [&](const Graph& graph, const OrderLimit& limit) -> Result<PlanOrder> {
    PlanOrder order{
        .passes = {}, .figures = step_figures(graph, analysis())->figures, .communication = {}};
    if (limit.wants_communication) return order;
    tried.push_back(write_native(graph));
    order.passes = "place_collectives";
    order.figures.peak_bytes = 1;
    order.refused_bytes = limit.bytes + 1;
    return order;
  };
  ASSERT_TRUE(fastest_ordered(*asked.trade_off, asked.limit(), find));
  EXPECT_GT(tried.size(), 2U);
  const std::set<std::string> distinct(tried.begin(), tried.end());
  EXPECT_EQ(distinct.size(), tried.size());
}

// If orders hide nothing, the answer is that of a search at the full cost of communication.
TEST(OrderedSearch, SearchesAtFullCostIfOrdersHideNothing) {
  const Asked asked(small_joint());
  const FindOrder keep = [](const Graph& graph, const OrderLimit&) -> Result<PlanOrder> {
    const StepFigures own = *step_figures(graph, analysis());
    return PlanOrder{.passes = {}, .figures = own.figures, .communication = {}};
  };
  const Fit own = asked.trade_off->fastest_within(asked.limit()).value();
  const Fit fit = fastest_ordered(*asked.trade_off, asked.limit(), keep).value();
  EXPECT_EQ(fit.point.order, "");
  EXPECT_LE(fit.point.figures.figures.step_ns, own.point.figures.figures.step_ns);
  const Fit small = asked.trade_off->smallest_within(5).value();
  const Fit smallest = smallest_ordered(*asked.trade_off, 5, keep).value();
  EXPECT_TRUE(smallest.fits);
  EXPECT_LE(smallest.point.figures.figures.peak_bytes, small.point.figures.figures.peak_bytes);
}

// An order may also save time that is not communication, which the search does not expect.
TEST(OrderedSearch, TimeThatAnOrderSavesIsSpentOnALowerPeak) {
  const Asked asked(sample());
  const FindOrder find = [](const Graph& graph, const OrderLimit&) -> Result<PlanOrder> {
    PlanOrder order{.passes = "place_collectives",
                    .figures = step_figures(graph, analysis())->figures,
                    .communication = {}};
    order.figures.step_ns = order.figures.step_ns * 8 / 10;
    return order;
  };
  const Fit own = asked.trade_off->smallest_within(0).value();
  const Fit fit = smallest_ordered(*asked.trade_off, 0, find).value();
  EXPECT_TRUE(fit.fits);
  EXPECT_LE(fit.point.figures.figures.step_ns, asked.trade_off->longest_step(0));
  const std::int64_t peak = own.point.figures.figures.peak_bytes;
  EXPECT_LE(fit.point.figures.figures.peak_bytes, peak - peak / 16);
}

// No limit keeps the fastest plan of a curve from an order that takes more memory.
TEST(OrderedSearch, TheFastestPlanOfACurveHasRoomForAnOrder) {
  const Asked asked(sample());
  const FindOrder find = [](const Graph& graph, const OrderLimit& limit) -> Result<PlanOrder> {
    PlanOrder order{
        .passes = {}, .figures = step_figures(graph, analysis())->figures, .communication = {}};
    const std::int64_t needed = order.figures.peak_bytes * 12 / 10;
    if (limit.wants_communication || limit.bytes < needed) return order;
    order.passes = "place_collectives";
    order.figures.peak_bytes = needed;
    order.figures.step_ns /= 2;
    return order;
  };
  const std::int64_t fastest_ns = asked.trade_off->curve()->points.back().figures.figures.step_ns;
  const ParetoPoint last = ordered_curve(*asked.trade_off, find)->points.back();
  EXPECT_EQ(last.order, "place_collectives");
  EXPECT_LT(last.figures.figures.step_ns, fastest_ns);
}

TEST(OrderedSearch, KeepsTheOrderWithoutAFunction) {
  const Asked asked(small_joint());
  const FindOrder none;
  const Fit own = asked.trade_off->fastest_within(asked.limit()).value();
  const Fit fit = fastest_ordered(*asked.trade_off, asked.limit(), none).value();
  EXPECT_EQ(fit.point.plan, own.point.plan);
  EXPECT_EQ(fit.point.order, "");
  EXPECT_EQ(fit.bound_ns, own.bound_ns);
  EXPECT_EQ(smallest_ordered(*asked.trade_off, 5, none)->point.plan,
            asked.trade_off->smallest_within(5)->point.plan);
  EXPECT_EQ(ordered_curve(*asked.trade_off, none)->points.size(),
            asked.trade_off->curve()->points.size());
}

// The best plan without the conditions of a target.
TEST(OrderedList, IsComparedWithAPlanThatIsNoSlower) {
  JOINTER_SLOW_TEST();
  const Asked asked(sample());
  const PlanTarget target{.peak_bytes = asked.limit(), .moves = {}, .effort = 200, .go_on = {}};
  const PlanWhatIf& what_if = asked.trade_off->what_if();
  const ChangeList list =
      find_changes(asked.whole.joint, what_if, asked.whole.plan, target).value();
  ASSERT_TRUE(list.is_reached);
  const FindOrder find = order_finder(built_in_passes(), analysis());
  const auto make_pair = [&] { return asked.trade_off->graph_of(list.plan); };
  const PlanOrder order = order_of_list(list, target, make_pair, find).value();
  EXPECT_TRUE(is_reached(order, target));
  EXPECT_LE(order.figures.step_ns, list.figures.figures.step_ns);
  const ParetoPoint own = point_of_list(list, order, Partitioner::min_cut);
  EXPECT_EQ(own.figures.figures, order.figures);
  EXPECT_EQ(own.figures.saved_bytes, list.figures.saved_bytes);
  for (const FindOrder& each : {find, FindOrder()}) {
    const Fit best = best_for_target(*asked.trade_off, target, own, each).value();
    EXPECT_TRUE(best.fits);
    EXPECT_LE(best.point.figures.figures.step_ns, order.figures.step_ns);
    EXPECT_LE(best.bound_ns, best.point.figures.figures.step_ns);
  }
}

TEST(OrderedSearch, AnErrorOfTheOrderEndsTheSearch) {
  const Asked asked(small_joint());
  const FindOrder fails = [](const Graph&, const OrderLimit&) -> Result<PlanOrder> {
    return fail(Error::Kind::cancelled, "cancelled");
  };
  for (const auto& answer : {fastest_ordered(*asked.trade_off, asked.limit(), fails),
                             smallest_ordered(*asked.trade_off, 5, fails)}) {
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().kind, Error::Kind::cancelled);
  }
  EXPECT_FALSE(ordered_curve(*asked.trade_off, fails));
}

// The orders that are found in the end hide nothing, although those for the shares hid everything.
TEST(OrderedSearch, WrongSharesDoNotMakeTheAnswerSlower) {
  const Asked asked(sample());
  const FindOrder misleads = [](const Graph& graph, const OrderLimit& limit) -> Result<PlanOrder> {
    PlanOrder order{
        .passes = {}, .figures = step_figures(graph, analysis())->figures, .communication = {}};
    if (!limit.wants_communication) return order;
    const auto estimator = estimator_for(graph, analysis()).value();
    order.communication = group_times(graph, Simulation(graph, estimate_all(graph, *estimator)));
    for (auto& [name, times] : order.communication) times.exposed_ns = 0;
    return order;
  };
  const Fit own = asked.trade_off->fastest_within(asked.limit()).value();
  const Fit fit = fastest_ordered(*asked.trade_off, asked.limit(), misleads).value();
  ASSERT_TRUE(fit.fits);
  EXPECT_LE(fit.point.figures.figures.step_ns, own.point.figures.figures.step_ns);
}

// Only the first of several searches finds orders to measure the hidden shares.
TEST(OrderedSearch, SearchesMayShareHiddenShares) {
  const Asked asked(sample());
  const FindOrder usual = order_finder(built_in_passes(), analysis());
  std::size_t measured = 0;
  const FindOrder find = [&](const Graph& graph, const OrderLimit& limit) {
    measured += limit.wants_communication ? 1 : 0;
    return usual(graph, limit);
  };
  SharedHidden hidden;
  for (const std::int64_t percent : {97, 90}) {
    const std::int64_t limit = asked.figures.figures.peak_bytes * percent / 100;
    const Fit shared = fastest_ordered(*asked.trade_off, limit, find, &hidden).value();
    EXPECT_EQ(measured, 2U);
    const Fit own = fastest_ordered(*asked.trade_off, limit, usual).value();
    EXPECT_EQ(shared.point.plan, own.point.plan);
    EXPECT_EQ(shared.point.order, own.point.order);
    EXPECT_EQ(shared.point.figures, own.point.figures);
  }
}

TEST(HiddenShares, AnErrorIsNotShared) {
  SharedHidden hidden;
  const auto failing = []() -> Result<HiddenShares> {
    return fail(Error::Kind::cancelled, "cancelled");
  };
  EXPECT_FALSE(hidden.get(failing));
  EXPECT_DOUBLE_EQ(hidden.get([] { return Result<HiddenShares>(HiddenShares(0.5)); })->of(""), 0.5);
  EXPECT_DOUBLE_EQ(hidden.get(failing)->of(""), 0.5);
}

// While the search waits for its first order, only the search for the bound asks whether the user
// has cancelled.
TEST(OrderedSearch, TheBoundIsFoundAtTheSameTime) {
  if (usable_cores() < 2) GTEST_SKIP() << "one core";
  const auto asks_meanwhile = [](const auto& search) {
    std::atomic<bool> is_searching = false, is_ordering = false, is_asked = false;
    const auto wait_for = [](const std::atomic<bool>& event) {
      constexpr int kRounds = 10'000;
      for (int i = 0; i < kRounds && !event; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      return event.load();
    };
    const Asked asked(small_joint(), LimitedMemory::allocated, [&] {
      if (is_searching) is_asked = wait_for(is_ordering);
      return false;
    });
    bool was_asked = false;
    const FindOrder find = [&](const Graph&, const OrderLimit&) -> Result<PlanOrder> {
      is_ordering = true;
      was_asked = wait_for(is_asked);
      return fail(Error::Kind::cancelled, "enough");
    };
    is_searching = true;
    search(*asked.trade_off, find);
    return was_asked;
  };
  EXPECT_TRUE(asks_meanwhile([](const TradeOff& trade_off, const FindOrder& find) {
    EXPECT_FALSE(fastest_ordered(trade_off, 1, find));
  }));
  EXPECT_TRUE(asks_meanwhile([](const TradeOff& trade_off, const FindOrder& find) {
    EXPECT_FALSE(smallest_ordered(trade_off, 5, find));
  }));
  EXPECT_TRUE(asks_meanwhile([](const TradeOff& trade_off, const FindOrder& find) {
    EXPECT_FALSE(ordered_curve(trade_off, find));
  }));
}

// The order of the plan that the search finds needs more memory than the limit allows, that of a
// plan found on the way does not.
TEST(OrderedSearch, GivesUpAPartOfThePlanForABetterOrder) {
  const Asked asked(sample());
  const FindOrder keep = [](const Graph&, const OrderLimit&) -> Result<PlanOrder> {
    return PlanOrder{.passes = {}, .figures = {}, .communication = {}};
  };
  const Figures own =
      fastest_ordered(*asked.trade_off, asked.limit(), keep).value().point.figures.figures;
  constexpr std::int64_t kNeeded = 1 << 20, kGained = 1000;
  const FindOrder find = [&](const Graph& graph, const OrderLimit& limit) -> Result<PlanOrder> {
    PlanOrder order{
        .passes = {}, .figures = step_figures(graph, analysis())->figures, .communication = {}};
    const std::int64_t bytes = order.figures.peak_bytes + kNeeded;
    if (bytes > limit.bytes) {
      order.refused_bytes = bytes;
      return order;
    }
    order.passes = "place_collectives";
    order.figures.peak_bytes = bytes;
    order.figures.step_ns = own.step_ns - kGained;
    return order;
  };
  const Fit fit = fastest_ordered(*asked.trade_off, asked.limit(), find).value();
  ASSERT_TRUE(fit.fits);
  EXPECT_EQ(fit.point.order, "place_collectives");
  EXPECT_EQ(fit.point.figures.figures.step_ns, own.step_ns - kGained);
  EXPECT_LE(fit.point.figures.figures.peak_bytes, asked.limit());
}

// No order is refused, but the one found is slow: a plan whose peak leaves room is tried as well.
TEST(OrderedSearch, LeavesRoomForAnOrder) {
  const Asked asked(sample());
  const std::int64_t limit_bytes =
      asked.trade_off->what_if().figures(asked.whole.plan).value().figures.peak_bytes;
  std::int64_t first_bytes = 0, own_ns = 0;
  const FindOrder find = [&](const Graph& graph, const OrderLimit& limit) -> Result<PlanOrder> {
    PlanOrder order{
        .passes = {}, .figures = step_figures(graph, analysis())->figures, .communication = {}};
    if (limit.bytes != limit_bytes) return order;  // for the hidden shares
    if (first_bytes == 0) {
      first_bytes = order.figures.peak_bytes;
      own_ns = order.figures.step_ns *= 2;
    } else if (order.figures.peak_bytes <= first_bytes * 9 / 10) {
      order.figures.step_ns = own_ns / 2;
    }
    order.passes = "place_collectives";
    return order;
  };
  const Fit fit = fastest_ordered(*asked.trade_off, limit_bytes, find).value();
  ASSERT_TRUE(fit.fits);
  EXPECT_LE(fit.point.figures.figures.peak_bytes, first_bytes * 9 / 10);
  EXPECT_EQ(fit.point.figures.figures.step_ns, own_ns / 2);
}

// The order that is found lowers the peak: the memory that this leaves is used for more values.
TEST(OrderedSearch, UsesTheMemoryThatAnOrderLeaves) {
  const Asked asked(sample());
  const std::int64_t left = asked.limit() / 20;
  std::vector<Figures> tried;  // before the order
  const FindOrder find = [&](const Graph& graph, const OrderLimit& limit) -> Result<PlanOrder> {
    PlanOrder order{
        .passes = {}, .figures = step_figures(graph, analysis())->figures, .communication = {}};
    if (limit.bytes != asked.limit()) return order;  // for the hidden shares
    tried.push_back(order.figures);
    order.figures.peak_bytes -= left;
    if (order.figures.peak_bytes > limit.bytes) {
      order.refused_bytes = order.figures.peak_bytes;
      return order;
    }
    order.passes = "place_collectives";
    return order;
  };
  const Fit fit = fastest_ordered(*asked.trade_off, asked.limit(), find).value();
  ASSERT_TRUE(fit.fits);
  ASSERT_GE(tried.size(), 2U);
  EXPECT_LE(tried.front().peak_bytes, asked.limit());
  EXPECT_LT(fit.point.figures.figures.step_ns, tried.front().step_ns);
  EXPECT_GT(fit.point.figures.figures.peak_bytes, tried.front().peak_bytes - left);
  EXPECT_LE(fit.point.figures.figures.peak_bytes, asked.limit());
  const Graph pair = asked.trade_off->graph_of(fit.point.plan).value();
  EXPECT_EQ(step_figures(pair, analysis())->figures.step_ns, fit.point.figures.figures.step_ns);
}

// Reserved bytes say how much a plan must give up, and allocated bytes which plan does.
TEST(OrderedSearch, GivesUpAllocatedBytesForALimitOfReservedMemory) {
  const Asked asked(sample(), LimitedMemory::reserved);
  const std::int64_t limit_bytes =
      asked.trade_off->what_if().reserved_bytes(asked.whole.plan).value() * 97 / 100;
  constexpr std::int64_t kNeeded = 1 << 20;
  std::vector<std::int64_t> peaks;  // allocated, of the plans that are tried
  const FindOrder find = [&](const Graph& graph, const OrderLimit& limit) -> Result<PlanOrder> {
    PlanOrder order{
        .passes = {}, .figures = step_figures(graph, analysis())->figures, .communication = {}};
    EXPECT_EQ(limit.memory, LimitedMemory::reserved);
    if (limit.bytes != limit_bytes) return order;  // for the hidden shares
    peaks.push_back(order.figures.peak_bytes);
    order.refused_bytes = limit_bytes + kNeeded;
    return order;
  };
  const Fit fit = fastest_ordered(*asked.trade_off, limit_bytes, find).value();
  ASSERT_TRUE(fit.fits);
  ASSERT_GE(peaks.size(), 2U);
  EXPECT_LE(peaks.size(), 4U);
  for (std::size_t i = 1; i < peaks.size(); ++i)
    EXPECT_LE(peaks[i], peaks[i - 1] - kNeeded / 2) << "plan " << i;
}

TEST(FindOrder, TellsCommunicationOnlyIfItIsWanted) {
  const Asked asked(sample());
  const Graph pair = asked.trade_off->graph_of(asked.whole.plan).value();
  const FindOrder find = order_finder(built_in_passes(), analysis());
  const std::int64_t bytes = asked.figures.figures.peak_bytes;
  EXPECT_TRUE(find(pair, {.bytes = bytes})->communication.empty());
  EXPECT_FALSE(find(pair, {.bytes = bytes, .wants_communication = true})->communication.empty());
}

TEST(FindOrder, TellsTheMemoryOfAFasterOrderBeyondTheLimit) {
  const Asked asked(sample());
  const Graph pair = asked.trade_off->graph_of(asked.whole.plan).value();
  const FindOrder find = order_finder(built_in_passes(), analysis());
  const PlanOrder best = find(pair, {.bytes = 10 * asked.figures.figures.peak_bytes}).value();
  ASSERT_NE(best.passes, "");
  EXPECT_EQ(best.refused_bytes, 0);
  const PlanOrder limited = find(pair, {.bytes = best.figures.peak_bytes - 1}).value();
  EXPECT_GT(limited.figures.step_ns, best.figures.step_ns);
  EXPECT_EQ(limited.refused_bytes, best.figures.peak_bytes);
}

TEST(HiddenShares, AreThoseOfTheAdditionalCommunication) {
  const GroupTimesByName less{{"a", {.total_ns = 100, .exposed_ns = 80}},
                              {"b", {.total_ns = 50, .exposed_ns = 0}},
                              {"d", {.total_ns = 100, .exposed_ns = 3}},
                              {"e", {.total_ns = 100, .exposed_ns = 20}}};
  const GroupTimesByName more{{"a", {.total_ns = 300, .exposed_ns = 130}},
                              {"b", {.total_ns = 50, .exposed_ns = 0}},
                              {"c", {.total_ns = 100, .exposed_ns = 100}},
                              {"d", {.total_ns = 110, .exposed_ns = 8}},
                              {"e", {.total_ns = 120, .exposed_ns = 30}}};
  const HiddenShares hidden(less, more);
  EXPECT_DOUBLE_EQ(hidden.of("a"), 0.75);
  EXPECT_DOUBLE_EQ(hidden.of("b"), 0.5);  // as for all groups: 165 of 330 ns
  EXPECT_DOUBLE_EQ(hidden.of("c"), 0);
  EXPECT_DOUBLE_EQ(hidden.of("d"), 1);     // 102 of 110 ns are hidden
  EXPECT_DOUBLE_EQ(hidden.of("e"), 0.75);  // 90 of 120 ns, but 10 of the additional 20
  EXPECT_FALSE(hidden.hides_nothing());
  EXPECT_TRUE(HiddenShares(more, more).hides_nothing());
}

TEST(HiddenShares, SharesBelowOneAreRaised) {
  const GroupTimesByName less, more{{"none", {.total_ns = 100, .exposed_ns = 100}},
                                    {"half", {.total_ns = 100, .exposed_ns = 50}},
                                    {"all", {.total_ns = 100, .exposed_ns = 0}}};
  const HiddenShares raised = HiddenShares(less, more).raised(0.25);
  EXPECT_DOUBLE_EQ(raised.of("none"), 0);
  EXPECT_DOUBLE_EQ(raised.of("half"), 0.625);
  EXPECT_DOUBLE_EQ(raised.of("all"), 1);
  EXPECT_DOUBLE_EQ(raised.of("another"), 0.625);  // as for all groups: 150 of 300 ns
  EXPECT_TRUE(HiddenShares().raised(0.25).hides_nothing());
}

// In one of two orders, all-gathers may run in a twin of their group.
TEST(HiddenShares, ATwinCountsForItsGroup) {
  const Graph graph = parse(R"(
    group g: 0 1
    group g2: 0 1
    x: f32[4] = input
    y: f32[4] = aten.sin(x)
    return [y]
  )");
  const GroupTimesByName times = in_groups_of(graph, {{"g", {.total_ns = 100, .exposed_ns = 50}},
                                                      {"g_all_gather", {.total_ns = 60}},
                                                      {"g2", {.total_ns = 7, .exposed_ns = 7}},
                                                      {"other", {.total_ns = 5}}});
  ASSERT_EQ(times.size(), 3U);
  EXPECT_EQ(times.at("g").total_ns, 160);
  EXPECT_EQ(times.at("g").exposed_ns, 50);
  EXPECT_EQ(times.at("g2").total_ns, 7);
  EXPECT_EQ(times.at("other").total_ns, 5);
}

TEST(HiddenCommunication, LeavesTheRestOfTheCollectives) {
  const Asked asked(sample());
  const auto rest = with_hidden_communication(asked.whole.joint, asked.costs, HiddenShares(0.75));
  ASSERT_EQ(rest.size(), asked.costs.size());
  std::size_t collectives = 0;
  for (std::size_t i = 0; i < rest.size(); ++i) {
    const bool is_collective = asked.costs[i].lane == NodeCost::Lane::collective;
    collectives += is_collective ? 1 : 0;
    EXPECT_NEAR(static_cast<double>(rest[i].ns),
                static_cast<double>(asked.costs[i].ns) * (is_collective ? 0.25 : 1), 1);
  }
  EXPECT_GT(collectives, 0U);
}

}  // namespace
}  // namespace jointer::test
