#include "core/graph/fingerprint.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <fstream>

#include "tests/support/graphs.h"
#include "tests/support/paths.h"
#include "tests/support/random_graph.h"

namespace jointer::test {
namespace {

const PartId kPart{std::size_t{0}};

constexpr std::string_view kText = R"(
  x: f32[4] = input
  a: f32[4] = aten.relu(x)
  b: f32[4] = aten.add.Tensor(a, x)
  c: f32[4] = aten.mul.Tensor(b, a)
  return [c]
)";

std::string changed(std::string_view from, std::string_view to) {
  std::string text(kText);
  text.replace(text.find(from), from.size(), to);
  return text;
}

// Compares a graph of `text` with the fingerprint of the graph of kText.
std::optional<std::string> difference(std::string_view text) {
  return first_difference(parse(text), kPart, fingerprint(parse(kText), kPart));
}

TEST(Fingerprint, HasFourCharactersPerNode) {
  EXPECT_EQ(fingerprint(parse(kText), kPart).size(), 20U);
  EXPECT_EQ(difference(kText), std::nullopt);
}

TEST(Fingerprint, MatchesTheExampleInTheDocs) {
  const Graph graph = parse(R"(
    device cpu
    x: bf16[2,3] = input
    return [x]
  )");
  EXPECT_EQ(fingerprint(graph, kPart).substr(0, 4), "DD5r");
  std::ifstream page(source_path("docs/hash.md"));
  std::string line;
  bool found = false;
  while (std::getline(page, line)) found = found || line.find("`DD5r") != std::string::npos;
  EXPECT_TRUE(found);
}

TEST(Fingerprint, NamesTheFirstDifference) {
  EXPECT_EQ(
      difference(changed("b: f32[4] = aten.add.Tensor(a, x)", "b: f32[4] = aten.sub.Tensor(a, x)")),
      "node 2, b: the target differs; here it is aten.sub.Tensor");
  EXPECT_EQ(difference(changed("aten.add.Tensor(a, x)", "aten.add.Tensor(x, x)")),
            "node 2, b: the arguments differ; here they are (%x,%x)");
  EXPECT_EQ(difference(changed("b: f32[4]", "b: f16[4]")),
            "node 2, b: the value differs; here it is float16[4]");
  EXPECT_EQ(difference(changed("  b:", "  n: f32[4] = aten.neg(a)\n  b:")),
            "node 2, n: the recorded graph does not contain this node");
}

TEST(Fingerprint, NamesMissingNodes) {
  const std::string longer = changed("  b:", "  n: f32[4] = aten.neg(a)\n  b:");
  EXPECT_EQ(first_difference(parse(kText), kPart, fingerprint(parse(longer), kPart)),
            "node 2, b: a node before this one is missing");
  const std::string recorded = fingerprint(parse(kText), kPart);
  EXPECT_EQ(first_difference(parse(kText), kPart, recorded + "AAAA"),
            "this graph ends after 5 nodes; the recorded graph has 6");
  EXPECT_EQ(first_difference(parse(kText), kPart, recorded.substr(0, 16)),
            "node 4, output: the recorded graph ends before this node");
}

TEST(Fingerprint, AcceptsAnyText) {
  EXPECT_EQ(first_difference(parse(kText), kPart, ""),
            "node 0, x: the recorded graph ends before this node");
  EXPECT_TRUE(first_difference(parse(kText), kPart, "no fingerprint, odd").has_value());
  EXPECT_TRUE(
      first_difference(parse(kText), kPart, fingerprint(parse(kText), kPart) + "?").has_value());
}

RC_GTEST_PROP(FingerprintProperty, ARenamedNodeIsTheFirstDifference, (std::uint64_t seed)) {
  Graph graph = random_graph(seed, {.calls = 12});
  const std::string recorded = fingerprint(graph, kPart);
  RC_ASSERT(!first_difference(graph, kPart, recorded).has_value());
  const auto index = *rc::gen::inRange<std::size_t>(0, graph.node_count());
  // A name with a different check character.
  Node& node = graph.node(graph.order()[index]);
  std::string name(graph.text(node.name));
  std::string now;
  do {
    name += 'x';
    node.name = graph.intern(name);
    now = fingerprint(graph, kPart);
  } while (now[index * 4] == recorded[index * 4]);
  const auto said = first_difference(graph, kPart, recorded);
  RC_ASSERT(said.has_value());
  RC_ASSERT(said->starts_with("node " + std::to_string(index) + ", " + name + ": "));
}

}  // namespace
}  // namespace jointer::test
