#include "core/edit/difference.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/capture/native_writer.h"
#include "core/edit/edit.h"
#include "core/edit/recipe.h"
#include "core/graph/canonical.h"
#include "core/graph/literal.h"
#include "core/schedule/memory_timeline.h"

namespace jointer {
namespace {

// A graph that Python returns may have tags on any node; no edit sets them on an input.
TEST(Difference, OnlyCallsHaveTags) {
  const auto before = parse_literal("x: f32[4] = input\na: f32[4] = aten.relu(x)\nreturn [a]");
  ASSERT_TRUE(before);
  Graph after = *before;
  after.node(after.find("x")).policy = MemoryPolicy::must_save;
  const auto edit = difference(*before, after);
  ASSERT_TRUE(edit) << edit.error().message;
  EXPECT_TRUE(edit->changes.empty());
  after.node(after.find("a")).policy = MemoryPolicy::must_save;
  Graph graph = *before;
  ASSERT_TRUE(apply(graph, *difference(*before, after)));
  EXPECT_EQ(graph.node(graph.find("a")).policy, MemoryPolicy::must_save);
}

// The annotations that passes leave on nodes (meta["custom"]) are part of the edit and of its undo.
TEST(Difference, AnnotationsRoundTripThroughARecipe) {
  const auto before = parse_literal(
      "x: f32[4] = input\na: f32[4] = aten.relu(x)\nb: f32[4] = aten.neg(a)\nreturn [b]");
  ASSERT_TRUE(before);
  Graph marked = *before;
  marked.node(marked.find("a")).custom = marked.intern(R"({"module_fqn": "m"})");
  Graph after = marked;
  after.node(after.find("x")).custom = after.intern(R"({"chunk":1})");
  after.node(after.find("a")).custom = {};
  after.node(after.find("b")).custom = after.intern(R"({"compile_with_inductor":{}})");
  const auto edit = difference(marked, after);
  ASSERT_TRUE(edit) << edit.error().message;
  EXPECT_EQ(edit->changes.size(), 3U);
  const Recipe recipe = make_recipe(marked, after, std::vector{*edit}, "marks");
  const auto read = read_recipe(write_recipe(recipe));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, recipe);
  Graph graph = marked;
  const auto inverse = apply(graph, read->edits.front());
  ASSERT_TRUE(inverse) << inverse.error().message;
  EXPECT_EQ(write_native(graph), write_native(after));
  ASSERT_TRUE(apply(graph, *inverse));
  EXPECT_EQ(write_native(graph), write_native(marked));
}

TEST(Difference, AnAnnotationDoesNotUnlockTheOrder) {
  auto graph = parse_literal(
      "x: f32[4] = input\na: f32[4] = aten.relu(x)\nb: f32[4] = aten.add_.Tensor(a, x)\n"
      "c: f32[4] = aten.neg(a)\nreturn [c]");
  ASSERT_TRUE(graph) << graph.error().message;
  ReplaceCall mark{.node = "c"};
  mark.custom = R"({"chunk":1})";
  const Edit edit{.title = "mark and move",
                  .changes = {mark, MoveNodes{.nodes = {"c"}, .before = "b"}}};
  EXPECT_FALSE(apply(*graph, edit));
  EXPECT_FALSE(graph->node(graph->find("c")).custom);
}

// Expects that the edit from `from` to `to` also gives the storages of `to`.
void expect_same_storages(std::string_view from, std::string_view to) {
  const auto before = parse_literal(from), after = parse_literal(to);
  ASSERT_TRUE(before) << before.error().message;
  ASSERT_TRUE(after) << after.error().message;
  const auto edit = difference(*before, *after);
  ASSERT_TRUE(edit) << edit.error().message;
  Graph graph = *before;
  const auto inverse = apply(graph, *edit);
  ASSERT_TRUE(inverse) << inverse.error().message;
  EXPECT_EQ(graph_hash(graph), graph_hash(*after));
  const auto shares = [](const Graph& of, NodeId a, NodeId b) {
    return of.tensors(a).front().storage == of.tensors(b).front().storage;
  };
  for (const NodeId a : after->order())
    for (const NodeId b : after->order()) {
      if (after->tensors(a).empty() || after->tensors(b).empty()) continue;
      EXPECT_EQ(shares(graph, graph.find(after->name(a)), graph.find(after->name(b))),
                shares(*after, a, b))
          << after->name(a) << " and " << after->name(b) << " after\n"
          << to;
    }
  EXPECT_TRUE(
      std::ranges::equal(MemoryTimeline(graph).profile(), MemoryTimeline(*after).profile()));
  ASSERT_TRUE(apply(graph, *inverse));
  EXPECT_TRUE(
      std::ranges::equal(MemoryTimeline(graph).profile(), MemoryTimeline(*before).profile()));
}

constexpr std::string_view kView = R"(
  x: f32[4] = input
  a: f32[4] = aten.relu(x)
  b: f32[2, 2] = aten.view(a, [2, 2])
  c: f32[2, 2] = aten.relu(b)
  return [c])";
constexpr std::string_view kCopy = R"(
  x: f32[4] = input
  a: f32[4] = aten.relu(x)
  b: f32[2, 2] = aten.view_copy(a, [2, 2])
  c: f32[2, 2] = aten.relu(b)
  return [c])";
constexpr std::string_view kViewOfAnother = R"(
  x: f32[4] = input
  n: f32[4] = aten.neg(x)
  b: f32[2, 2] = aten.view(n, [2, 2])
  c: f32[2, 2] = aten.relu(b)
  return [c])";
constexpr std::string_view kViewOfACopy = R"(
  x: f32[4] = input
  a: f32[4] = aten.relu(x)
  b: f32[2, 2] = aten.view_copy(a, [2, 2])
  d: f32[4] = aten.view(b, [4])
  e: f32[4] = aten.add(d, a)
  c: f32[2, 2] = aten.relu(b)
  return [c])";
constexpr std::string_view kViewOfInput = R"(
  x: f32[4] = input
  a: f32[4] = aten.view(x, [4])
  b: f32[2, 2] = aten.view(a, [2, 2])
  c: f32[2, 2] = aten.view_copy(b, [2, 2])
  return [c])";

// A node becomes a view of a different value, although names and shapes stay the same.
TEST(Difference, ContainsChangedViews) {
  for (const std::string_view from : {kView, kCopy, kViewOfAnother, kViewOfACopy, kViewOfInput})
    for (const std::string_view to : {kView, kCopy, kViewOfAnother, kViewOfACopy, kViewOfInput})
      expect_same_storages(from, to);
}

// The calls of `to` that replace calls of `from`.
std::vector<ReplaceCall> replacements_between(std::string_view from, std::string_view to) {
  const auto before = parse_literal(from), after = parse_literal(to);
  EXPECT_TRUE(before && after);
  const auto edit = difference(*before, *after);
  EXPECT_TRUE(edit);
  Graph graph = *before;
  EXPECT_TRUE(apply(graph, *edit));
  EXPECT_EQ(graph_hash(graph), graph_hash(*after));
  std::vector<ReplaceCall> found;
  for (const Change& change : edit->changes)
    if (const auto* replace = std::get_if<ReplaceCall>(&change)) found.push_back(*replace);
  return found;
}

TEST(Difference, NamesInputsIfOnlyTheyChange) {
  const auto step = [](std::string_view calls) {
    return fmt::format("x: f32[4] = input\na: f32[4] = aten.relu(x)\nb: f32[4] = aten.neg(x)\n{}",
                       calls);
  };
  using Inputs = std::vector<std::pair<std::string, std::string>>;
  const auto inputs = [&](std::string_view from, std::string_view to) -> Inputs {
    const auto found = replacements_between(step(from), step(to));
    if (found.size() != 1) {
      ADD_FAILURE() << found.size() << " replacements";
      return {};
    }
    EXPECT_EQ(found[0].inputs.empty(), found[0].args || found[0].kwargs) << to;
    return found[0].inputs;
  };
  constexpr const char* kCat = "c: f32[12] = aten.cat([{}, {}, {}], {})\nreturn [c]";
  const auto cat = [&](char first, char second, char third, int dim = 0) {
    return fmt::format(fmt::runtime(kCat), first, second, third, dim);
  };
  EXPECT_EQ(inputs(cat('a', 'b', 'a'), cat('b', 'a', 'b')), (Inputs{{"a", "b"}, {"b", "a"}}));
  EXPECT_EQ(inputs(cat('a', 'b', 'a'), cat('a', 'x', 'a')), (Inputs{{"b", "x"}}));
  EXPECT_EQ(inputs(cat('a', 'b', 'b'), cat('a', 'a', 'a')), (Inputs{{"b", "a"}}));
  // One input becomes two, one of them stays, or a constant changes too.
  EXPECT_EQ(inputs(cat('a', 'a', 'b'), cat('x', 'b', 'b')), Inputs{});
  EXPECT_EQ(inputs(cat('a', 'a', 'b'), cat('a', 'x', 'b')), Inputs{});
  EXPECT_EQ(inputs(cat('a', 'a', 'b'), cat('b', 'b', 'b', 1)), Inputs{});
  EXPECT_EQ(inputs("c: f32[4] = aten.add.Tensor(a, other=b, alpha=2)\nreturn [c]",
                   "c: f32[4] = aten.add.Tensor(x, alpha=2, other=a)\nreturn [c]"),
            (Inputs{{"a", "x"}, {"b", "a"}}));
  EXPECT_EQ(inputs("c: f32[4] = aten.add.Tensor(a, b, alpha=2)\nreturn [c]",
                   "c: f32[4] = aten.add.Tensor(x, b, alpha=3)\nreturn [c]"),
            Inputs{});
  EXPECT_EQ(inputs("c: f32[4] = aten.add.Tensor(a, b)\nreturn [c]",
                   "c: f32[4] = aten.add.Tensor(a, 1)\nreturn [c]"),
            Inputs{});
  EXPECT_EQ(inputs("c: f32[4] = aten.add.Tensor(a, b)\nreturn [c, a]",
                   "c: f32[4] = aten.add.Tensor(a, b)\nreturn [c, b]"),
            (Inputs{{"a", "b"}}));
  // The sign of a zero is a difference.
  EXPECT_EQ(inputs("c: f32[4] = aten.add.Tensor(a, 0.0)\nreturn [c]",
                   "c: f32[4] = aten.add.Tensor(x, -0.0)\nreturn [c]"),
            Inputs{});
  EXPECT_EQ(inputs("c: f32[4] = aten.add.Tensor(a, 0.0)\nreturn [c]",
                   "c: f32[4] = aten.add.Tensor(x, 0.0)\nreturn [c]"),
            (Inputs{{"a", "x"}}));
  // A different operator.
  const auto other = replacements_between(step("c: f32[4] = aten.add.Tensor(a, b)\nreturn [c]"),
                                          step("c: f32[4] = aten.sub.Tensor(x, b)\nreturn [c]"));
  ASSERT_EQ(other.size(), 1U);
  EXPECT_TRUE(other[0].target && other[0].args && other[0].inputs.empty());
}

// If only the order changes, the edit does not repeat values.
TEST(Difference, AMoveContainsNoValues) {
  const auto before = parse_literal(R"(
    x: f32[4] = input
    a: f32[4] = aten.relu(x)
    b: f32[4] = aten.neg(x)
    c: f32[4] = aten.add(a, b)
    return [c])");
  const auto after = parse_literal(R"(
    x: f32[4] = input
    b: f32[4] = aten.neg(x)
    a: f32[4] = aten.relu(x)
    c: f32[4] = aten.add(a, b)
    return [c])");
  ASSERT_TRUE(before) << before.error().message;
  ASSERT_TRUE(after) << after.error().message;
  const auto edit = difference(*before, *after);
  ASSERT_TRUE(edit) << edit.error().message;
  ASSERT_EQ(edit->changes.size(), 1U);
  EXPECT_TRUE(std::holds_alternative<MoveNodes>(edit->changes.front()));
}

}  // namespace
}  // namespace jointer
