#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/capture/native_writer.h"
#include "core/edit/recipe.h"
#include "core/graph/canonical.h"
#include "core/graph/storage_moves.h"
#include "tests/support/graphs.h"
#include "tests/support/must_apply.h"
#include "tests/support/records.h"

namespace jointer {
namespace {

using test::args_of;
using test::insert_of;
using test::must_apply;
using test::parse;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view kStep = R"(
  group dp: 0 1
  w: bf16[8,8] = parameter
  x: bf16[4,8] = input
  c: bf16[8,8] = aten.clone(w)
  ag: bf16[16,8] = _c10d_functional.all_gather_into_tensor(c, 2, 'dp')  {layers.0.wq}
  wt: bf16[16,8] = _c10d_functional.wait_tensor(ag)  {layers.0.wq}
  r: bf16[4,8] = aten.relu(x)
  s: bf16[4,8] = aten.silu(r)
  t: bf16[8,16] = aten.t(wt)  {layers.0.wq}
  mm: bf16[4,16] = aten.mm(s, t)  {layers.0.wq}
  return [mm]
)";

std::string order_of(const Graph& graph) {
  std::string names;
  for (const NodeId id : graph.order())
    names += (names.empty() ? "" : " ") + std::string(graph.name(id));
  return names;
}

std::string must_refuse(Graph& graph, const Edit& edit) {
  const std::string before = write_native(graph);
  auto inverse = apply(graph, edit);
  EXPECT_FALSE(inverse);
  EXPECT_EQ(write_native(graph), before);
  return inverse ? std::string() : inverse.error().message;
}

Edit edit_of(std::vector<Change> changes) {
  return {.title = "an edit", .changes = std::move(changes)};
}

TEST(Editor, MovesABlock) {
  Graph graph = parse(kStep);
  must_apply(graph, edit_of({MoveNodes{{"wt", "t"}, "mm"}}));
  EXPECT_EQ(order_of(graph), "w x c ag r s wt t mm output");
}

TEST(Editor, MovesKnownDependenciesAlong) {
  Graph graph = parse(kStep);
  const Dependencies dependencies(graph);
  const Edit edit = edit_of({MoveNodes{{"wt", "t"}, "mm"}});
  ASSERT_TRUE(apply(graph, edit, dependencies));
  EXPECT_EQ(order_of(graph), "w x c ag r s wt t mm output");
  EXPECT_FALSE(apply(graph, edit_of({MoveNodes{{"wt"}, "ag"}}), dependencies));
}

TEST(Editor, GathersScatteredNodesFromBothSides) {
  Graph graph = parse(kStep);
  must_apply(graph, edit_of({MoveNodes{{"r", "c", "ag", "s"}, "wt"}}));
  EXPECT_EQ(order_of(graph), "w x r c ag s wt t mm output");
}

TEST(Editor, RefusesToMoveOverDependencies) {
  Graph graph = parse(kStep);
  EXPECT_EQ(must_refuse(graph, edit_of({MoveNodes{{"ag"}, "t"}})),
            "wt reads ag and would come before it");
  EXPECT_EQ(must_refuse(graph, edit_of({MoveNodes{{"mm"}, "s"}})),
            "mm reads s and would come before it");
}

TEST(Editor, JudgesTheEditAsAWhole) {
  Graph graph = parse(kStep);
  must_apply(graph, edit_of({MoveNodes{{"ag"}, "t"}, MoveNodes{{"wt"}, "t"}}));
  EXPECT_EQ(order_of(graph), "w x c r s ag wt t mm output");
}

TEST(Editor, PlaceholdersAndOutputStay) {
  Graph graph = parse(kStep);
  EXPECT_THAT(must_refuse(graph, edit_of({MoveNodes{{"x"}, "mm"}})),
              HasSubstr("x is a placeholder"));
  EXPECT_THAT(must_refuse(graph, edit_of({MoveNodes{{"output"}, "mm"}})),
              HasSubstr("output is the output"));
  EXPECT_EQ(must_refuse(graph, edit_of({MoveNodes{{"c"}, "x"}})),
            "c cannot be placed before x, a placeholder");
  EXPECT_EQ(must_refuse(graph, edit_of({MoveNodes{{"c"}, "c"}})),
            "c cannot be moved before itself");
  EXPECT_EQ(must_refuse(graph, edit_of({MoveNodes{{"q"}, "mm"}})), "there is no node q");
}

TEST(Editor, KeepsTheOrderOfWritesAndOfEffects) {
  Graph graph = parse(R"(
    x: f32[8] = input
    a: f32[8] = aten.relu(x)
    v: f32[8] = aten.view(a, [8])
    w: f32[8] = aten.add_.Tensor(a, x)
    b: f32[8] = aten.silu(v)
    r1: f32[8] = aten.rand_like(x)
    r2: f32[8] = aten.rand_like(x)
    y: f32[8] = aten.mul.Tensor(r1, r2)
    return [b, w, y]
  )");
  EXPECT_EQ(must_refuse(graph, edit_of({MoveNodes{{"b"}, "w"}})),
            "b must stay after w: one of them writes to memory that the other uses");
  EXPECT_EQ(must_refuse(graph, edit_of({MoveNodes{{"r2"}, "r1"}})),
            "r2 must stay after r1: their effects must keep their order");
  must_apply(graph, edit_of({MoveNodes{{"r1"}, "v"}}));
  // A view reads nothing.
  must_apply(graph, edit_of({MoveNodes{{"v"}, "b"}}));
}

// Calls after a replaced call keep their order with the writes that limited it.
TEST(Editor, AReplacedWriterPassesOnItsDependencies) {
  Graph graph = parse(R"(
    x: f32[8] = input
    a: f32[8] = aten.relu(x)
    first: f32[8] = aten.add_.Tensor(a, x)
    second: f32[8] = aten.mul_.Tensor(a, x)
    b: f32[8] = aten.silu(a)
    return [b, second]
  )");
  const auto replaced = [](const char* before) {
    return edit_of({ReplaceCall{.node = "second",
                                .target = "aten.mul.Tensor",
                                .args = args_of(R"([{"n":"x"},{"n":"x"}])")},
                    MoveNodes{{"b"}, before}});
  };
  EXPECT_EQ(must_refuse(graph, replaced("first")),
            "b must stay after first: one of them writes to memory that the other uses");
  must_apply(graph, replaced("second"));
}

TEST(Editor, AReplacedWriterPassesOnWhatItRead) {
  Graph graph = parse(R"(
    x: f32[4] = input
    a: f32[4] = aten.add_.Tensor(x, 1)
    b: f32[4] = aten.mul_.Tensor(a, 2)
    c: f32[4] = aten.relu.default(x)
    return [b, c]
  )");
  const ReplaceCall replace{
      .node = "b", .target = "aten.mul.Tensor", .args = args_of(R"([{"n":"a"},2])")};
  const auto done = apply(graph, edit_of({replace, MoveNodes{.nodes = {"c"}, .before = "a"}}));
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message,
            "c must stay after a: one of them writes to memory that the other uses");
  must_apply(graph, edit_of({replace, MoveNodes{.nodes = {"c"}, .before = "b"}}));
}

TEST(Editor, AReplacedCallKeepsAnOffsetOnlyIfItCannotChange) {
  Graph graph = parse(R"(
    x: f32[8, 8] = input
    a: f32[64] = aten.view.default(x, [64])
    b: f32[4, 8] = aten.slice.Tensor(x, 0, 0, 4)
    y: f32[64] = aten.relu(a)
    z: f32[4, 8] = aten.relu(b)
    return [y, z]
  )");
  const auto has_offset = [&](const char* name) {
    return graph.tensors(graph.find(name)).front().has(Tensor::has_offset);
  };
  ASSERT_TRUE(has_offset("a") && has_offset("b"));
  must_apply(graph, edit_of({ReplaceCall{.node = "a",
                                         .target = "aten.reshape.default",
                                         .args = args_of(R"([{"n":"x"},[64]])")},
                             ReplaceCall{.node = "b",
                                         .target = "aten.slice.Tensor",
                                         .args = args_of(R"([{"n":"x"},0,4,8])")}}));
  EXPECT_TRUE(has_offset("a"));
  EXPECT_FALSE(has_offset("b"));
}

TEST(Editor, ReadersOfAReplacedViewShiftOnlyInItsMemory) {
  Graph graph = parse(R"(
    x: f32[16] = input
    p: f32[16] = input
    a: f32[8] = aten.slice.Tensor(x, 0, 0, 8)
    b: f32[8] = aten.slice.Tensor(x, 0, 8, 16)
    v: f32[8] = aten.view.default(a, [8])
    w: f32[2, 4] = aten.view.default(v, [2, 4])
    d: f32[8] = aten.slice.Tensor(p, 0, 0, 8)
    c: f32[8] = aten.copy_.default(d, v)
    return [w, c]
  )");
  const auto offset = [&](const char* name) {
    const Tensor& t = graph.tensors(graph.find(name)).front();
    return t.has(Tensor::has_offset) ? std::optional(graph.offset(t).value) : std::nullopt;
  };
  move_tensors(graph, graph.find("b"),
               [](const Tensor& t) { return StorageMove{.to = t.storage, .by = 8}; });
  ASSERT_EQ(offset("b"), 8);
  must_apply(graph, edit_of({ReplaceCall{.node = "v",
                                         .target = "aten.view.default",
                                         .args = args_of(R"([{"n":"b"},[8]])")}}));
  EXPECT_EQ(offset("v"), 8);
  EXPECT_EQ(offset("w"), 8);
  EXPECT_EQ(offset("c"), 0);
}

// Literals have offsets of 0.
void set_offsets(Graph& graph, const char* name, const std::vector<std::int64_t>& offsets) {
  const NodeId id = graph.find(name);
  std::vector<Value> values;
  for (const std::int64_t offset : offsets) {
    const Tensor t = graph.tensors(id)[values.size()];
    const auto shape = graph.shape(t), stride = graph.stride(t);
    const std::vector<Dim> sizes(shape.begin(), shape.end()), steps(stride.begin(), stride.end());
    values.push_back(Value::of_tensor(graph.add_tensor(t, sizes, steps, {offset, {}})));
  }
  graph.node(id).value =
      values.size() == 1 ? values.front() : graph.make_children(Value::Kind::list, values);
  graph.refresh(id);
}

// `b` has the layout of `a` and starts 64 elements later; and so do views of it.
TEST(Editor, AViewOfAnotherArgumentOfTheSameLayoutShiftsWithIt) {
  Graph graph = parse(R"(
    x: f32[16, 8] = input
    a: f32[8, 8] = aten.slice.Tensor(x, 0, 0, 8)
    b: f32[8, 8] = aten.slice.Tensor(x, 0, 8, 16)
    c: f32[4, 16] = aten.view.default(b, [4, 16])
    s: (f32[4, 8], f32[4, 8]) = aten.split.Tensor(a, 4)
    s0: f32[4, 8] = s[0]
    s1: f32[4, 8] = s[1]
    t: f32[2, 8] = aten.slice.Tensor(s1, 0, 2, 4)
    y: f32[2, 8] = aten.relu(t)
    z: f32[4, 8] = aten.relu(s0)
    return [y, z, c]
  )");
  set_offsets(graph, "b", {64});
  set_offsets(graph, "c", {64});
  set_offsets(graph, "s", {0, 32});
  set_offsets(graph, "s1", {32});
  set_offsets(graph, "t", {48});
  const auto offsets = [&](const char* name) {
    std::vector<std::optional<std::int64_t>> found;
    for (const Tensor& t : graph.tensors(graph.find(name)))
      found.push_back(t.has(Tensor::has_offset) ? std::optional(graph.offset(t).value)
                                                : std::nullopt);
    return found;
  };
  const auto split_of = [](const char* argument) {
    return edit_of(
        {ReplaceCall{.node = "s", .args = args_of(fmt::format(R"([{{"n":"{}"}},4])", argument))}});
  };
  const std::string before = write_native(graph);
  must_apply(graph, split_of("b"));
  EXPECT_THAT(offsets("s"), ElementsAre(64, 96));
  EXPECT_THAT(offsets("s0"), ElementsAre(64));
  EXPECT_THAT(offsets("s1"), ElementsAre(96));
  EXPECT_THAT(offsets("t"), ElementsAre(112));
  must_apply(graph, split_of("a"));
  EXPECT_EQ(write_native(graph), before);

  must_apply(graph, split_of("c"));
  EXPECT_THAT(offsets("s"), ElementsAre(std::nullopt, std::nullopt)) << "a different layout";
  EXPECT_THAT(offsets("t"), ElementsAre(std::nullopt));
}

TEST(Editor, AReplacedCallThatSelectsFromTheStorageForgetsItsOffset) {
  Graph graph = parse(R"(
    x: f32[16, 8] = input
    a: f32[8, 8] = aten.slice.Tensor(x, 0, 0, 8)
    b: f32[8, 8] = aten.slice.Tensor(x, 0, 8, 16)
    u: f32[8, 8] = aten.as_strided.default(a, [8, 8], [8, 1], 0)
    y: f32[8, 8] = aten.relu(u)
    return [y, b]
  )");
  set_offsets(graph, "b", {64});
  must_apply(graph,
             edit_of({ReplaceCall{.node = "u", .args = args_of(R"([{"n":"b"},[8,8],[8,1],0])")}}));
  EXPECT_FALSE(graph.tensors(graph.find("u")).front().has(Tensor::has_offset));
}

TEST(Editor, SetsPoliciesByNodeOperatorAndModule) {
  Graph graph = parse(kStep);
  must_apply(graph, edit_of({SetPolicy{"layers.*::aten.mm", MemoryPolicy::must_save},
                             SetPolicy{"aten.silu.default", MemoryPolicy::must_recompute},
                             SetPolicy{"r", MemoryPolicy::must_cpu_offload}}));
  EXPECT_EQ(graph.node(graph.find("mm")).policy, MemoryPolicy::must_save);
  EXPECT_EQ(graph.node(graph.find("s")).policy, MemoryPolicy::must_recompute);
  EXPECT_EQ(graph.node(graph.find("t")).policy, MemoryPolicy::none);
  EXPECT_THAT(
      must_refuse(graph, edit_of({SetPolicy{"layers.7::aten.mm", MemoryPolicy::none}})),
      HasSubstr("`layers.7::aten.mm` selects nothing: no module matches `layers.7`; the graph "
                "has layers."));
  EXPECT_EQ(must_refuse(graph, edit_of({SetPolicy{"w", MemoryPolicy::none}})),
            "w is a placeholder: only calls have a policy");
}

constexpr const char* kClone = R"({"name":"clone_1","target":"aten.clone.default",
  "args":[{"n":"r"}],"kwargs":{},"like":"s",
  "val":{"t":{"shape":[4,8],"dtype":"bfloat16","device":"cuda:0","stride":[8,1],"offset":0}}})";

TEST(Editor, InsertsReplacesAndRemoves) {
  Graph graph = parse(kStep);
  must_apply(graph, edit_of({insert_of(kClone, "s"),
                             ReplaceCall{.node = "s", .args = args_of(R"([{"n":"clone_1"}])")}}));
  const NodeId clone = graph.find("clone_1");
  ASSERT_TRUE(clone);
  EXPECT_EQ(order_of(graph), "w x c ag wt r clone_1 s t mm output");
  EXPECT_EQ(graph.inputs(graph.find("s")).front(), clone);
  EXPECT_EQ(graph.storage(graph.tensors(clone).front().storage).bytes.value, 64);
  EXPECT_THAT(must_refuse(graph, edit_of({RemoveNode{"clone_1"}})), HasSubstr("s reads it"));
  EXPECT_THAT(must_refuse(graph, edit_of({insert_of(kClone, "s")})),
              HasSubstr("a node with that name already exists"));
  must_apply(graph, edit_of({ReplaceCall{.node = "s",
                                         .target = "aten.relu.default",
                                         .args = args_of(R"([{"n":"r"}])")},
                             RemoveNode{"clone_1"}}));
  EXPECT_FALSE(graph.find("clone_1"));
  EXPECT_FALSE(graph.is_live(clone));
  EXPECT_THAT(write_native(graph), Not(HasSubstr("clone_1")));
}

// Consecutive insertions are added to the program order together.
TEST(Editor, ConsecutiveInsertsKeepTheirPositions) {
  const auto clone = [](std::string_view name, std::string_view before) {
    return insert_of(fmt::format(R"({{"name":"{}","target":"aten.clone.default",
      "args":[{{"n":"r"}}],"like":"s",
      "val":{{"t":{{"shape":[4,8],"dtype":"bfloat16","device":"cuda:0","stride":[8,1]}}}}}})",
                                 name),
                     std::string(before));
  };
  const std::vector<Change> row{clone("a", "s"), clone("b", "mm"), clone("n", "s"), clone("d", "a"),
                                clone("e", "output")};
  Graph graph = parse(kStep), one_by_one = graph;
  must_apply(graph, edit_of(row));
  EXPECT_EQ(order_of(graph), "w x c ag wt r d a n s t b mm e output");
  for (const Change& change : row) must_apply(one_by_one, edit_of({change}));
  EXPECT_EQ(order_of(one_by_one), order_of(graph));
  // If one of them cannot be inserted, none is.
  auto refused = row;
  refused.push_back(clone("b", "s"));
  Graph again = parse(kStep);
  EXPECT_THAT(must_refuse(again, edit_of(refused)),
              HasSubstr("a node with that name already exists"));
}

TEST(Editor, ANewNodeMayMoveInTheSameEdit) {
  Graph graph = parse(kStep);
  must_apply(graph, edit_of({insert_of(kClone, "s"), MoveNodes{{"clone_1", "s"}, "mm"}}));
  EXPECT_EQ(order_of(graph), "w x c ag wt r t clone_1 s mm output");
}

TEST(Editor, RefusesInvalidCalls) {
  Graph graph = parse(kStep);
  const auto insert = [&](std::string_view node) {
    return must_refuse(graph, edit_of({insert_of(node, "s")}));
  };
  EXPECT_THAT(insert(R"({"name":"a b","target":"aten.relu.default","args":[]})"),
              HasSubstr("`a b` is not a valid name"));
  EXPECT_THAT(insert(R"({"name":"q","target":"aten.rellu.default","args":[]})"),
              HasSubstr("aten.rellu.default"));
  EXPECT_THAT(insert(R"({"name":"q","target":"aten.relu.default","args":[{"n":"absent"}]})"),
              HasSubstr("absent"));
  EXPECT_THAT(insert(R"({"name":"q","target":"aten.relu.default","args":[{"n":"mm"}]})"),
              HasSubstr("reads mm, which comes later"));
  EXPECT_THAT(insert(R"({"name":"q","op":"placeholder","target":"q"})"),
              HasSubstr("q is a placeholder"));
  EXPECT_THAT(insert(R"({"name":"q","target":"aten.relu.default","like":"absent"})"),
              HasSubstr("`like` names absent"));
  EXPECT_THAT(
      must_refuse(graph, edit_of({ReplaceCall{.node = "output",
                                              .args = args_of(R"([[{"n":"mm"},{"n":"s"}]])")}})),
      HasSubstr("return 2 values instead of 1"));
}

ReplaceCall inputs_of(std::string node, std::vector<std::pair<std::string, std::string>> inputs) {
  ReplaceCall replace{.node = std::move(node)};
  replace.inputs = std::move(inputs);
  return replace;
}

TEST(Editor, ExchangesInputsInAllArgumentsSimultaneously) {
  Graph graph = parse(R"(
    x: f32[4] = input
    a: f32[4] = aten.relu(x)
    b: f32[4] = aten.neg(x)
    i: i64[4] = aten.zeros([4])
    c: f32[12] = aten.cat([a, b, a], 0)
    p: f32[4] = aten.index.Tensor(a, [i])
    s: f32[4] = aten.sub.Tensor(a, b, alpha=3)
    v: f32[2,2] = aten.view(s, [2, 2])
    return [c, p, v])");
  must_apply(graph, edit_of({inputs_of("c", {{"a", "b"}, {"b", "a"}})}));
  EXPECT_EQ(canonical_call(graph, graph.find("c")),
            "aten.cat.default([%b,%a,%b],0) -> float32[12]");
  must_apply(graph, edit_of({inputs_of("s", {{"b", "x"}}), inputs_of("p", {{"a", "x"}})}));
  EXPECT_THAT(canonical_call(graph, graph.find("s")), HasSubstr("(%a,%x"));
  EXPECT_THAT(canonical_call(graph, graph.find("s")), HasSubstr("alpha=3"));
  EXPECT_THAT(canonical_call(graph, graph.find("p")), HasSubstr("(%x,[%i])"));
  // Its storage follows, and the value in the change is used.
  must_apply(graph, edit_of({inputs_of("v", {{"s", "a"}})}));
  const auto storage = [&](std::string_view name) {
    return graph.tensors(graph.find(name)).front().storage;
  };
  EXPECT_EQ(storage("v"), storage("a"));
  ReplaceCall said = inputs_of("v", {{"a", "b"}});
  said.val = test::value_of(R"({"t":{"shape":[2,2],"dtype":"float32","storage":{"of":"b"}}})");
  said.custom = R"({"chunk":1})";
  must_apply(graph, edit_of({said}));
  EXPECT_EQ(storage("v"), storage("b"));
  // A node that the edit inserts, and the output.
  must_apply(
      graph,
      edit_of({insert_of(R"({"name":"k","target":"aten.clone.default","args":[{"n":"a"}],
                "like":"a","val":{"t":{"shape":[4],"dtype":"float32"}}})",
                         "c"),
               inputs_of("c", {{"a", "k"}}), inputs_of("output", {{"p", "s"}}), RemoveNode{"p"}}));
  EXPECT_EQ(graph.part(PartId(0)).outputs[1].node, graph.find("s"));
}

TEST(Editor, InsertsACopyOfACall) {
  Graph graph = parse(R"(
    x: f32[4] = input
    a: f32[4] = aten.relu(x)
    b: f32[4] = aten.sub.Tensor(a, 128, alpha=3)
    return [b])");
  const auto record = [](std::string_view members) {
    return fmt::format(R"({{"name":"k",{},"val":{{"t":{{"shape":[4],"dtype":"float32"}}}}}})",
                       members);
  };
  const auto copy = [&](std::string_view members) { return insert_of(record(members), "output"); };
  must_apply(graph, edit_of({copy(R"("copy":"b","inputs":{"a":"x"},"like":"b")")}));
  std::string expected = canonical_call(graph, graph.find("b"));
  expected.replace(expected.find("%a"), 2, "%x");
  EXPECT_EQ(canonical_call(graph, graph.find("k")), expected);
  EXPECT_THAT(expected, HasSubstr("128"));
  const auto refusal = [&](std::string_view members) {
    Graph fresh = parse("x: f32[4] = input\na: f32[4] = aten.relu(x)\nreturn [a]");
    return must_refuse(fresh, edit_of({copy(members)}));
  };
  const std::string place = "cannot insert a node before output: ";
  EXPECT_EQ(refusal(R"("copy":"gone")"), place + "`copy` names gone, but there is no such node");
  EXPECT_EQ(refusal(R"("copy":"")"), place + "`copy` names , but there is no such node");
  EXPECT_EQ(refusal(R"("copy":"a","inputs":{"a":"x"})"),
            place + "a does not read a, so x cannot replace it");
  EXPECT_EQ(refusal(R"("copy":"a","inputs":{"x":"gone"})"),
            place + "there is no node gone to replace x");
  for (const char* other : {R"("op":"call_function")", R"("target":"aten.relu.default")",
                            R"("args":[])", R"("kwargs":{})"})
    EXPECT_EQ(refusal(fmt::format(R"("copy":"a",{})", other)),
              place + "`copy` cannot be used together with `op`, `target`, `args` or `kwargs`");
  for (const char* inputs : {R"({"x":"a"})", "{}"})
    EXPECT_EQ(refusal(fmt::format(R"("target":"aten.relu.default","inputs":{})", inputs)),
              place + "`inputs` needs `copy`");
  const auto misread = [&](std::string_view members) {
    const auto read = read_edit_tree(*parse_json(
        fmt::format(R"({{"changes":[{{"insert":{},"before":"output"}}]}})", record(members)),
        "edit"));
    EXPECT_FALSE(read) << members;
    return read ? "" : read.error().message;
  };
  for (const char* inputs : {R"({"x":["a"]})", R"({"x":7})", R"({"x":null})", "null", "[]", "7"})
    EXPECT_EQ(misread(fmt::format(R"("copy":"a","inputs":{})", inputs)),
              "edit, change 0: " + place +
                  "`inputs`: expected an object with a node name for each input");
  EXPECT_EQ(misread(R"("copy":7)"),
            "edit, change 0: " + place + "`copy`: expected the name of a node");
  EXPECT_THAT(refusal(R"("copy":"x")"), HasSubstr("k is a placeholder"));
}

TEST(Editor, RefusesInputsThatDoNotFit) {
  Graph graph = parse(kStep);
  const auto refusal = [&](const ReplaceCall& replace) {
    return must_refuse(graph, edit_of({MoveNodes{{"wt", "t"}, "mm"}, replace}));
  };
  EXPECT_EQ(refusal(inputs_of("mm", {{"s", "r"}, {"r", "s"}})),
            "mm does not read r, so s cannot replace it");
  EXPECT_EQ(refusal(inputs_of("mm", {{"absent", "s"}})),
            "mm does not read absent, so s cannot replace it");
  EXPECT_EQ(refusal(inputs_of("mm", {{"s", "absent"}})), "there is no node absent to replace s");
  EXPECT_THAT(refusal(inputs_of("r", {{"x", "mm"}})), HasSubstr("mm, which comes later"));
  EXPECT_THAT(refusal(inputs_of("x", {{"x", "mm"}})), HasSubstr("x is a placeholder"));
}

TEST(Editor, TheOutputMayReturnAnotherNode) {
  Graph graph = parse(kStep);
  must_apply(graph, edit_of({ReplaceCall{.node = "output", .args = args_of(R"([[{"n":"s"}]])")}}));
  EXPECT_EQ(graph.part(PartId(0)).outputs.front().node, graph.find("s"));
}

}  // namespace
}  // namespace jointer
