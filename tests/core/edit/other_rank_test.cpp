// A recipe that was made on one rank of a program, replayed on another.

#include "core/edit/other_rank.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/base/json_text.h"
#include "core/capture/native_reader.h"
#include "core/capture/native_writer.h"
#include "core/edit/difference.h"
#include "core/edit/replay.h"
#include "core/graph/canonical.h"
#include "tests/support/graphs.h"
#include "tests/support/records.h"
#include "tests/support/slow.h"

namespace jointer::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

const PartId kPart{std::size_t{0}};

// A rank of a vocab-parallel embedding. Ranks differ in their first index, the names of their
// groups, and their device.
std::string program(int rank) {
  return fmt::format(R"(
    device cuda:{0}
    group tp{0}: 0 1
    group dp{0}: 0 2
    x: f32[4,8] = input
    a: f32[4,8] = aten.relu(x)
    b: f32[4,8] = aten.sub.Tensor(a, {1})
    c: f32[4,8] = aten.mul.Tensor(b, 0.5)
    r: f32[4,8] = _c10d_functional.all_reduce(b, 'sum', 'tp{0}')
    w: f32[4,8] = _c10d_functional.wait_tensor(r)
    s: f32[4,8] = _c10d_functional.all_reduce(c, 'sum', 'dp{0}')
    v: f32[4,8] = _c10d_functional.wait_tensor(s)
    return [w, v])",
                     rank, 128 * rank);
}

Graph rank(int index) {
  return parse(program(index));
}

Graph changed(std::string_view from, std::string_view to) {
  std::string text = program(1);
  text.replace(text.find(from), from.size(), to);
  return parse(text);
}

using Program = Graph (*)(int rank);

Recipe recipe_of(std::vector<Change> changes, Program program_of = rank) {
  const Graph before = program_of(0);
  Graph after = before;
  std::vector<Edit> edits{{.title = "edit", .changes = std::move(changes)}};
  const auto applied = apply(after, edits.front());
  EXPECT_TRUE(applied) << applied.error().message;
  const Recipe made = make_recipe(before, after, std::move(edits), "of rank 0");
  const auto read = read_recipe(write_recipe(made));
  EXPECT_TRUE(read) << read.error().message;
  EXPECT_EQ(write_recipe(*read), write_recipe(made));
  return *read;
}

InsertNode insert(std::string_view name, std::string_view call, std::string before) {
  return insert_of(fmt::format(R"({{"name":"{}",{},
            "val":{{"t":{{"shape":[4,8],"dtype":"float32","device":"cuda:0"}}}}}})",
                               name, call),
                   std::move(before));
}

ReplaceCall inputs(std::string node, std::string from, std::string to) {
  return {.node = std::move(node), .inputs = {{std::move(from), std::move(to)}}};
}

ReplaceCall args(std::string node, std::string_view json) {
  return {.node = std::move(node), .args = args_of(json)};
}

std::string call_in(const Graph& graph, std::string_view name) {
  return canonical_call(graph, graph.find(name));
}

// Replays the recipe on rank 1, which must work as well as on rank 0.
Graph on_rank_1(const Recipe& recipe, Program program_of = rank) {
  Graph graph = program_of(1);
  const auto done = replay(graph, recipe);
  EXPECT_TRUE(done) << done.error().message;
  if (!done) return graph;
  EXPECT_EQ(
      done->other_rank,
      "the graph differs from the recorded one only in rank-specific constants, first at node "
      "2, b");
  EXPECT_EQ(done->ends_as_recorded, true);
  return graph;
}

TEST(RankHash, CoversWhatIsTheSameOnEveryRank) {
  EXPECT_EQ(rank_text(rank(1), kPart), R"(x x() -> float32[4,8]
a aten.relu.default(%x) -> float32[4,8]
b aten.sub.Tensor(%a,#) -> float32[4,8]
c aten.mul.Tensor(%b,f3fe0000000000000) -> float32[4,8]
r _c10d_functional.all_reduce.default(%b,"sum",group:0) -> float32[4,8]
w _c10d_functional.wait_tensor.default(%r) -> float32[4,8]
s _c10d_functional.all_reduce.default(%c,"sum",group:1) -> float32[4,8]
v _c10d_functional.wait_tensor.default(%s) -> float32[4,8]
output output([%w,%v]) -> None
)");
  EXPECT_NE(graph_hash(rank(0)), graph_hash(rank(1)));
  EXPECT_EQ(rank_hash(rank(0), kPart), rank_hash(rank(1), kPart));
}

TEST(RankHash, DistinguishesPrograms) {
  const std::string hash = rank_hash(rank(0), kPart);
  const auto differs = [&](std::string_view from, std::string_view to) {
    return rank_hash(changed(from, to), kPart) != hash;
  };
  EXPECT_FALSE(differs("(a, 128)", "(a, -7)"));
  EXPECT_TRUE(differs("(a, 128)", "(x, 128)")) << "an edge";
  EXPECT_TRUE(differs("(a, 128)", "(a, 128.0)")) << "an integer is not a float";
  EXPECT_TRUE(differs("(a, 128)", "(a, True)")) << "nor a Boolean";
  EXPECT_TRUE(differs("0.5", "0.25")) << "a float";
  EXPECT_TRUE(differs("c: f32[4,8]", "c: bf16[4,8]")) << "a dtype";
  EXPECT_TRUE(differs("c: f32[4,8]", "c: f32[8,4]")) << "a shape";
  EXPECT_TRUE(differs("mul.Tensor", "div.Tensor")) << "an operator";
  EXPECT_TRUE(differs("'sum'", "'avg'")) << "another string";
  EXPECT_TRUE(differs("'dp1'", "'tp1'")) << "which collectives share a group";
}

TEST(OtherRank, MovesAndTagsApply) {
  const Recipe recipe = recipe_of(
      {MoveNodes{{"s"}, "w"}, SetPolicy{.select = "b", .policy = MemoryPolicy::must_save}});
  EXPECT_THAT(recipe.graphs.front().groups, IsEmpty()) << "nothing names one";
  const Graph graph = on_rank_1(recipe);
  EXPECT_LT(graph.position(graph.find("s")), graph.position(graph.find("w")));
  EXPECT_EQ(node(graph, "b").policy, MemoryPolicy::must_save);
}

TEST(OtherRank, InsertedCallsGetItsGroupsDevicesAndConstants) {
  const Recipe recipe =
      recipe_of({insert("again", R"("copy":"b","inputs":{"a":"x"},"like":"b")", "r"),
                 inputs("r", "b", "again"),
                 insert("e", R"("target":"aten.empty.memory_format","args":[[4,8]],
                      "kwargs":{"device":{"device":"cuda:0"}})",
                        "w"),
                 insert("t", R"("target":"_c10d_functional.all_reduce.default",
                      "args":[{"n":"e"},"sum","tp0"])",
                        "w"),
                 insert("d", R"("target":"_c10d_functional.all_reduce.default",
                      "args":[{"n":"t"}],"kwargs":{"reduce_op":"tp0","group_name":"dp0_extra_2"})",
                        "w")});
  EXPECT_THAT(recipe.graphs.front().groups, ElementsAre(Pair("dp0", "s"), Pair("tp0", "r")));
  EXPECT_THAT(recipe.graphs.front().devices, ElementsAre(Pair("cuda:0", "x")));
  const Graph graph = on_rank_1(recipe);
  EXPECT_EQ(call_in(graph, "again"), "aten.sub.Tensor(%x,128) -> float32[4,8]");
  EXPECT_EQ(call_in(graph, "e"),
            "aten.empty.memory_format([4,8],device=device:cuda:1) -> float32[4,8]");
  EXPECT_EQ(call_in(graph, "t"),
            R"(_c10d_functional.all_reduce.default(%e,"sum","tp1") -> float32[4,8])");
  EXPECT_EQ(call_in(graph, "d"),
            R"(_c10d_functional.all_reduce.default(%t,group_name="dp1_extra_2",reduce_op="tp0"))"
            " -> float32[4,8]")
      << "a suffix makes a twin; only the argument of the group is one";
  for (const char* name : {"again", "e", "t", "d"}) {
    const Tensor& tensor = graph.tensors(graph.find(name)).front();
    EXPECT_EQ(graph.text(graph.device(tensor.device).name), "cuda:1") << name;
  }
  EXPECT_THAT(write_native(graph), Not(HasSubstr("cuda:0")));
}

TEST(OtherRank, ReplacedCallsGetItsGroups) {
  const Graph graph = on_rank_1(recipe_of({args("s", R"([{"n":"c"},"sum","dp0_extra"])")}));
  EXPECT_EQ(call_in(graph, "s"),
            R"(_c10d_functional.all_reduce.default(%c,"sum","dp1_extra") -> float32[4,8])");
}

TEST(OtherRank, EditsThatUndoThemselvesHaveItsNames) {
  const Recipe recipe = recipe_of({args("s", R"([{"n":"c"},"sum","dp0_extra"])")});
  Graph graph = rank(1);
  const std::string before = write_native(graph);
  const auto done = replay(graph, recipe);
  ASSERT_TRUE(done) << done.error().message;
  Graph again = rank(1);
  ASSERT_TRUE(apply(again, done->done.front()));
  EXPECT_EQ(graph_hash(again), graph_hash(graph));
  ASSERT_TRUE(apply(graph, done->inverses.front()));
  EXPECT_EQ(graph_hash(graph), graph_hash(rank(1)));
}

// Replays a recipe that rank 1 must refuse, and that it skips in lenient mode.
std::string refusal(const Recipe& recipe, Program program_of = rank) {
  Graph graph = program_of(1);
  const std::string before = write_native(graph);
  const auto done = replay(graph, recipe);
  EXPECT_FALSE(done);
  EXPECT_EQ(write_native(graph), before);
  const auto lenient = replay(graph, recipe, true);
  EXPECT_TRUE(lenient);
  if (done || !lenient) return {};
  EXPECT_THAT(lenient->skipped, SizeIs(1));
  EXPECT_THAT(done.error().message, HasSubstr(lenient->skipped.front().why));
  EXPECT_EQ(write_native(graph), before);
  EXPECT_EQ(lenient->ends_as_recorded, false);
  return done.error().message;
}

TEST(OtherRank, ItsConstantsAreNotOverwritten) {
  EXPECT_EQ(refusal(recipe_of({args("b", R"([{"n":"x"},0])")})),
            "edit 0 (edit): b has rank-specific constants, (%a,128): the recipe would overwrite "
            "them with those of another rank");
  // Its inputs alone, its value or its operator may change.
  const Graph graph = on_rank_1(
      recipe_of({inputs("b", "a", "x"), ReplaceCall{.node = "b", .target = "aten.add.Tensor"}}));
  EXPECT_EQ(call_in(graph, "b"), "aten.add.Tensor(%x,128) -> float32[4,8]");
}

TEST(OtherRank, CopiesKeepTheirConstants) {
  EXPECT_EQ(
      refusal(recipe_of(
          {insert("again", R"("copy":"b","like":"b")", "r"), args("again", R"([{"n":"x"},0])")})),
      "edit 0 (edit): again has rank-specific constants, (%a,128): the recipe would overwrite them "
      "with those of another rank");
}

TEST(OtherRank, ConstantsOfAnotherRankAreNotInserted) {
  EXPECT_EQ(refusal(recipe_of({insert(
                "again", R"("target":"aten.sub.Tensor","args":[{"n":"x"},0],"like":"b")", "r")})),
            "edit 0 (edit): again would get the constants of another rank: b, its origin, "
            "has (%a,128) on this rank");
  EXPECT_EQ(
      refusal(recipe_of({insert("again", R"("target":"aten.add.Tensor","args":[{"n":"a"},0])", "c"),
                         inputs("r", "b", "again"), inputs("c", "b", "again"), RemoveNode{"b"}})),
      "edit 0 (edit): again may get the constants of another rank: the edit removes a node "
      "whose constants differ on this rank");
  // Without integers, or made from another node.
  on_rank_1(recipe_of(
      {insert("f", R"("target":"aten.neg.default","args":[{"n":"b"}],"like":"b")", "r"),
       insert("g", R"("target":"aten.add.Tensor","args":[{"n":"a"},7],"like":"a")", "r")}));
}

TEST(OtherRank, UnknownGroupsAreRefused) {
  EXPECT_EQ(refusal(recipe_of({args("s", R"([{"n":"c"},"sum","world"])")})),
            "edit 0 (edit): s: no recorded node communicates in the process group world, so its "
            "name on this rank is unknown");
  EXPECT_THAT(refusal(recipe_of({insert("e", R"("target":"aten.empty.memory_format",
                          "args":[[4,8]],"kwargs":{"device":{"device":"cuda:5"}})",
                                        "w")})),
              HasSubstr("e: no recorded node is on the device cuda:5"));
}

TEST(OtherRank, AnotherProgramIsRefused) {
  const Recipe recipe = recipe_of({MoveNodes{{"s"}, "w"}});
  for (const auto& [from, to] : std::vector<std::pair<std::string_view, std::string_view>>{
           {"(a, 128)", "(x, 128)"}, {"0.5", "0.25"}, {"c: f32[4,8]", "c: bf16[4,8]"}}) {
    Graph graph = changed(from, to);
    const auto done = replay(graph, recipe);
    ASSERT_FALSE(done) << from;
    EXPECT_THAT(done.error().message,
                HasSubstr("the recipe was made for another graph: node 2, b"));
  }
}

// Recipes of older versions do not record what another rank needs.
TEST(OtherRank, OlderRecipesAreForOneRank) {
  Recipe recipe = recipe_of({args("s", R"([{"n":"c"},"sum","dp0_extra"])")});
  recipe.graphs.front().rank_hash.clear();
  Graph graph = rank(1);
  EXPECT_FALSE(replay(graph, recipe));
  const auto lenient = replay(graph, recipe, true);
  ASSERT_TRUE(lenient);
  EXPECT_EQ(lenient->other_rank, "");
  EXPECT_THAT(call_in(graph, "s"), HasSubstr("dp0_extra"));
}

TEST(OtherRank, WithoutExpectationsOrFingerprintNothingIsOverwritten) {
  Recipe recipe = recipe_of({args("s", R"([{"n":"c"},"sum","dp0_extra"])")});
  recipe.expects.clear();
  on_rank_1(recipe);  // the fingerprint tells that `s` has no other constants
  recipe.graphs.front().fingerprint.clear();
  Graph graph = rank(1);
  const auto done = replay(graph, recipe);
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, HasSubstr("s has rank-specific constants"));
}

TEST(OtherRank, OnTheSameRankNothingChanges) {
  const Recipe recipe = recipe_of({args("b", R"([{"n":"x"},0])")});
  Graph graph = rank(0);
  const auto done = replay(graph, recipe);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->other_rank, "");
  EXPECT_EQ(done->ends_as_recorded, true);
  EXPECT_EQ(done->done, recipe.edits);
}

// A rank with a constant that could be folded into the next call, twice, and a view of its part.
Graph shard(int rank) {
  const Graph graph = parse(fmt::format(R"(
    x: f32[4,8] = input
    a: f32[4,8] = aten.relu(x)
    b: f32[4,8] = aten.sub.Tensor(a, {0})
    d: f32[4,8] = aten.add.Tensor(b, 7)
    b_1: f32[4,8] = aten.sub.Tensor(a, {0})
    d_1: f32[4,8] = aten.add.Tensor(b_1, 7)
    e: f32[4,8] = aten.mul.Tensor(d, d_1)
    v: f32[2,8] = aten.slice.Tensor(x, 0, {1}, {2})
    w: f32[2,8] = aten.relu(v)
    return [e, w])",
                                        128 * rank, 2 * rank, 2 * rank + 2));
  auto json = parse_json(write_native(graph), "shard");
  for (OrderedJson& node : json.value()["nodes"])
    if (node["name"] == "v") {
      node["val"]["t"]["stride"] = {8, 1};
      node["val"]["t"]["offset"] = 16 * rank;
    }
  return read_native("shard", PaddedBytes(write_json(*json))).value();
}

std::string refused(std::vector<Change> changes) {
  return refusal(recipe_of(std::move(changes), shard), shard);
}

Graph accepted(std::vector<Change> changes) {
  return on_rank_1(recipe_of(std::move(changes), shard), shard);
}

TEST(OtherRank, ItsConstantsAreNotLost) {
  constexpr std::string_view kLost =
      "edit 0 (edit): b has rank-specific constants, (%a,128): the edit removes it without "
      "saying which node gets them";
  EXPECT_EQ(refused({args("d", R"([{"n":"a"},7])"), RemoveNode{"b"}}), kLost) << "folded";
  EXPECT_EQ(refused({inputs("d", "b", "a"), RemoveNode{"b"}}), kLost) << "left out";
  EXPECT_EQ(refused({inputs("d", "b", "a"), RemoveNode{"forward:b"}}).substr(0, 23),
            "edit 0 (edit): forward:")
      << "by a different name";
  EXPECT_EQ(
      refused({insert("f", R"("target":"aten.add.Tensor","args":[{"n":"a"},7],"like":"d")", "e"),
               inputs("e", "d", "f"), RemoveNode{"d"}, RemoveNode{"b"}}),
      kLost)
      << "with its reader";
  EXPECT_EQ(refused({insert("c", R"("copy":"b")", "d"), inputs("d", "b", "a"), RemoveNode{"c"},
                     RemoveNode{"b"}}),
            kLost)
      << "the copy too";
}

TEST(OtherRank, RemovedNodesMayHaveACopyOrAnEqualNode) {
  const Graph copied = accepted({insert("c", R"("copy":"b","inputs":{"a":"x"})", "d"),
                                 inputs("d", "b", "c"), RemoveNode{"b"}});
  EXPECT_EQ(call_in(copied, "c"), "aten.sub.Tensor(%x,128) -> float32[4,8]");
  accepted({inputs("e", "d_1", "d"), RemoveNode{"d_1"}, RemoveNode{"b_1"}});
  accepted({inputs("d_1", "b_1", "b"), RemoveNode{"b_1"}});
  // Nothing that stays depends on it.
  const Recipe twice = [] {
    const Graph before = shard(0);
    Graph after = before;
    std::vector<Edit> edits{{.title = "use b", .changes = {inputs("d_1", "b_1", "b")}},
                            {.title = "clean up", .changes = {RemoveNode{"b_1"}}}};
    for (const Edit& edit : edits) EXPECT_TRUE(apply(after, edit));
    return make_recipe(before, after, std::move(edits), "twice");
  }();
  on_rank_1(twice, shard);
}

// Two equal chains that begin at a constant of the rank; the end of the second one is `n`.
Graph chains(int rank) {
  constexpr int kLength = 100'000;
  std::string text = "x: f32[4] = input\n";
  for (const char chain : {'m', 'n'}) {
    fmt::format_to(std::back_inserter(text), "{}0: f32[4] = aten.sub.Tensor(x, {})\n", chain, rank);
    for (int i = 1; i < kLength; ++i)
      fmt::format_to(std::back_inserter(text), "{0}{1}: f32[4] = aten.neg({0}{2})\n", chain, i,
                     i - 1);
  }
  fmt::format_to(std::back_inserter(text), "e: f32[4] = aten.mul(m{0}, n{0})\nreturn [e]",
                 kLength - 1);
  return parse(text);
}

TEST(OtherRank, LongEqualChainsMayBeMerged) {
  JOINTER_SLOW_TEST();
  const Graph graph = chains(0);
  const NodeId reader = graph.find("e");
  std::vector<NodeId> removed;
  for (NodeId id = graph.inputs(reader)[1]; graph.name(id).starts_with('n');
       id = graph.inputs(id).front())
    removed.push_back(id);
  std::vector<Change> changes{inputs("e", std::string(graph.name(graph.inputs(reader)[1])),
                                     std::string(graph.name(graph.inputs(reader)[0])))};
  for (const NodeId id : removed) changes.emplace_back(RemoveNode{std::string(graph.name(id))});
  std::vector<Edit> edits{{.title = "edit", .changes = std::move(changes)}};
  Graph after = graph;
  ASSERT_TRUE(apply(after, edits.front()));
  Graph other = chains(1);
  const auto done = replay(other, make_recipe(graph, after, std::move(edits), "of rank 0"));
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_NE(done->other_rank, "");
  EXPECT_EQ(other.order().size(), graph.order().size() - removed.size());
}

// The names of a recipe's edits decide by their full calls, not by the fingerprint.
TEST(OtherRank, RecipesExpectTheModelsOfInsertions) {
  const Recipe recipe = recipe_of(
      {insert("f", R"("target":"aten.neg.default","args":[{"n":"b"}],"like":"b")", "d")}, shard);
  EXPECT_EQ(recipe.expects.at("b"), "aten.sub.Tensor(%a,0) -> float32[4,8]");
}

TEST(OtherRank, CopiedViewsHaveTheirOffset) {
  const Graph graph =
      accepted({insert_of(R"({"name":"u","copy":"v","like":"v","val":{"t":{"shape":[2,8],
      "dtype":"float32","device":"cuda:0","stride":[8,1],"offset":0,"storage":{"of":"x"}}}})",
                          "w")});
  EXPECT_EQ(graph.offset(graph.tensors(graph.find("u")).front()).value, 16);
}

TEST(OtherRank, DifferencesCopyEqualCalls) {
  const auto with = [](int constant, std::string_view more) {
    return parse(
        fmt::format("x: f32[4] = input\nb: f32[4] = aten.sub.Tensor(x, {})\n{}", constant, more));
  };
  const Graph before = with(0, "d: f32[4] = aten.neg(b)\nreturn [d]");
  const Graph after =
      with(0, "c: f32[4] = aten.sub.Tensor(x, 0)\nd: f32[4] = aten.neg(c)\nreturn [d]");
  const auto edit = difference(before, after);
  ASSERT_TRUE(edit) << edit.error().message;
  const Recipe recipe = make_recipe(before, after, {*edit}, "again");
  Graph other = with(128, "d: f32[4] = aten.neg(b)\nreturn [d]");
  const auto done = replay(other, recipe);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(call_in(other, "c"), "aten.sub.Tensor(%x,128) -> float32[4]");
}

// The hash does not cover the devices of values.
TEST(OtherRank, RanksWithEqualGraphsHaveTheirNames) {
  const auto on = [](int rank) {
    return parse(fmt::format(
        "device cuda:{}\nx: f32[4,8] = input\na: f32[4,8] = aten.relu(x)\nreturn [a]", rank));
  };
  const Graph before = on(0);
  Graph after = before;
  const Edit edit{.title = "edit",
                  .changes = {insert("e", R"("target":"aten.empty.memory_format","args":[[4,8]],
                              "kwargs":{"device":{"device":"cuda:0"}})",
                                     "a")}};
  ASSERT_TRUE(apply(after, edit));
  const Recipe recipe = make_recipe(before, after, {edit}, "of rank 0");
  Graph graph = on(3);
  const auto done = replay(graph, recipe);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->other_rank, "");
  EXPECT_EQ(call_in(graph, "e"),
            "aten.empty.memory_format([4,8],device=device:cuda:3) -> float32[4,8]");
  EXPECT_EQ(done->ends_as_recorded, true);
}

TEST(OtherRank, WithoutTheEndOfTheFingerprintNothingIsOverwritten) {
  Recipe recipe = recipe_of({args("s", R"([{"n":"c"},"sum","dp0_extra"])")});
  recipe.expects.clear();
  recipe.graphs.front().fingerprint.resize(16);
  Graph graph = rank(1);
  const auto done = replay(graph, recipe);
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, HasSubstr("s has rank-specific constants"));
}

// A pair; only its backward has the nodes `b` and `d`.
Graph pair(int rank) {
  const Graph forward =
      parse("kind forward\nx: f32[4,8] = input\nf: f32[4,8] = aten.sub.Tensor(x, 0)\nreturn [f]");
  std::string text(write_native(forward));
  text.replace(text.find("[{\"n\":\"x\"},0]"), 13, fmt::format("[{{\"n\":\"x\"}},{}]", 64 * rank));
  const Graph backward = parse(
      fmt::format("kind backward\ny: f32[4,8] = tangent\nb: f32[4,8] = aten.sub.Tensor(y, {})\n"
                  "d: f32[4,8] = aten.add.Tensor(b, 7)\nreturn [d]",
                  128 * rank));
  return read_native("pair", PaddedBytes(fmt::format(
                                 R"({{"format":"jointer-capture","version":1,"kind":"pair",
      "name":"p","forward":{},"backward":{}}})",
                                 text, write_native(backward))))
      .value();
}

TEST(OtherRank, NamesInPairsMayLackTheHalf) {
  const auto refused_in_pair = [](std::vector<Change> changes) {
    return refusal(recipe_of(std::move(changes), pair), pair);
  };
  constexpr std::string_view kOverwrite = "would overwrite them with those of another rank";
  EXPECT_THAT(refused_in_pair({args("forward:f", R"([{"n":"x"},0])")}), HasSubstr(kOverwrite));
  EXPECT_THAT(refused_in_pair({args("backward:b", R"([{"n":"y"},0])")}), HasSubstr(kOverwrite));
  EXPECT_THAT(refused_in_pair({args("b", R"([{"n":"y"},0])")}), HasSubstr(kOverwrite));
  EXPECT_THAT(refused_in_pair({inputs("d", "b", "y"), RemoveNode{"b"}}),
              HasSubstr("the edit removes it"));
  EXPECT_THAT(refused_in_pair({insert("c", R"("copy":"b")", "d"), args("c", R"([{"n":"y"},0])")}),
              HasSubstr(kOverwrite));
}

}  // namespace
}  // namespace jointer::test
