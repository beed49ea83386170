#include "core/edit/node_match.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/edit/difference.h"
#include "core/graph/literal.h"
#include "tests/support/names.h"

namespace jointer::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Graph graph_of(std::string_view text) {
  auto graph = parse_literal(text);
  if (!graph) throw std::runtime_error(graph.error().message);
  return *std::move(graph);
}

// Two graphs, and their difference by structure.
struct Compared {
  Graph before, after;
  NodeMatch match;
  GraphDifference difference;

  Compared(std::string_view a, std::string_view b)
      : before(graph_of(a)),
        after(graph_of(b)),
        match(NodeMatch::by_structure(before, after)),
        difference(compare_graphs(before, after, match)) {}

  // The name in `before` of a node of `after`.
  [[nodiscard]] std::string was(std::string_view name) const {
    const NodeId id = match.in_before(after.find(name));
    return id ? std::string(before.name(id)) : "";
  }
};

TEST(NodeMatch, ByNameFindsTheSameName) {
  const Graph a = graph_of("x: f32[2] = input\ny: f32[2] = aten.neg(x)\nreturn [y]"),
              b = graph_of("x: f32[2] = input\nz: f32[2] = aten.neg(x)\nreturn [z]");
  const NodeMatch match = NodeMatch::by_name(a, b);
  EXPECT_EQ(match.in_before(b.find("x")), a.find("x"));
  EXPECT_EQ(match.in_after(a.find("x")), b.find("x"));
  EXPECT_FALSE(match.in_before(b.find("z")));
}

// Another capture of the same program may number its nodes differently.
TEST(NodeMatch, ClosestIsByNameUnlessMostNamesMeanOtherOperators) {
  const Graph a =
      graph_of("x: f32[2] = input\np: f32[2] = aten.neg(x)\nq: f32[2] = aten.exp(p)\nreturn [q]");
  const Graph edited =
      graph_of("x: f32[2] = input\np: f32[2] = aten.sin(x)\nq: f32[2] = aten.exp(p)\nreturn [q]");
  const Graph renamed =
      graph_of("x: f32[2] = input\nq: f32[2] = aten.neg(x)\nr: f32[2] = aten.exp(q)\nreturn [r]");
  EXPECT_TRUE(NodeMatch::closest(a, edited).is_by_name());
  const NodeMatch match = NodeMatch::closest(a, renamed);
  EXPECT_FALSE(match.is_by_name());
  EXPECT_EQ(match.in_before(renamed.find("r")), a.find("q"));
}

TEST(NodeMatch, NamesDoNotMatter) {
  // Swapped names are worse than different names.
  const Compared same(
      "x: f32[2] = input\np: f32[2] = aten.neg(x)\nq: f32[2] = aten.exp(p)\nreturn [p, q]",
      "x: f32[2] = input\nq: f32[2] = aten.neg(x)\np: f32[2] = aten.exp(q)\nreturn [q, p]");
  EXPECT_TRUE(same.difference.empty());
  EXPECT_EQ(same.was("q"), "p");
  EXPECT_FALSE(compare_graphs(same.before, same.after)->empty());
}

TEST(NodeMatch, PlaceholdersAreMatchedByPosition) {
  const Compared same(
      "x: f32[2] = input\ny: f32[2] = input\nz: f32[2] = aten.sub.Tensor(x, y)\nreturn [z]",
      "y: f32[2] = input\nx: f32[2] = input\nz: f32[2] = aten.sub.Tensor(y, x)\nreturn [z]");
  EXPECT_TRUE(same.difference.empty());
  const Compared other(
      "x: f32[2] = input\ny: f32[2] = input\nz: f32[2] = aten.sub.Tensor(x, y)\nreturn [z]",
      "x: f32[2] = input\ny: f32[2] = input\nz: f32[2] = aten.sub.Tensor(y, x)\nreturn [z]");
  EXPECT_THAT(names(other.after, other.difference.changed), ElementsAre("z"));
}

TEST(NodeMatch, EqualChainsStayTogether) {
  // Only their order distinguishes the chains; the second graph runs their ends in the opposite
  // order.
  const std::string starts =
      "x: f32[2] = input\na: f32[2] = aten.neg(x)\nb: f32[2] = aten.neg(x)\n";
  const Compared found(starts + "c: f32[2] = aten.exp(a)\nd: f32[2] = aten.exp(b)\nreturn [x]",
                       starts + "e: f32[2] = aten.exp(b)\nf: f32[2] = aten.exp(a)\nreturn [x]");
  EXPECT_EQ(found.was("f") == "c", found.was("a") == "a");
  EXPECT_EQ(found.was("e") == "d", found.was("b") == "b");
  EXPECT_THAT(found.difference.changed, IsEmpty());
  EXPECT_THAT(found.difference.added, IsEmpty());
}

TEST(NodeMatch, ADifferenceAffectsOnlyItsSurroundings) {
  // Sixty equal layers, one of which gets an additional call.
  const auto layers = [](std::size_t changed, std::string_view prefix) {
    std::string text = "h: f32[4,4] = input\nw: f32[4,4] = parameter\n", last = "h";
    for (std::size_t i = 0; i < 60; ++i) {
      const auto name = [&](std::string_view of) { return fmt::format("{}{}_{}", prefix, of, i); };
      text += fmt::format("{}: f32[4,4] = aten.mm({}, w)\n", name("m"), last);
      last = name("m");
      if (i == changed) {
        text += fmt::format("{}: f32[4,4] = aten.relu({})\n", name("new"), last);
        last = name("new");
      }
      text += fmt::format("{}: f32[4,4] = aten.exp({})\n", name("e"), last);
      last = name("e");
    }
    return text + fmt::format("return [{}]", last);
  };
  const Compared found(layers(60, "p"), layers(20, "q"));
  EXPECT_THAT(names(found.after, found.difference.added), ElementsAre("qnew_20"));
  EXPECT_THAT(found.difference.removed, IsEmpty());
  EXPECT_THAT(found.difference.moved, IsEmpty());
  EXPECT_THAT(names(found.after, found.difference.changed), ElementsAre("qe_20"));
  for (std::size_t i = 0; i < 60; ++i)
    EXPECT_EQ(found.was(fmt::format("qm_{}", i)), fmt::format("pm_{}", i));
}

TEST(NodeMatch, ADifferentShapeIsAChange) {
  const Compared found(
      "x: f32[8] = input\na: f32[2,4] = aten.view(x, [2, 4])\nb: f32[2,4] = aten.neg(a)\nreturn "
      "[b]",
      "x: f32[8] = input\nc: f32[4,2] = aten.view(x, [4, 2])\nd: f32[4,2] = aten.neg(c)\nreturn "
      "[d]");
  EXPECT_THAT(names(found.after, found.difference.changed), ElementsAre("c", "d"));
  EXPECT_EQ(found.was("c"), "a");
  EXPECT_THAT(found.difference.added, IsEmpty());
}

}  // namespace
}  // namespace jointer::test
