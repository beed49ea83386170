// Small schedules, each with a diagram of the expected result, and a graph for every reason.

#include "core/schedule/simulation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "core/schedule/exposure_reason.h"
#include "tests/support/graphs.h"

namespace jointer::test {
namespace {

using testing::HasSubstr;
using Kind = ExposureReason::Kind;

// A graph and the times of its nodes; nodes without one take none.
struct Timed {
  Timed(std::string_view text, const std::map<std::string, std::int64_t>& ns,
        std::int64_t host_ns = 0, SimulationOptions options = {})
      : graph(parse(text)), costs(graph.node_count()) {
    for (const NodeId id : graph.order()) {
      const Node& n = graph.node(id);
      if (n.kind != NodeKind::call) continue;
      NodeCost& cost = costs[id.index()];
      cost.host_ns = host_ns;
      const auto it = ns.find(std::string(graph.name(id)));
      if (it == ns.end()) continue;
      cost.ns = it->second;
      cost.lane =
          graph.is_collective_start(n) ? NodeCost::Lane::collective : NodeCost::Lane::compute;
    }
    simulation.emplace(graph, costs, options);
  }

  [[nodiscard]] std::pair<std::int64_t, std::int64_t> at(const char* name) const {
    const NodeTiming& t = simulation->timing(graph.find(name));
    return {t.start, t.end};
  }
  [[nodiscard]] const CollectiveTiming& collective(const char* name) const {
    return simulation
        ->collectives()[static_cast<std::size_t>(simulation->collective_of(graph.find(name)))];
  }
  [[nodiscard]] std::string reason(const char* name) const {
    return reason_text(graph, collective(name));
  }

  Graph graph;
  std::vector<NodeCost> costs;
  std::optional<Simulation> simulation;
};

using Span = std::pair<std::int64_t, std::int64_t>;

constexpr const char* kOverlapped = R"(
  group tp: 0 1
  x: f32[8] = input
  a: f32[8] = aten.relu(x)
  ar: f32[8] = _c10d_functional.all_reduce(a, 'sum', 'tp')
  b: f32[8] = aten.relu(x)
  w: f32[8] = _c10d_functional.wait_tensor(ar)
  c: f32[8] = aten.add.Tensor(w, b)
  return [c]
)";

TEST(Simulation, HidesACollectiveBehindCompute) {
  // compute  aaaa bbbbbbbbbb cc
  // tp            rrrrrrrr
  const Timed t(kOverlapped, {{"a", 40}, {"ar", 80}, {"b", 100}, {"c", 20}});
  EXPECT_EQ(t.at("a"), Span(0, 40));
  EXPECT_EQ(t.at("ar"), Span(40, 120));
  EXPECT_EQ(t.at("b"), Span(40, 140));
  EXPECT_EQ(t.at("c"), Span(140, 160));
  EXPECT_EQ(t.simulation->step_ns(), 160);
  EXPECT_EQ(t.simulation->exposed_ns(), 0);
  EXPECT_EQ(t.simulation->hidden_count(), 1U);
  EXPECT_EQ(t.collective("ar").reason.kind, Kind::none);
  EXPECT_EQ(t.reason("ar"), "");
}

TEST(Simulation, ANanosecondOfStallIsHidden) {
  const Timed t(kOverlapped, {{"a", 40}, {"ar", 110}, {"b", 109}, {"c", 20}});
  EXPECT_EQ(t.collective("ar").exposed_ns, 1);
  EXPECT_FALSE(t.collective("ar").is_exposed());
  EXPECT_EQ(t.simulation->hidden_count(), 1U);
  EXPECT_EQ(t.reason("ar"), "");
}

TEST(Simulation, StallsIfComputeIsTooShort) {
  // compute  aaaa bbb |stall| cc
  // tp            rrrrrrrrrrr
  const Timed t(kOverlapped, {{"a", 40}, {"ar", 110}, {"b", 30}, {"c", 20}});
  EXPECT_EQ(t.at("w"), Span(70, 150));
  EXPECT_EQ(t.at("c"), Span(150, 170));
  EXPECT_EQ(t.collective("ar").exposed_ns, 80);
  EXPECT_EQ(t.simulation->exposed_ns(), 80);
  EXPECT_EQ(t.simulation->communication_ns(), 110);
  EXPECT_EQ(t.simulation->compute_ns(), 90);
  EXPECT_EQ(t.simulation->hidden_count(), 0U);
}

TEST(Simulation, TheHostLaunchesInOrderAndMayBeLate) {
  // cpu      |a0|ar|b |w |c |      50 each
  // compute      aaaa   bb     cc
  const Timed t(kOverlapped, {{"a", 40}, {"ar", 10}, {"b", 20}, {"c", 20}}, /*host_ns=*/50);
  EXPECT_EQ(t.at("a"), Span(50, 90));
  EXPECT_EQ(t.at("ar"), Span(100, 110));
  EXPECT_EQ(t.at("b"), Span(150, 170));
  EXPECT_EQ(t.at("c"), Span(250, 270));
  EXPECT_EQ(t.simulation->step_ns(), 270);
  EXPECT_EQ(t.simulation->host_bound_ns(), 50 + 60 + 80);
}

constexpr const char* kTwoGroups = R"(
  group tp: 0 1
  group dp: 0 2
  x: f32[8] = input
  first: f32[8] = _c10d_functional.all_reduce(x, 'sum', 'tp')
  second: f32[8] = _c10d_functional.all_reduce(x, 'sum', 'GROUP')
  w1: f32[8] = _c10d_functional.wait_tensor(first)
  w2: f32[8] = _c10d_functional.wait_tensor(second)
  c: f32[8] = aten.add.Tensor(w1, w2)
  return [c]
)";
std::string two_groups(const std::string& group) {
  std::string text = kTwoGroups;
  text.replace(text.find("GROUP"), 5, group);
  return text;
}

TEST(Simulation, GroupsHaveSeparateStreams) {
  // tp  11111        dp  22222
  const Timed apart(two_groups("dp"), {{"first", 50}, {"second", 50}, {"c", 10}});
  EXPECT_EQ(apart.at("second"), Span(0, 50));
  EXPECT_EQ(apart.simulation->step_ns(), 60);
  // tp  11111 22222
  const Timed same(two_groups("tp"), {{"first", 50}, {"second", 50}, {"c", 10}});
  EXPECT_EQ(same.at("second"), Span(50, 100));
  EXPECT_EQ(same.simulation->step_ns(), 110);
  const Timed one(two_groups("dp"), {{"first", 50}, {"second", 50}, {"c", 10}}, 0,
                  {.one_communication_stream = true});
  EXPECT_EQ(one.at("second"), Span(50, 100));
  EXPECT_EQ(one.simulation->streams().size(), 2U);
}

// A group may be labeled like the stream of the calls without a group.
TEST(Simulation, StreamsHaveDifferentNames) {
  const Timed t(R"(
    group communication: 0 1
    x: f32[8] = input
    first: f32[8] = _c10d_functional.all_reduce(x, 'sum', 'communication')
    second: f32[8] = _c10d_functional.all_reduce(x, 'sum', None)
    a: f32[8] = _c10d_functional.wait_tensor(first)
    b: f32[8] = _c10d_functional.wait_tensor(second)
    return [a, b]
  )",
                {{"first", 50}, {"second", 50}});
  std::vector<std::string> names;
  for (const Stream& stream : t.simulation->streams()) names.push_back(stream.name);
  EXPECT_THAT(names, testing::ElementsAre("compute", "communication", "communication (shared)"));
}

TEST(Simulation, ARepeatedWaitStallsOnce) {
  const Timed t(R"(
    group tp: 0 1
    x: f32[8] = input
    ar: f32[8] = _c10d_functional.all_reduce(x, 'sum', 'tp')
    w: f32[8] = _c10d_functional.wait_tensor(ar)
    again: f32[8] = _c10d_functional.wait_tensor(ar)
    return [again]
  )",
                {{"ar", 50}});
  EXPECT_EQ(t.collective("ar").exposed_ns, 50);
  EXPECT_EQ(t.collective("ar").wait, t.graph.find("w"));
  EXPECT_EQ(t.simulation->step_ns(), 50);
}

TEST(Reason, Tail) {
  const Timed t(R"(
    group tp: 0 1
    x: f32[8] = input
    a: f32[8] = aten.relu(x)
    ar: f32[8] = _c10d_functional.all_reduce(a, 'sum', 'tp')
    b: f32[8] = aten.relu(x)
    return [ar, b]
  )",
                {{"a", 10}, {"ar", 50}, {"b", 20}});
  EXPECT_EQ(t.collective("ar").reason.kind, Kind::tail);
  EXPECT_EQ(t.collective("ar").exposed_ns, 30);
  EXPECT_THAT(t.reason("ar"), HasSubstr("ends after the last kernel"));
}

TEST(Reason, StreamBusy) {
  const Timed t(two_groups("tp"), {{"first", 50}, {"second", 50}, {"c", 10}});
  const CollectiveTiming& second = t.collective("second");
  EXPECT_EQ(second.reason.kind, Kind::stream_busy);
  EXPECT_EQ(second.reason.node, t.graph.find("first"));
  EXPECT_EQ(second.reason.ns, 50);
  EXPECT_THAT(t.reason("second"), HasSubstr("behind first"));
}

TEST(Reason, Dependency) {
  // a computes the input just before, c needs the result immediately.
  const Timed t(R"(
    group tp: 0 1
    x: f32[8,8] = input
    a: f32[8,8] = aten.mm(x, x)
    ar: f32[8,8] = _c10d_functional.all_reduce(a, 'sum', 'tp')
    w: f32[8,8] = _c10d_functional.wait_tensor(ar)
    c: f32[8,8] = aten.mm(w, x)
    return [c]
  )",
                {{"a", 100}, {"ar", 50}, {"c", 100}});
  const CollectiveTiming& ar = t.collective("ar");
  EXPECT_EQ(ar.reason.kind, Kind::dependency);
  EXPECT_EQ(ar.reason.node, t.graph.find("a"));
  EXPECT_EQ(ar.reason.user, t.graph.find("c"));
  EXPECT_THAT(t.reason("ar"), testing::AllOf(HasSubstr("held by a"), HasSubstr("c needs")));
}

TEST(Reason, NoComputeToHideBehind) {
  // A parameter gathered at the start of the step.
  const Timed t(R"(
    group dp: 0 1
    p: f32[8] = parameter
    ag: f32[16] = _c10d_functional.all_gather_into_tensor(p, 2, 'dp')
    w: f32[16] = _c10d_functional.wait_tensor(ag)
    c: f32[16,16] = aten.mm(w, w)
    return [c]
  )",
                {{"ag", 50}, {"c", 100}});
  EXPECT_EQ(t.collective("ag").reason.kind, Kind::no_compute);
  EXPECT_THAT(t.reason("ag"), HasSubstr("between the start of the step and c"));
}

TEST(Reason, OrderThatLeavesComputeUnused) {
  // b follows the wait and does not need it.
  const char* const behind = R"(
    group tp: 0 1
    x: f32[8,8] = input
    a: f32[8,8] = aten.mm(x, x)
    ar: f32[8,8] = _c10d_functional.all_reduce(a, 'sum', 'tp')
    w: f32[8,8] = _c10d_functional.wait_tensor(ar)
    b: f32[8,8] = aten.mm(x, x)
    c: f32[8,8] = aten.mm(w, b)
    return [c]
  )";
  const Timed sink(behind, {{"a", 100}, {"ar", 50}, {"b", 70}, {"c", 100}});
  EXPECT_EQ(sink.collective("ar").reason.kind, Kind::order);
  EXPECT_FALSE(sink.collective("ar").reason.before);
  EXPECT_EQ(sink.collective("ar").reason.ns, 70);
  EXPECT_THAT(sink.reason("ar"), HasSubstr("sink the wait toward c"));
  // b precedes the start and does not feed it.
  const Timed raise(R"(
    group tp: 0 1
    x: f32[8,8] = input
    a: f32[8,8] = aten.mm(x, x)
    b: f32[8,8] = aten.mm(x, x)
    ar: f32[8,8] = _c10d_functional.all_reduce(a, 'sum', 'tp')
    w: f32[8,8] = _c10d_functional.wait_tensor(ar)
    c: f32[8,8] = aten.mm(w, b)
    return [c]
  )",
                    {{"a", 100}, {"ar", 50}, {"b", 70}, {"c", 100}});
  EXPECT_EQ(raise.collective("ar").reason.kind, Kind::order);
  EXPECT_TRUE(raise.collective("ar").reason.before);
  EXPECT_THAT(raise.reason("ar"), HasSubstr("raise the start toward a"));
  const auto name = [&](NodeId node) { return std::string(raise.graph.name(node)); };
  EXPECT_THAT(
      exposure_text(raise.graph, *raise.simulation, raise.collective("ar"), name),
      testing::StartsWith("no compute runs between start and wait; 70.0 ns of independent"));
  // Following the advice hides it.
  const Timed better(kOverlapped, {{"a", 100}, {"ar", 50}, {"b", 70}, {"c", 100}});
  EXPECT_EQ(better.simulation->exposed_ns(), 0);
}

TEST(Reason, NamesTheComputeBetweenStartAndWait) {
  const Timed t(R"(
    group tp: 0 1
    x: f32[8,8] = input
    a: f32[8,8] = aten.mm(x, x)
    ar: f32[8,8] = _c10d_functional.all_reduce(a, 'sum', 'tp')
    b: f32[8,8] = aten.mm(x, x)
    w: f32[8,8] = _c10d_functional.wait_tensor(ar)
    c: f32[8,8] = aten.mm(w, b)
    return [c]
  )",
                {{"a", 100}, {"ar", 50}, {"b", 20}, {"c", 100}});
  const std::string text =
      exposure_text(t.graph, *t.simulation, t.collective("ar"),
                    [&](NodeId node) { return fmt::format("<{}>", t.graph.name(node)); });
  EXPECT_THAT(text, testing::StartsWith("compute between start and wait takes 20.0 ns, the "
                                        "collective 50.0 ns; held by <a>, "));
  EXPECT_THAT(text, HasSubstr("; <c> needs"));
}

}  // namespace
}  // namespace jointer::test
