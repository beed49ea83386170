#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/capture/native_writer.h"
#include "core/edit/difference.h"
#include "core/edit/replay.h"
#include "core/graph/canonical.h"
#include "tests/support/graphs.h"
#include "tests/support/processor_time.h"
#include "tests/support/records.h"
#include "tests/support/sanitized.h"

namespace jointer::test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::string_view kStep = R"(
  x: f32[4,8] = input
  a: f32[4,8] = aten.relu(x)
  b: f32[4,8] = aten.silu(x)  {layers.0.mlp}
  c: f32[4,8] = aten.add.Tensor(a, b)
  return [c]
)";

std::vector<Edit> edits() {
  return {{.title = "Move b", .changes = {MoveNodes{{"b"}, "a"}}, .notes = {"Nothing to carry."}},
          {.title = "Save",
           .by = "apply_sac{save=[aten.silu]}",
           .changes = {SetPolicy{"layers.*::aten.silu", MemoryPolicy::must_save},
                       SetPolicy{"a", MemoryPolicy::none}}}};
}

Recipe recipe_of(const Graph& before, std::vector<Edit> made) {
  Graph after = before;
  for (const Edit& edit : made) EXPECT_TRUE(apply(after, edit));
  return make_recipe(before, after, std::move(made), "by hand");
}

TEST(Recipe, IsReadable) {
  const Graph graph = parse(kStep);
  const Recipe recipe = recipe_of(graph, edits());
  Graph after = graph;
  ASSERT_TRUE(apply(after, recipe.edits.front()));
  EXPECT_EQ(write_recipe(recipe),
            fmt::format(R"({{
  "format": "jointer-recipe",
  "version": 1,
  "name": "by hand",
  "graphs": {{
    "graph": {{
      "nodes": 5,
      "hash": "{}",
      "after": "{}",
      "rank_hash": "{}",
      "rank_after": "{}"
    }}
  }},
  "edits": [
    {{
      "title": "Move b",
      "notes": ["Nothing to carry."],
      "changes": [
        {{"move": ["b"], "before": "a"}}
      ]
    }},
    {{
      "title": "Save",
      "by": "apply_sac{{save=[aten.silu]}}",
      "changes": [
        {{"policy": "MUST_SAVE", "select": "layers.*::aten.silu"}},
        {{"policy": null, "select": "a"}}
      ]
    }}
  ],
  "expects": {{
    "a": "aten.relu.default(%x) -> float32[4,8]",
    "b": "aten.silu.default(%x) -> float32[4,8]"
  }},
  "fingerprints": {{
    "graph": ["{}"]
  }}
}}
)",
                        graph_hash(graph), graph_hash(after), rank_hash(graph, PartId(0)),
                        rank_hash(after, PartId(0)), recipe.graphs.front().fingerprint));
}

TEST(Recipe, AListOfNodesWithARegionIsReadable) {
  const Graph graph = parse(kStep);
  SetPolicy set{.policy = MemoryPolicy::must_recompute,
                .region = {.kind = RegionChange::Kind::set, .id = 100000},
                .nodes = {"a", "b"}};
  const std::vector<Edit> made{
      {.title = "tags",
       .changes = {set, SetPolicy{.select = "a", .region = {.kind = RegionChange::Kind::remove}}}}};
  const Recipe recipe = recipe_of(graph, made);
  const std::string text = write_recipe(recipe);
  EXPECT_THAT(
      text,
      HasSubstr(R"({"policy": "MUST_RECOMPUTE", "select": ["a", "b"], "ac_graph_id": 100000})"));
  EXPECT_THAT(text, HasSubstr(R"({"policy": null, "select": "a", "ac_graph_id": null})"));
  // Only the operator of a listed node is kept.
  EXPECT_THAT(text, HasSubstr(R"("b": "aten.silu.default")"));
  const auto again = read_recipe(text);
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, recipe);

  set.nodes.clear();
  for (int i = 0; i < 40; ++i) set.nodes.push_back(fmt::format("some_node_{}", i));
  Edit edit = made[0];
  edit.changes = {set};
  const std::string filled = write_recipe({.edits = {edit}});
  EXPECT_THAT(filled, HasSubstr(R"(
          "select": [
            "some_node_0", "some_node_1", "some_node_2", "some_node_3", "some_node_4",
            "some_node_5")"));
  EXPECT_EQ(read_recipe(filled)->edits[0], edit);
}

TEST(Recipe, ContainsDecisionsOfPasses) {
  std::vector<Edit> made = edits();
  made[1].decisions = {
      {.node = "b", .action = "saved", .reason = "In the list.", .effect = "policy MUST_SAVE"},
      {.action = "kept", .reason = "Nothing else fits."}};
  const Graph graph = parse(kStep);
  const Recipe recipe = recipe_of(graph, made);
  const std::string text = write_recipe(recipe);
  EXPECT_THAT(text, HasSubstr(R"(
      "decisions": [
        {"node": "b", "action": "saved", "reason": "In the list.", "effect": "policy MUST_SAVE"},
        {"action": "kept", "reason": "Nothing else fits."}
      ])"));
  const auto again = read_recipe(text);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, recipe);
  EXPECT_EQ(*read_edit_tree(json_of(made[1])), made[1]) << "the form in workspaces and journals";
  Graph replayed = graph;
  const auto done = replay(replayed, *again);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->done[1].decisions, made[1].decisions);
  // Members that a newer version may have.
  const auto newer = read_edit_tree(*parse_json(
      R"({"changes": [], "decisions": [{"action": "moved", "score": 0.5, "node": "a"}]})", "edit"));
  ASSERT_TRUE(newer) << newer.error().message;
  EXPECT_THAT(write_json(json_of(*newer)), HasSubstr(R"("score":0.5)"));
  EXPECT_THAT(
      read_edit_tree(*parse_json(R"({"changes": [], "decisions": [{"node": "a"}]})", "edit"))
          .error()
          .message,
      HasSubstr("edit, decision 0: `action` is missing"));
  EXPECT_THAT(
      read_edit_tree(*parse_json(R"({"changes": [], "decisions": 3})", "edit")).error().message,
      HasSubstr("`decisions`: expected a list"));
}

TEST(Recipe, KeepsUnknownMembers) {
  const std::string text = R"({
    "format": "jointer-recipe", "version": 1, "made_by": {"tool": "x"},
    "graphs": {"graph": {"hash": "00", "rank": 3}},
    "edits": [{"title": "t", "color": "red",
               "changes": [{"remove": "a", "why": [1, 2.5, 12345678901234567890]}]}]
  })";
  const auto recipe = read_recipe(text);
  ASSERT_TRUE(recipe) << recipe.error().message;
  const std::string written = write_recipe(*recipe);
  for (const char* kept : {"made_by", "rank", "color", "why", "12345678901234567890"})
    EXPECT_THAT(written, HasSubstr(kept));
  const auto again = read_recipe(written);
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, *recipe);
}

// Solving again is an edit without changes; `by` records who requested it.
TEST(Recipe, KeepsAnEditWithoutChanges) {
  const Graph graph = parse(kStep);
  std::vector<Edit> made = edits();
  made.push_back({.title = "Solve again", .by = "min_cut_partition{activation_budget=0.5}"});
  made.push_back(edits().back());
  const Recipe recipe = recipe_of(graph, made);
  const auto read = read_recipe(write_recipe(recipe));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->edits, made);
  EXPECT_EQ(write_recipe(*read), write_recipe(recipe));
  Graph replayed = graph;
  const auto done = replay(replayed, *read);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_TRUE(done->ends_as_recorded);
  EXPECT_THAT(done->skipped, IsEmpty());
}

// A rank of a vocab-parallel embedding. It subtracts the rank's first index, and its group has a
// rank-specific name.
Graph embedding_rank(int index, std::string_view op = "sub") {
  return parse(fmt::format(R"(
    group tp{0}: 0 1
    x: f32[4,8] = input
    a: f32[4,8] = aten.relu(x)
    b: f32[4,8] = aten.{2}.Tensor(a, {1})
    c: f32[4,8] = aten.neg(b)
    r: f32[4,8] = _c10d_functional.all_reduce(b, 'sum', 'tp{0}')
    w: f32[4,8] = _c10d_functional.wait_tensor(r)
    return [w, c])",
                           index, 128 * index, op));
}

TEST(Replay, ACopyHasTheConstantsOfARank) {
  const Graph first = embedding_rank(0);
  Graph wanted = first;
  const std::vector<Change> changes{
      insert_of(R"({"name":"again","copy":"b","inputs":{"a":"x"},"like":"b",
        "val":{"t":{"shape":[4,8],"dtype":"float32"}}})",
                "c"),
      ReplaceCall{.node = "c", .inputs = {{"b", "again"}}}};
  const Edit edit{.title = "copy", .changes = changes};
  ASSERT_TRUE(apply(wanted, edit));
  const auto found = difference(first, wanted);
  ASSERT_TRUE(found) << found.error().message;
  for (const Edit& each : {edit, *found}) {
    const std::string text = write_recipe({.edits = {each}});
    EXPECT_THAT(text, HasSubstr(R"("copy": "b")"));
    const auto read = read_recipe(text);
    ASSERT_TRUE(read) << read.error().message;
    Graph same = first, other = embedding_rank(1);
    ASSERT_TRUE(replay(same, *read));
    EXPECT_EQ(graph_hash(same), graph_hash(wanted));
    ASSERT_TRUE(replay(other, *read));
    EXPECT_EQ(canonical_call(other, other.find("again")),
              "aten.sub.Tensor(%x,128) -> float32[4,8]");
  }
}

TEST(Replay, LenientSkipsACopyOfAnotherOperator) {
  const Graph first = embedding_rank(0);
  const InsertNode insert = insert_of(R"({"name":"again","copy":"b","like":"b",
        "val":{"t":{"shape":[4,8],"dtype":"float32"}}})",
                                      "c");
  const Recipe made = recipe_of(first, {{.title = "copy", .changes = {insert}}});
  EXPECT_EQ(made.expects.at("b"), "aten.sub.Tensor(%a,0) -> float32[4,8]");
  Graph other = embedding_rank(0, "mul");
  const auto done = replay(other, made, true);
  ASSERT_TRUE(done) << done.error().message;
  ASSERT_THAT(done->skipped, SizeIs(1));
  EXPECT_EQ(done->skipped[0].why,
            "b calls aten.mul.Tensor here, but aten.sub.Tensor in the recorded graph");
  EXPECT_FALSE(other.find("again"));
}

// In a pair, a copied node is in the half in which it is inserted.
TEST(Recipe, ACopiedNodeIsInTheHalfOfItsPosition) {
  const auto copied = [](std::string before) {
    return InsertNode{.node = NodeRecord{.copy = "b"}, .before = std::move(before)}.copied();
  };
  EXPECT_EQ(copied("c"), "b");
  EXPECT_EQ(copied("backward:c"), "backward:b");
  EXPECT_EQ(copied("forward:c"), "forward:b");
  EXPECT_EQ(copied("backward::c"), "b");
  EXPECT_EQ((InsertNode{.before = "backward:c"}.copied()), "");
}

// Older readers ignore `inputs` and `copy`, so they must refuse such recipes.
TEST(Recipe, OnlyInputsAndCopiesNeedVersionTwo) {
  const auto version = [](const Change& change) {
    const std::string text =
        write_recipe({.edits = {{.title = "e", .changes = {RemoveNode{"z"}, change}}}});
    EXPECT_TRUE(read_recipe(text)) << text;
    return text.substr(text.find("\"version\""), 12);
  };
  ReplaceCall inputs{.node = "a", .inputs = {{"x", "y"}}};
  ReplaceCall custom{.node = "a"};
  custom.custom = R"({"inputs":1})";
  EXPECT_EQ(version(custom), "\"version\": 1");
  EXPECT_EQ(version(inputs), "\"version\": 2");
  EXPECT_EQ(version(insert_of(R"({"name":"a","target":"copy"})", "b")), "\"version\": 1");
  EXPECT_EQ(version(insert_of(R"({"name":"a","copy":"c"})", "b")), "\"version\": 2");
  EXPECT_EQ(version(MoveNodes{{"a"}, "b"}), "\"version\": 1");
}

TEST(Replay, InputsLeaveTheConstantsOfARank) {
  const Graph first = embedding_rank(0);
  Graph wanted = first;
  const std::vector<Change> changes{
      insert_of(R"({"name":"copy","target":"aten.clone.default","args":[{"n":"a"}],"like":"a",
        "val":{"t":{"shape":[4,8],"dtype":"float32"}}})",
                "b"),
      ReplaceCall{.node = "b", .inputs = {{"a", "copy"}}},
      ReplaceCall{.node = "r", .inputs = {{"b", "copy"}}}};
  const Recipe made = recipe_of(first, {{.title = "copy", .changes = changes}});
  ASSERT_TRUE(apply(wanted, made.edits.front()));
  const auto edit = difference(first, wanted);
  ASSERT_TRUE(edit) << edit.error().message;
  // By hand, and as the difference of two graphs.
  for (const Edit& each : {made.edits.front(), *edit}) {
    const std::string text = write_recipe({.edits = {each}});
    EXPECT_THAT(text, HasSubstr(R"({"replace": "b", "inputs": {"a": "copy"}})"));
    const auto read = read_recipe(text);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(write_json(json_of(read->edits.front())), write_json(json_of(each)));
    for (const bool lenient : {false, true}) {
      Graph other = embedding_rank(1);
      const auto done = replay(other, *read, lenient);
      ASSERT_TRUE(done) << done.error().message;
      EXPECT_THAT(done->skipped, IsEmpty());
      EXPECT_EQ(canonical_call(other, other.find("b")),
                "aten.sub.Tensor(%copy,128) -> float32[4,8]");
      EXPECT_THAT(canonical_call(other, other.find("r")),
                  HasSubstr("_c10d_functional.all_reduce.default(%copy,"));
      EXPECT_THAT(write_native(other), HasSubstr("\"sum\",\"tp1\"]"));
    }
  }
}

TEST(Recipe, ErrorsNameTheLocation) {
  const auto error_of = [](const std::string& edits,
                           const std::string& head = R"("format":"jointer-recipe","version":1)") {
    const auto recipe = read_recipe("{" + head + ",\"edits\":" + edits + "}");
    EXPECT_FALSE(recipe) << edits;
    return recipe ? std::string() : recipe.error().message;
  };
  EXPECT_THAT(error_of("[]", R"("version":1)"), HasSubstr("not a recipe"));
  EXPECT_THAT(
      error_of("[]", R"("format":"jointer-recipe","version":3)"),
      HasSubstr(
          "version 3 is not supported: this program reads versions 1 to 2; use a newer Jointer"));
  EXPECT_THAT(error_of("[]", R"("format":"jointer-recipe","version":0)"),
              HasSubstr("version 0 is not supported: this program reads versions 1 to 2"));
  EXPECT_THAT(error_of("3"), HasSubstr("`edits` is missing"));
  EXPECT_EQ(error_of("[{}]"), "edit 0: `changes`: expected a list");
  EXPECT_EQ(error_of(R"([{"changes":[{"move":["a"]}]}])"), "edit 0, change 0: `before` is missing");
  EXPECT_EQ(error_of(R"([{"changes":[]},{"changes":[{"move":"a","before":"b"}]}])"),
            "edit 1, change 0: `move`: expected a list of strings");
  EXPECT_THAT(error_of(R"([{"changes":[{"fuse":["a"]}]}])"), HasSubstr("use a newer Jointer"));
  EXPECT_EQ(
      error_of(R"([{"changes":[{"policy":"SAVE","select":"a"}]}])"),
      "edit 0, change 0: unknown policy `SAVE`; expected null or one of MUST_SAVE, PREFER_SAVE, "
      "PREFER_RECOMPUTE, MUST_RECOMPUTE, MUST_CPU_OFFLOAD");
  EXPECT_EQ(error_of(R"([{"changes":[{"policy":null,"select":[]}]}])"),
            "edit 0, change 0: `select`: expected at least one node");
  EXPECT_EQ(error_of(R"([{"changes":[{"policy":null,"select":"a","ac_graph_id":1.5}]}])"),
            "edit 0, change 0: `ac_graph_id`: expected an integer or null");
  EXPECT_EQ(error_of(R"([{"changes":[{"remove":"a","replace":"b"}]}])"),
            "edit 0, change 0: expected a single change");
  EXPECT_EQ(error_of(R"([{"changes":[{"replace":"a","args":{}}]}])"),
            "edit 0, change 0: `args`: expected a list");
  for (const char* inputs : {"{}", "3", "[\"a\"]"})
    EXPECT_EQ(error_of(fmt::format(R"([{{"changes":[{{"replace":"a","inputs":{}}}]}}])", inputs)),
              "edit 0, change 0: `inputs`: expected an object with a node name for each input");
  EXPECT_EQ(error_of(R"([{"changes":[{"replace":"a","inputs":{"b":1}}]}])"),
            "edit 0, change 0: `inputs`, b: expected a string");
  for (const char* other : {R"("args":[])", R"("kwargs":{})", R"("target":"aten.relu.default")"})
    EXPECT_THAT(error_of(fmt::format(
                    R"([{{"changes":[{{"replace":"a","inputs":{{"b":"c"}},{}}}]}}])", other)),
                HasSubstr("edit 0, change 0: `inputs` and `"));
  EXPECT_THAT(read_recipe("{\"format\":").error().message, HasSubstr("byte 11"));
  const std::string deep = std::string(5000, '[') + std::string(5000, ']');
  EXPECT_THAT(read_recipe(deep).error().message, HasSubstr("nested more than"));
}

// A recipe that edits many nodes expects a call of each.
TEST(Recipe, ReadingIsLinearInTheNodesOfExpects) {
  Recipe recipe;
  for (int i = 0; i < 100'000; ++i)
    recipe.expects.emplace(fmt::format("node_{}", i), "aten.add.Tensor(%a,%b) -> float32[4,8]");
  const std::string text = write_recipe(recipe);
  const double start = processor_ms();
  const auto read = read_recipe(text);
  const double took = processor_ms() - start;
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, recipe);
  RecordProperty("ms", fmt::format("{:.1f}", took));
#if defined(NDEBUG) && !JOINTER_IS_SANITIZED
  EXPECT_LT(took, 500);
#endif
}

TEST(Replay, RefusesAnotherGraphAndNamesTheFirstDifference) {
  const Graph graph = parse(kStep);
  const Recipe recipe = recipe_of(graph, edits());
  Graph other = parse(R"(
    x: f32[4,8] = input
    a: f32[4,8] = aten.tanh(x)
    b: f32[4,8] = aten.silu(x)  {layers.0.mlp}
    c: f32[4,8] = aten.add.Tensor(a, b)
    return [c]
  )");
  const std::string before = write_native(other);
  const auto refused = replay(other, recipe);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("node 1, a: the target differs"));
  EXPECT_THAT(refused.error().message,
              HasSubstr("the recorded call is aten.relu.default(%x) -> float32[4,8]"));
  EXPECT_EQ(write_native(other), before);

  const auto lenient = replay(other, recipe, true);
  ASSERT_TRUE(lenient) << lenient.error().message;
  ASSERT_THAT(lenient->skipped, SizeIs(2));  // the move before `a`, and its policy
  EXPECT_EQ(lenient->skipped[0].why,
            "a calls aten.tanh.default here, but aten.relu.default in the recorded graph");
  EXPECT_EQ(node(other, "b").policy, MemoryPolicy::must_save);
  EXPECT_EQ(lenient->ends_as_recorded, false);
  EXPECT_EQ(lenient->other_graph, refused.error().message);
  Graph same = graph;
  EXPECT_EQ(replay(same, recipe, true)->other_graph, "");
}

// Nothing in its edits identifies a graph, so the hash must.
TEST(Replay, ARecipeWithoutEditsAppliesOnlyToItsGraph) {
  const Graph graph = parse(kStep);
  const Edit solve{.title = "Solve again"};
  for (const std::vector<Edit>& made : {std::vector<Edit>{}, std::vector<Edit>{solve}}) {
    const auto read = read_recipe(write_recipe(recipe_of(graph, made)));
    ASSERT_TRUE(read) << read.error().message;
    ASSERT_THAT(read->graphs, SizeIs(1));
    EXPECT_EQ(read->graphs.front().hash, graph_hash(graph));
    EXPECT_EQ(read->graphs.front().after, graph_hash(graph));
    Graph same = graph;
    const auto done = replay(same, *read);
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_EQ(done->ends_as_recorded, true);
    Graph other = parse("x: f32[4,8] = input\n a: f32[4,8] = aten.relu(x)\n return [a]");
    const auto refused = replay(other, *read);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("the recipe was made for another graph: node"));
  }
}

TEST(Replay, LenientAppliesTheValidPartOfAList) {
  Graph graph = parse(kStep);
  SetPolicy set{.policy = MemoryPolicy::must_save};
  set.nodes = {"a", "gone", "b", "x", "c"};
  const Recipe recipe{.edits = {{.title = "tags", .changes = {set}}},
                      .expects = {{"b", "aten.relu.default"}}};
  const std::string before = write_native(graph);
  EXPECT_EQ(replay(graph, recipe).error().message, "edit 0 (tags): there is no node gone");
  EXPECT_EQ(write_native(graph), before);
  const auto lenient = replay(graph, recipe, true);
  ASSERT_TRUE(lenient);
  ASSERT_THAT(lenient->skipped, SizeIs(1));
  EXPECT_EQ(lenient->skipped[0].why, "3 of 5 nodes: there is no node gone");
  EXPECT_EQ(node(graph, "a").policy, MemoryPolicy::must_save);
  EXPECT_EQ(node(graph, "b").policy, MemoryPolicy::none);
  EXPECT_EQ(node(graph, "c").policy, MemoryPolicy::must_save);
}

TEST(Replay, AnEditThatAltersCallsIsAppliedAsAWhole) {
  Graph graph = parse(kStep);
  const Recipe recipe{
      .edits = {{.title = "two",
                 .changes = {ReplaceCall{.node = "a", .target = "aten.silu.default"},
                             RemoveNode{"absent"}}}}};
  const std::string before = write_native(graph);
  EXPECT_EQ(replay(graph, recipe).error().message, "edit 0 (two): there is no node absent");
  const auto lenient = replay(graph, recipe, true);
  ASSERT_TRUE(lenient);
  EXPECT_THAT(lenient->done, IsEmpty());
  EXPECT_THAT(lenient->skipped, SizeIs(1));
  EXPECT_EQ(write_native(graph), before);
}

TEST(Replay, IsUndoneIfALaterEditIsIllegal) {
  Graph graph = parse(kStep);
  const std::string before = write_native(graph);
  const Recipe recipe{.edits = {edits()[0], {.title = "no", .changes = {MoveNodes{{"c"}, "a"}}}}};
  EXPECT_EQ(replay(graph, recipe).error().message,
            "edit 1 (no): c reads a and would come before it");
  EXPECT_EQ(write_native(graph), before);
}

}  // namespace
}  // namespace jointer::test
