#include "core/schedule/spmd_check.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "tests/support/graphs.h"
#include "tests/support/must.h"
#include "tests/support/random_graph.h"

namespace jointer::test {
namespace {

constexpr std::string_view kHead = R"(
  group tp: 0 1
  group dp: 0 1
  group other: 1 2
  x: f32[8,4] = input
)";

Graph program(std::string_view body, std::string_view head = kHead) {
  return parse(std::string(head) + std::string(body));
}

SpmdReport check(const std::vector<Graph>& graphs) {
  std::vector<RankGraph> programs;
  for (std::size_t i = 0; i < graphs.size(); ++i)
    programs.push_back({static_cast<int>(i), &graphs[i]});
  return must(check_spmd(programs));
}

std::string sentence(const std::vector<Graph>& graphs) {
  const SpmdReport report = check(graphs);
  return report.mismatch ? report.mismatch->sentence : "";
}

constexpr std::string_view kTwo = R"(
  a: f32[8,4] = _c10d_functional.all_reduce(x, 'sum', 'tp')
  b: f32[16,4] = _c10d_functional.all_gather_into_tensor(x, 2, 'dp')
  wa: f32[8,4] = _c10d_functional.wait_tensor(a)
  wb: f32[16,4] = _c10d_functional.wait_tensor(b)
  return [wa, wb]
)";

TEST(SpmdCheck, TheSameProgramAgrees) {
  const SpmdReport report = check({program(kTwo), program(kTwo)});
  EXPECT_FALSE(report.mismatch);
  ASSERT_EQ(report.groups.size(), 2U);
  EXPECT_EQ(report.groups[0].calls, 1U);
  EXPECT_EQ(report.groups[0].checked, (std::vector{0, 1}));
}

TEST(SpmdCheck, GroupsAreIdentifiedByTheirRanks) {
  // Names may differ between ranks, and so may the order of calls on different groups.
  const Graph first = program(R"(
    a: f32[8,4] = _c10d_functional.all_reduce(x, 'sum', '7')
    b: f32[8,4] = _c10d_functional.all_reduce(x, 'avg', '8')
    return [a, b]
  )",
                              "group 7: 0 1\n group 8: 0 2\n x: f32[8,4] = input");
  const Graph second = program(R"(
    a: f32[8,4] = _c10d_functional.all_reduce(x, 'max', '4')
    b: f32[8,4] = _c10d_functional.all_reduce(x, 'sum', '5')
    return [a, b]
  )",
                               "group 4: 1 3\n group 5: 0 1\n x: f32[8,4] = input");
  const SpmdReport report = check({first, second});
  EXPECT_FALSE(report.mismatch);
  ASSERT_EQ(report.groups.size(), 1U);
  EXPECT_EQ(report.groups[0].ranks, (std::vector{0, 1}));
  ASSERT_EQ(report.notes.size(), 1U);
  EXPECT_EQ(report.notes[0], "2 groups could not be compared: only one rank of each is given");
}

TEST(SpmdCheck, NamesTheFirstMismatch) {
  const std::string all_reduce = "a: f32[8,4] = _c10d_functional.all_reduce(x, 'sum', 'tp')\n";
  const auto differs = [&](const std::string& first, const std::string& second) {
    return sentence({program(first + "\nreturn [x]"), program(second + "\nreturn [x]")});
  };
  EXPECT_EQ(differs(all_reduce, "a: f32[8,4] = _c10d_functional.all_reduce(x, 'max', 'tp')\n"),
            "in group tp (ranks 0, 1), as collective 0, rank 0 calls a (all_reduce (sum) of "
            "float32[8,4], position 1), but rank 1 calls a (all_reduce (max) of float32[8,4], "
            "position 1): the run would hang or compute wrong results");
  EXPECT_EQ(
      differs(all_reduce, "n: f32[8,4] = aten.neg(x)\n"),
      "in group tp (ranks 0, 1), as collective 0, rank 0 calls a (all_reduce (sum) of "
      "float32[8,4], position 1), but rank 1 calls no further collectives: the run would hang");
  EXPECT_NE(differs(all_reduce,
                    "a: f32[16,4] = "
                    "_c10d_functional.all_gather_into_tensor(x, 2, 'tp')\n")
                .find("rank 1 calls a (all_gather_into_tensor of float32[8,4]"),
            std::string::npos);
  EXPECT_NE(differs(all_reduce,
                    "h: f32[4,4] = aten.relu(x)\n"
                    "a: f32[4,4] = _c10d_functional.all_reduce(h, 'sum', 'tp')\n")
                .find("of float32[4,4]"),
            std::string::npos);
  // The same number of elements in a different shape matches.
  EXPECT_EQ(differs(all_reduce,
                    "h: f32[4,8] = aten.view(x, [4, 8])\n"
                    "a: f32[4,8] = _c10d_functional.all_reduce(h, 'sum', 'tp')\n"),
            "");
}

TEST(SpmdCheck, TheBriefSentenceOmitsTheDetailsOfTheSides) {
  const auto of = [](std::string_view op) {
    return program(
        fmt::format("a: f32[8,4] = _c10d_functional.all_reduce(x, '{}', 'tp')\nreturn [x]", op));
  };
  const std::vector<Graph> graphs{of("sum"), of("max")};
  const SpmdReport report = check(graphs);
  ASSERT_TRUE(report.mismatch.has_value());
  EXPECT_EQ(
      report.mismatch->brief,
      "in group tp (ranks 0, 1), as collective 0, rank 0 calls a, but rank 1 calls a: the run "
      "would hang or compute wrong results");
}

TEST(SpmdCheck, SplitsOfAnAllToAllMustMatch) {
  const auto rank = [&](const std::string& sends, const std::string& expects) {
    return program("a: f32[8,4] = _c10d_functional.all_to_all_single(x, " + expects + ", " + sends +
                   ", 'tp')\nreturn [a]");
  };
  EXPECT_EQ(sentence({rank("[3, 5]", "[3, 2]"), rank("[2, 6]", "[5, 6]")}), "");
  const std::string said = sentence({rank("[3, 5]", "[3, 2]"), rank("[2, 6]", "[4, 6]")});
  EXPECT_NE(said.find("sends [3,5], expects [3,2]"), std::string::npos) << said;
  EXPECT_NE(said.find("sends [2,6], expects [4,6]"), std::string::npos) << said;
}

TEST(SpmdCheck, CyclicWaitsHang) {
  const std::string a = "a: f32[8,4] = _c10d_functional.all_reduce(x, 'sum', 'tp')\n";
  const std::string wa = "wa: f32[8,4] = _c10d_functional.wait_tensor(a)\n";
  const std::string b = "b: f32[8,4] = _c10d_functional.all_reduce(x, 'sum', 'dp')\n";
  const std::string wb = "wb: f32[8,4] = _c10d_functional.wait_tensor(b)\n";
  const std::string end = "return [wa, wb]";
  EXPECT_EQ(sentence({program(a + wa + b + wb + end), program(b + wb + a + wa + end)}),
            "rank 0 waits at wa for a, which rank 1 calls only after wb, where it waits for rank "
            "0: the run would hang");
  EXPECT_EQ(sentence({program(a + b + wa + wb + end), program(b + a + wb + wa + end)}), "");
  EXPECT_EQ(sentence({program(a + b + wa + wb + end), program(a + wa + b + wb + end)}), "");
}

TEST(SpmdCheck, RequiresSeveralRanksOnceEach) {
  const Graph graph = program(kTwo);
  EXPECT_EQ(
      check_spmd(std::vector<RankGraph>{{0, &graph}}).error().message,
      "a comparison needs the programs of at least two ranks; give the captures of other ranks "
      "too");
  EXPECT_EQ(check_spmd(std::vector<RankGraph>{{3, &graph}, {3, &graph}}).error().message,
            "rank 3 is given twice; give one capture per rank");
}

// A group's collectives on rank 0, in program order.
std::vector<NodeId> calls_on(const Graph& graph, GroupId group) {
  std::vector<NodeId> calls;
  for (const NodeId id : graph.order())
    if (graph.is_collective_start(graph.node(id)) && graph.node(id).group == group)
      calls.push_back(id);
  return calls;
}

RC_GTEST_PROP(SpmdCheckProperty, APermutedGroupIsFoundAtItsFirstDifference, (std::uint64_t seed)) {
  const Graph graph = random_graph(seed, {.calls = 60, .symbols = false});
  const auto group = [&]() -> std::optional<GroupId> {
    for (std::size_t i = 0; i < graph.group_count(); ++i) {
      const auto& ranks = graph.group(GroupId(i)).ranks;
      if (calls_on(graph, GroupId(i)).size() >= 2 && std::ranges::find(ranks, 0) != ranks.end() &&
          std::ranges::find(ranks, 1) != ranks.end())
        return GroupId(i);
    }
    return std::nullopt;
  }();
  RC_PRE(group.has_value());
  // The same nodes are permuted: only their order matters here.
  const std::vector<NodeId> before = calls_on(graph, *group);
  const std::vector<NodeId> after = *rc::gen::map(
      rc::gen::container<std::vector<int>>(before.size(), rc::gen::inRange(0, 1 << 20)),
      [&](const std::vector<int>& keys) {
        std::vector<std::size_t> at(before.size());
        for (std::size_t i = 0; i < at.size(); ++i) at[i] = i;
        std::ranges::stable_sort(at, {}, [&](std::size_t i) { return keys[i]; });
        std::vector<NodeId> nodes;
        for (const std::size_t i : at) nodes.push_back(before[i]);
        return nodes;
      });
  Graph permuted = graph;
  std::vector<NodeId> order(graph.order().begin(), graph.order().end());
  std::size_t next = 0;
  for (NodeId& id : order)
    if (std::ranges::find(before, id) != before.end()) id = after[next++];
  permuted.set_order(order);

  const auto said = [&](NodeId id) {
    const Node& node = graph.node(id);
    std::string key(graph.target(node));
    for (const NodeId input : graph.inputs(node))
      for (const Tensor& t : graph.tensors(input))
        key += std::string(to_string(t.dtype)) + std::to_string(graph.numel(t));
    if (const Argument* op = graph.argument(node, "reduce_op"))
      if (op->kind == Argument::Kind::string) key += graph.text(op->text());
    return key;
  };
  std::optional<std::size_t> first;
  for (std::size_t i = 0; i < before.size() && !first; ++i)
    if (said(before[i]) != said(after[i])) first = i;

  const auto report = check_spmd(std::vector<RankGraph>{{0, &graph}, {1, &permuted}});
  RC_ASSERT(report.has_value());
  RC_ASSERT(report->mismatch.has_value() >= first.has_value());
  if (first) {
    RC_ASSERT(report->mismatch->call == *first);
    RC_ASSERT(report->mismatch->a.node == before[*first]);
    RC_ASSERT(report->mismatch->b.node == after[*first]);
  }
}

RC_GTEST_PROP(SpmdCheckProperty, AnyProgramAgreesWithItself, (std::uint64_t seed)) {
  const Graph graph = random_graph(seed, {.calls = 60});
  const auto report = check_spmd(std::vector<RankGraph>{{0, &graph}, {1, &graph}});
  RC_ASSERT(report.has_value());
  RC_ASSERT(!report->mismatch.has_value());
}

}  // namespace
}  // namespace jointer::test
