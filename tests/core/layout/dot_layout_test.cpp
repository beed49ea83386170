// The real `dot`, and stand-ins that fail in every way.

#include "core/layout/dot_layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <fstream>

#include "core/process/spawn.h"
#include "tests/support/layouts.h"
#include "tests/support/temporary_folder.h"

namespace jointer {
namespace {

using testing::HasSubstr;

const LayoutGraph kDiamond{.nodes = 4, .edges = {{0, 1}, {0, 2}, {1, 3}, {2, 3}}};

// An executable shell script.
class DotStandIn : public testing::Test {
 protected:
  std::string write(const std::string& script) {
    const std::string path = folder_ / "dot";
    std::ofstream(path) << "#!/bin/sh\n" << script << '\n';
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }
  // The error of a failed layout of the diamond.
  std::string mistake(const std::string& program,
                      std::chrono::milliseconds deadline = std::chrono::seconds(20)) {
    const auto layouts =
        dot_layouts(std::span(&kDiamond, 1), {}, {.program = program, .deadline = deadline});
    return layouts ? "it did not fail" : layouts.error().message;
  }

  test::TemporaryFolder folder_;
};

TEST_F(DotStandIn, Missing) {
  EXPECT_THAT(mistake(folder_ / "none"), HasSubstr("none"));
}

TEST_F(DotStandIn, HangingIsEndedAtItsDeadline) {
  const auto before = std::chrono::steady_clock::now();
  EXPECT_THAT(mistake(write("sleep 600"), std::chrono::milliseconds(60)),
              HasSubstr("longer than 60 ms"));
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(30));
}

TEST_F(DotStandIn, EndlessOutputIsEndedAtItsDeadline) {
  EXPECT_THAT(mistake(write("while :; do echo node; done"), std::chrono::milliseconds(200)),
              HasSubstr("longer than 200 ms"));
}

TEST_F(DotStandIn, Failing) {
  EXPECT_THAT(mistake(write("cat > /dev/null; echo broken >&2; exit 3")), HasSubstr("broken"));
}

TEST_F(DotStandIn, Crashing) {
  EXPECT_THAT(mistake(write("kill -SEGV $$")), HasSubstr("SIGSEGV"));
}

TEST_F(DotStandIn, WithoutOutput) {
  EXPECT_THAT(mistake(write("cat > /dev/null")), HasSubstr("contains only 0 layouts"));
}

TEST_F(DotStandIn, WithGarbage) {
  EXPECT_THAT(mistake(write("cat > /dev/null; echo '<html>'")), HasSubstr("<html>"));
  EXPECT_THAT(mistake(write("cat > /dev/null; echo 'graph 1 5 5'; echo 'node n0 1 1'")),
              HasSubstr("middle"));
  EXPECT_THAT(mistake(write("cat > /dev/null; echo 'graph 1 5 5'; echo stop")),
              HasSubstr("lacks a node"));
  EXPECT_THAT(mistake(write("cat > /dev/null; echo 'graph 1 nan 5'; echo stop")),
              HasSubstr("not a layout"));
  EXPECT_THAT(mistake(write("cat > /dev/null; echo 'graph 1 5 5'; echo 'node n9 1 1'; echo stop")),
              HasSubstr("node n9"));
}

TEST_F(DotStandIn, WithOverlappingBoxes) {
  std::string script = "cat > /dev/null; echo 'graph 1 9 9'\n";
  for (int n = 0; n < 4; ++n) script += fmt::format("echo 'node n{} 4 4'\n", n);
  for (const LayoutEdge& e : kDiamond.edges)
    script += fmt::format("echo 'edge n{} n{} 4 1 1 1 1 1 1 1 1 solid black'\n", e.from, e.to);
  EXPECT_THAT(mistake(write(script + "echo stop")), HasSubstr("overlap"));
}

TEST(DotLayout, ReadsOutputOfDot) {
  // Output of dot for two graphs.
  const LayoutGraph one{.nodes = 2, .edges = {{0, 1}}};
  const LayoutGraph other{.nodes = 1};
  const LayoutStyle style{.node_width = 72, .node_height = 36, .node_gap = 14, .rank_gap = 36};
  const std::vector<std::string> lines{
      "graph 1 1 1.5",
      "node n0 0.5 1.25 1 0.5 \"\" solid box black lightgrey",
      "node n1 0.5 0.25 1 0.5 \"\" solid box black lightgrey",
      "edge n0 n1 4 0.5 1 0.5 0.8333 0.5 0.6667 0.5 0.5 solid black",
      "stop",
      "graph 1 1 0.5",
      "node n0 0.5 0.25 1 0.5 \"\" solid box black lightgrey",
      "stop"};
  const auto layouts = read_dot_plain(std::vector{one, other}, style, lines);
  ASSERT_TRUE(layouts) << layouts.error().message;
  ASSERT_EQ(layouts->size(), 2U);
  const Layout& layout = layouts->front();
  EXPECT_EQ(layout.centers[0], (LayoutPoint{36, 18}));
  EXPECT_EQ(layout.centers[1], (LayoutPoint{36, 90}));
  EXPECT_EQ(layout.rank_tops, (std::vector<double>{0, 72}));
  EXPECT_TRUE(layout.routes[0].is_curve);
  EXPECT_EQ(test::layout_mistake(one, layout, style), "");
}

TEST(DotLayout, IsSoundForRandomGraphs) {
  if (!can_run(find_program("dot"))) GTEST_SKIP() << "dot (Graphviz) is not installed";
  const LayoutStyle style;
  std::vector<LayoutGraph> graphs;
  for (std::uint32_t seed = 0; seed < 20; ++seed)
    graphs.push_back(test::random_layout_graph(seed, 40));
  const auto layouts = dot_layouts(graphs, style, {.deadline = std::chrono::seconds(60)});
  ASSERT_TRUE(layouts) << layouts.error().message;
  for (std::size_t i = 0; i < graphs.size(); ++i)
    EXPECT_EQ(test::layout_mistake(graphs[i], (*layouts)[i], style), "") << "seed " << i;
}

}  // namespace
}  // namespace jointer
