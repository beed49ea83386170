#include "views/graph/ladder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "core/graph/users.h"
#include "core/open/open.h"
#include "tests/support/graphs.h"
#include "tests/support/ladders.h"
#include "tests/support/paths.h"
#include "tests/support/random_graph.h"

namespace jointer::views {
namespace {

using testing::ElementsAre;

Ladder ladder_of(const Graph& graph) {
  const auto analysis = analyze(graph);
  if (!analysis) throw std::runtime_error(analysis.error().message);
  return {graph, *analysis};
}

const LadderRow& row_of(const Ladder& ladder, std::string_view key) {
  const int row = ladder.find(key);
  if (row < 0) throw std::runtime_error("there is no row " + std::string(key));
  return ladder.row(row);
}

std::vector<std::string> keys(const Ladder& ladder) {
  std::vector<std::string> keys;
  for (const LadderRow& row : ladder.rows()) keys.push_back(row.key);
  return keys;
}

// Checks invariants of all ladders. Returns an empty string if all hold.
std::string mistake(const Graph& graph) {
  const auto analysis = analyze(graph);
  if (!analysis) return analysis.error().message;
  const Ladder ladder(graph, *analysis);
  const auto rows = ladder.rows();
  for (int i = 0; i < static_cast<int>(rows.size()); ++i) {
    const LadderRow& row = ladder.row(i);
    if (row.end <= i || row.end > static_cast<int>(rows.size())) return "a row has no end";
    if (row.parent >= i) return "a row comes before its parent";
    if (row.parent >= 0 && row.end > ladder.row(row.parent).end) return "a row leaves its parent";
  }
  // Every node is in one leaf, and each box occurs once, after its inputs.
  std::set<NodeId> boxes;
  std::int64_t nodes = 0;
  for (int i = 0; i < static_cast<int>(rows.size()); ++i) {
    for (const LadderSide side : kLadderSides) {
      if (ladder.row(i).parent < 0) nodes += ladder.row(i).side(side).nodes;
      const auto of_row = ladder.boxes(i, side);
      if (!of_row.empty() && !ladder.is_leaf(i)) return "a row above others has boxes";
      std::set<NodeId> later(of_row.begin(), of_row.end());
      for (const NodeId id : of_row) {
        if (!boxes.insert(id).second) return "a node is there twice";
        if (ladder.row_of(id) != i) return "a box is in another row than its node";
        if (side_of(graph.node(id)) != side) return "a box is on the wrong side";
        for (const NodeId input : graph.inputs(id))
          if (later.contains(input)) return "a box comes before what it reads";
        later.erase(id);
      }
    }
  }
  for (const NodeId id : graph.order()) {
    if (ladder.row_of(id) < 0) return "a node is in no row";
    if (graph.node(id).kind == NodeKind::call && !boxes.contains(id)) return "a call has no box";
  }
  if (nodes != static_cast<std::int64_t>(boxes.size())) return "the nodes are miscounted";
  // Saved rungs are the memory timeline's saved activations.
  std::int64_t saved = 0, rungs = 0, by_row = 0;
  for (const Lifetime& l : analysis->memory.lifetimes())
    if (l.category == MemoryCategory::saved_activation) saved += l.bytes;
  for (const Rung& rung : ladder.rungs()) {
    if (rung.is_saved) rungs += rung.bytes;
    if (ladder.row_of(rung.producer) < 0) return "a rung starts nowhere";
    for (const NodeId reader : ladder.readers(rung))
      if (graph.node(reader).phase != Phase::backward) return "the forward reads a rung";
  }
  for (const LadderRow& row : rows)
    if (row.parent < 0) by_row += row.saved_bytes();
  if (rungs != saved || by_row != saved)
    return fmt::format("{} bytes of rungs, {} of rows, {} saved", rungs, by_row, saved);
  return {};
}

TEST(Ladder, HasModulesAsRowsAndFoldsIdenticalOnes) {
  const Ladder ladder = ladder_of(test::layered_graph(3));
  const auto all = keys(ladder);
  ASSERT_THAT(std::vector(all.begin(), all.begin() + 9),
              ElementsAre("inputs and outputs", "*layers.0", "layers.0", "layers.0.norm",
                          "layers.0.attention", "layers.0.attention.wq",
                          "layers.0.attention/itself", "layers.0.attention.wo", "layers.0/itself"));
  EXPECT_EQ(ladder.rows().size(), 2 + 3 * 7U);
  const LadderRow& fold = row_of(ladder, "*layers.0");
  EXPECT_EQ(fold.kind, LadderRow::Kind::fold);
  EXPECT_EQ(fold.members, 3);
  EXPECT_EQ(fold.end, static_cast<int>(ladder.rows().size()));
}

TEST(Ladder, SharesARowBetweenAModulesForwardAndBackward) {
  const Graph graph = test::layered_graph(2);
  const Ladder ladder = ladder_of(graph);
  const LadderRow& wq = row_of(ladder, "layers.1.attention.wq");
  EXPECT_EQ(wq.side(LadderSide::forward).nodes, 1);
  EXPECT_EQ(wq.side(LadderSide::backward).nodes, 2);
  EXPECT_EQ(ladder.row_of(graph.find("q_1")), ladder.row_of(graph.find("gwq_1")));
}

TEST(Ladder, FoldsParametersIntoTheModuleThatUsesThem) {
  const Graph graph = test::layered_graph(2);
  const Ladder ladder = ladder_of(graph);
  const int wq = ladder.find("layers.0.attention.wq");
  EXPECT_EQ(ladder.row(wq).parameters, 1);
  EXPECT_EQ(ladder.row(wq).parameter_bytes, 64 * 64 * 4);
  EXPECT_EQ(row_of(ladder, "*layers.0").parameters, 4);
  EXPECT_EQ(ladder.row_of(graph.find("wq_0")), wq);
  // It has no box, but is selected with the row.
  EXPECT_THAT(ladder.boxes(wq, LadderSide::forward), ElementsAre(graph.find("q_0")));
  EXPECT_THAT(ladder.nodes(wq, LadderSide::forward),
              ElementsAre(graph.find("wq_0"), graph.find("q_0")));
}

TEST(Ladder, MarksCollectives) {
  const Ladder ladder = ladder_of(test::layered_graph(4));
  const auto& marks = row_of(ladder, "*layers.0").side(LadderSide::forward).collectives;
  ASSERT_EQ(marks.size(), 1U);
  EXPECT_EQ(marks[0].kind, CollectiveKind::all_reduce);
  EXPECT_EQ(marks[0].count, 4);
  EXPECT_EQ(marks[0].exposed_ns, row_of(ladder, "*layers.0").side(LadderSide::forward).exposed_ns);
  EXPECT_GT(marks[0].exposed_ns, 0);
  EXPECT_TRUE(row_of(ladder, "*layers.0").side(LadderSide::backward).collectives.empty());
}

TEST(Ladder, HasARungForEachTensorTheBackwardReads) {
  const Graph graph = test::layered_graph(2);
  const Ladder ladder = ladder_of(graph);
  const auto rung = [&](const char* name) {
    const auto rungs = ladder.rungs();
    const auto found = std::find_if(rungs.begin(), rungs.end(),
                                    [&](const Rung& r) { return r.producer == graph.find(name); });
    if (found == rungs.end()) throw std::runtime_error(name);
    return *found;
  };
  EXPECT_EQ(ladder.rungs().size(), 6U);
  EXPECT_EQ(rung("q_0").state, RungState::save);
  EXPECT_EQ(rung("act_0").state, RungState::automatic);
  EXPECT_EQ(rung("norm_1").bytes, 8 * 64 * 4);
  EXPECT_THAT(ladder.readers(rung("act_1")), ElementsAre(graph.find("at_1")));
  EXPECT_THAT(ladder.readers(rung("q_1")), ElementsAre(graph.find("dact_1")));
  EXPECT_EQ(row_of(ladder, "layers.0").saved_bytes(), 3 * 8 * 64 * 4);
}

TEST(Ladder, InterpretsTags) {
  const Graph graph = test::parse(R"(
    x: f32[8,64] = input
    dy: f32[8,64] = tangent
    a: f32[8,64] = aten.relu(x)    {m MUST_RECOMPUTE}
    b: f32[8,64] = aten.tanh(a)    {m MUST_CPU_OFFLOAD}
    c: f32[8,64] = aten.exp(b)     {m PREFER_SAVE}
    g: f32[8,64] = aten.mul.Tensor(dy, a)  {m backward}
    h: f32[8,64] = aten.mul.Tensor(g, b)   {m backward}
    i: f32[8,64] = aten.mul.Tensor(h, c)   {m backward}
    return [c, i]
  )");
  const LadderRow row = row_of(ladder_of(graph), "m");
  const std::int64_t bytes = 8 * 64 * 4;
  // c is an output, which is not a saved activation.
  EXPECT_THAT(row.saved, ElementsAre(0, bytes, bytes, 0));
}

TEST(Ladder, NamesTheOriginOfRecomputedTensors) {
  const Graph graph = test::parse(R"(
    x: f32[8,64] = input
    dy: f32[8,64] = tangent
    a: f32[8,64] = aten.relu(x)            {m}
    b: f32[8,64] = aten.tanh(a)            {m}
    a_recomputed: f32[8,64] = aten.relu(x)             {m backward recomputed}
    b_recomputed: f32[8,64] = aten.tanh(a_recomputed)  {m backward recomputed}
    g: f32[8,64] = aten.mul.Tensor(dy, b_recomputed)   {m backward}
    return [b, g]
  )");
  const Ladder ladder = ladder_of(graph);
  ASSERT_EQ(ladder.rungs().size(), 1U);  // a is recomputed only for b
  EXPECT_EQ(ladder.rungs()[0].producer, graph.find("b"));
  EXPECT_EQ(ladder.rungs()[0].state, RungState::recompute);
  EXPECT_FALSE(ladder.rungs()[0].is_saved);
  EXPECT_EQ(row_of(ladder, "m").recomputed_bytes, 8 * 64 * 4);
  EXPECT_EQ(row_of(ladder, "m").saved_bytes(), 0);
  EXPECT_EQ(row_of(ladder, "m").side(LadderSide::backward).recomputed, 2);
}

TEST(Ladder, DistinguishesDifferentModules) {
  const auto members = [](Graph graph, const char* name, const char* target) {
    graph.node(graph.find(name)).target = graph.intern_operator(target);
    const Ladder ladder = ladder_of(graph);
    std::vector<int> counts;
    for (const LadderRow& row : ladder.rows())
      if (row.kind == LadderRow::Kind::fold) counts.push_back(row.members);
    return counts;
  };
  EXPECT_THAT(members(test::layered_graph(5), "act_0", "aten.relu.default"), ElementsAre(5));
  EXPECT_THAT(members(test::layered_graph(5), "act_2", "aten.tanh.default"), ElementsAre(2, 2));
  EXPECT_THAT(members(test::layered_graph(5), "act_4", "aten.tanh.default"), ElementsAre(4));
}

// Another topological order than the graph's, from a seed.
std::vector<NodeId> other_order(const Graph& graph, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<std::size_t> waits_for(graph.node_count(), 0);
  const Users users(graph);
  std::vector<NodeId> ready, order;
  for (const NodeId id : graph.order()) {
    waits_for[id.index()] = graph.inputs(id).size();
    if (waits_for[id.index()] == 0) ready.push_back(id);
  }
  while (!ready.empty()) {
    const std::size_t i = random() % ready.size();
    const NodeId id = ready[i];
    ready.erase(ready.begin() + static_cast<std::ptrdiff_t>(i));
    order.push_back(id);
    for (const NodeId user : users.of(id))
      if (--waits_for[user.index()] == 0) ready.push_back(user);
  }
  return order;
}

TEST(Ladder, IsIndependentOfExecutionOrder) {
  Graph graph = test::layered_graph(4);
  const auto before = keys(ladder_of(graph));
  for (std::uint32_t seed = 0; seed < 10; ++seed) {
    graph.set_order(other_order(graph, seed));
    const Ladder ladder = ladder_of(graph);
    EXPECT_EQ(row_of(ladder, "*layers.0").members, 4) << "seed " << seed;
    auto now = keys(ladder);
    std::sort(now.begin(), now.end());
    auto sorted = before;
    std::sort(sorted.begin(), sorted.end());
    EXPECT_EQ(now, sorted);
  }
}

TEST(Ladder, FindsTheSameRowInIdenticalModules) {
  const Graph graph = test::layered_graph(3);
  const Ladder ladder = ladder_of(graph);
  std::vector<std::string> same;
  for (const int row : ladder.identical(ladder.find("layers.1.attention.wo")))
    same.push_back(ladder.row(row).key);
  EXPECT_THAT(
      same, ElementsAre("layers.0.attention.wo", "layers.1.attention.wo", "layers.2.attention.wo"));
  const int inputs = ladder.find("inputs and outputs");
  EXPECT_THAT(ladder.identical(inputs), ElementsAre(inputs));
}

TEST(Ladder, FindsIdenticalModulesThatAreNotAdjacent) {
  Graph graph = test::layered_graph(5);
  for (const char* name : {"act_1", "act_3"})
    graph.node(graph.find(name)).target = graph.intern_operator("aten.tanh.default");
  const Ladder ladder = ladder_of(graph);
  EXPECT_TRUE(std::none_of(ladder.rows().begin(), ladder.rows().end(),
                           [](const LadderRow& row) { return row.kind == LadderRow::Kind::fold; }));
  const auto same = [&](const char* key) {
    std::vector<std::string> keys;
    for (const int row : ladder.identical(ladder.find(key))) keys.push_back(ladder.row(row).key);
    return keys;
  };
  EXPECT_THAT(same("layers.2.attention/itself"),
              ElementsAre("layers.0.attention/itself", "layers.2.attention/itself",
                          "layers.4.attention/itself"));
  EXPECT_THAT(same("layers.3"), ElementsAre("layers.1", "layers.3"));
}

TEST(Ladder, AssignsCallsWithoutAModuleByTheirInputs) {
  const Graph graph = test::parse(R"(
    x: f32[8,64] = input
    a: f32[8,64] = aten.relu(x)          {m.first}
    b: f32[8,64] = aten.tanh(x)          {m.second}
    sum: f32[8,64] = aten.add.Tensor(a, b)
    c: f32[8,64] = aten.exp(sum)         {n}
    both: f32[8,64] = aten.add.Tensor(a, c)
    return [both]
  )");
  const Ladder ladder = ladder_of(graph);
  EXPECT_EQ(ladder.row(ladder.row_of(graph.find("sum"))).key, "m/itself");
  EXPECT_EQ(ladder.row(ladder.row_of(graph.find("both"))).key, "n");
}

TEST(Ladder, SplitsALongListIntoRows) {
  std::string text = "x_0: f32[8] = input\n";
  for (int i = 1; i <= 1000; ++i) text += fmt::format("x_{}: f32[8] = aten.relu(x_{})\n", i, i - 1);
  text += "dy: f32[8] = tangent\ng_0: f32[8] = aten.mul.Tensor(dy, x_1000) {backward}\n";
  for (int i = 1; i < 500; ++i)
    text += fmt::format("g_{}: f32[8] = aten.mul.Tensor(g_{}, x_{}) {{backward}}\n", i, i - 1,
                        1000 - i);
  const Graph graph = test::parse(text + "return [x_1000, g_499]\n");
  EXPECT_EQ(mistake(graph), "");
  const Ladder ladder = ladder_of(graph);
  EXPECT_TRUE(ladder.are_source_lines());
  EXPECT_EQ(ladder.rows().size(), 12U);
  // The end of the forward is close to the start of the backward.
  EXPECT_EQ(ladder.row_of(graph.find("x_1")), 1);
  EXPECT_EQ(ladder.row_of(graph.find("g_499")), 1);
}

TEST(Ladder, IsEmptyForAGraphWithoutNodes) {
  const Ladder ladder = ladder_of(test::parse("return []\n"));
  EXPECT_FALSE(ladder.has(LadderSide::backward));
  EXPECT_TRUE(ladder.rungs().empty());
}

RC_GTEST_PROP(LadderProperty, HoldsForRandomGraphs, ()) {
  const auto seed = *rc::gen::arbitrary<std::uint32_t>();
  const bool pair = *rc::gen::arbitrary<bool>();
  const std::string wrong =
      mistake(test::random_graph(seed, {.calls = 60, .symbols = false, .pair = pair}));
  if (!wrong.empty()) RC_FAIL(wrong);
}

class LadderOfSample : public testing::TestWithParam<std::string> {};

TEST_P(LadderOfSample, Holds) {
  const auto graph = open_graph({.path = test::source_path("resources/samples/" + GetParam())});
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_EQ(mistake(*graph), "");
  const Ladder ladder = ladder_of(*graph);
  const bool has_fold =
      std::any_of(ladder.rows().begin(), ladder.rows().end(),
                  [](const auto& row) { return row.kind == LadderRow::Kind::fold; });
  // In layers cut by a partitioner, the first and the last differ.
  EXPECT_EQ(has_fold, GetParam() != "llama_debug_tp2_fsdp2.min_cut.json.zst");
}

INSTANTIATE_TEST_SUITE_P(Ladder, LadderOfSample,
                         testing::Values("llama_8b_tp2_fsdp2.joint.json.zst",
                                         "llama_8b_tp2_fsdp2.min_cut.json.zst",
                                         "llama_debug_fsdp2.joint.json.zst",
                                         "llama_debug_tp2_fsdp2.min_cut.json.zst"),
                         test::parameter_name<testing::TestParamInfo<std::string>>);

TEST(LadderOfCapture, Llama8BIsOneFold) {
  JOINTER_NEEDS_SHARED();
  const auto graph = open_graph(
      {.path = test::shared_directory() + "/captures/llama3_8b_tp2_fsdp2.joint.json.zst"});
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_EQ(mistake(*graph), "");
  EXPECT_EQ(row_of(ladder_of(*graph), "*layers.0").members, 32);
}

TEST(LadderOfCapture, DeepSeekIsItsDenseAndItsExpertLayers) {
  JOINTER_NEEDS_SHARED();
  const auto graph =
      open_graph({.path = test::shared_directory() +
                          "/captures/deepseek_v3_671b_tp8_fsdp32_ep32.joint.json.zst"});
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_EQ(mistake(*graph), "");
  const Ladder ladder = ladder_of(*graph);
  EXPECT_EQ(row_of(ladder, "*layers.0").members, 3);
  EXPECT_EQ(row_of(ladder, "*layers.3").members, 58);
}

TEST(LadderOfCapture, MinCutPairRecomputesSomeTensors) {
  JOINTER_NEEDS_SHARED();
  const std::string stem = test::shared_directory() + "/captures/llama3_8b_tp2_fsdp2.min_cut.";
  const auto graph = open_graph({.path = stem + "fw.json.zst", .backward = stem + "bw.json.zst"});
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_EQ(mistake(*graph), "");
  const Ladder ladder = ladder_of(*graph);
  std::int64_t made_again = 0;
  for (const Rung& rung : ladder.rungs()) {
    if (rung.is_saved) continue;
    made_again += rung.bytes;
    // The forward produces each of them first.
    EXPECT_EQ(graph->node(rung.producer).phase, Phase::forward) << graph->name(rung.producer);
  }
  EXPECT_GT(made_again, std::int64_t{1} << 30);
}

}  // namespace
}  // namespace jointer::views
