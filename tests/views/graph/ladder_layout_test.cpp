#include "views/graph/ladder_layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/open/open.h"
#include "tests/support/graphs.h"
#include "tests/support/ladders.h"
#include "tests/support/paths.h"
#include "tests/support/random_graph.h"

namespace jointer::views {
namespace {

bool is_inside(const LadderRect& inner, const LadderRect& outer) {
  constexpr double kSlack = 0.01;
  return inner.x >= outer.x - kSlack && inner.y >= outer.y - kSlack &&
         inner.right() <= outer.right() + kSlack && inner.bottom() <= outer.bottom() + kSlack;
}

bool overlap(const LadderRect& a, const LadderRect& b) {
  return a.x < b.right() - 0.01 && b.x < a.right() - 0.01 && a.y < b.bottom() - 0.01 &&
         b.y < a.bottom() - 0.01;
}

// Returns true if a horizontal or vertical segment crosses the interior of a box.
bool crosses(LayoutPoint a, LayoutPoint b, const LadderRect& box) {
  return std::max(a.x, b.x) > box.x + 0.5 && std::min(a.x, b.x) < box.right() - 0.5 &&
         std::max(a.y, b.y) > box.y + 0.5 && std::min(a.y, b.y) < box.bottom() - 0.5;
}

// Checks invariants of all layouts. Returns an empty string if all hold.
std::string mistake(const Ladder& ladder, const LadderLayout& layout) {
  const LadderStyle& style = layout.style();
  const LadderRect whole{0, 0, layout.width(), layout.height()};
  double bottom = 0;
  for (const LadderItem& item : layout.items()) {
    if (item.y < bottom) return "rows overlap";
    bottom = item.bottom(style);
    if (bottom > layout.height()) return "a row is outside";
    const LadderRect left = layout.box(item, LadderSide::forward);
    const LadderRect right = layout.box(item, LadderSide::backward);
    if (left.y != right.y || left.height != right.height) return "a row's sides are not level";
    if (left.right() != layout.channel_left() || right.x != layout.channel_right())
      return "a box does not end at the channel";
    if (layout.has(LadderSide::forward) && layout.has(LadderSide::backward) &&
        std::abs((left.x - 0) - (layout.width() - right.right())) > 0.01)
      return "a row's sides are not mirrored";
    for (const LadderSide side : kLadderSides) {
      if (!layout.has(side)) continue;
      if (!is_inside(layout.box(item, side), whole)) return "a box is outside";
      if (!item.group) continue;
      const auto nodes = ladder.boxes(item.row, side);
      if (item.group->sides[index_of(side)].centers.size() != nodes.size())
        return "a node has no box";
      const LadderRect ground{layout.box(item, side).x, item.panel_y, layout.box(item, side).width,
                              item.panel_height};
      for (std::size_t n = 0; n < nodes.size(); ++n) {
        const LadderRect box = layout.node_box(item, side, n);
        if (!is_inside(box, ground)) return "a node is outside its row";
        for (std::size_t m = 0; m < n; ++m)
          if (overlap(box, layout.node_box(item, side, m))) return "nodes overlap";
      }
    }
  }
  return {};
}

// Rungs end at the channel and cross no box on the way.
std::string rung_mistake(const Ladder& ladder, const LadderLayout& layout) {
  std::int64_t ports = 0, saved = 0;
  for (const LadderPort& port : layout.ports()) {
    for (const std::int64_t bytes : port.saved) ports += bytes;
    if (layout.links(port).empty()) return "nothing leaves a port";
  }
  for (const Rung& rung : ladder.rungs()) saved += rung.is_saved ? rung.bytes : 0;
  if (ports != saved) return "bytes of rungs are lost on the way";
  for (const LadderLink& link : layout.links()) {
    for (const LadderSide side : kLadderSides) {
      const LadderPlace place = side == LadderSide::forward ? link.from : link.to;
      if (place.item < 0 || !layout.has(side)) continue;
      const auto line = layout.line(place, side);
      const double edge =
          side == LadderSide::forward ? layout.channel_left() : layout.channel_right();
      if (line.back().x != edge) return "a rung does not reach the channel";
      if (place.node < 0) continue;
      const LadderItem& item = layout.item(place.item);
      for (std::size_t p = 1; p < line.size(); ++p)
        for (std::size_t n = 0; n < ladder.boxes(item.row, side).size(); ++n)
          if (crosses(line[p - 1], line[p], layout.node_box(item, side, n)))
            return "a rung leads through a node";
    }
  }
  return {};
}

class LadderLayoutTest : public testing::Test {
 protected:
  LadderLayout layout() const { return test::ladder_layout(graph_, ladder_, expansion_); }
  std::vector<std::string> rows() const {
    std::vector<std::string> keys;
    const LadderLayout layout = this->layout();
    for (const LadderItem& item : layout.items()) keys.push_back(ladder_.row(item.row).key);
    return keys;
  }

  Graph graph_ = test::layered_graph(3);
  Ladder ladder_{graph_, *analyze(graph_)};
  LadderExpansion expansion_;
};

TEST_F(LadderLayoutTest, ShowsTheTopRowsFirst) {
  EXPECT_EQ(rows(), (std::vector<std::string>{"inputs and outputs", "*layers.0"}));
  EXPECT_EQ(mistake(ladder_, layout()), "");
}

TEST_F(LadderLayoutTest, ExpandsAndCollapsesInPlace) {
  expansion_.open(ladder_, ladder_.find("*layers.0"));
  EXPECT_EQ(rows(), (std::vector<std::string>{"inputs and outputs", "*layers.0", "layers.0",
                                              "layers.1", "layers.2"}));
  expansion_.open(ladder_, ladder_.find("layers.1"));
  EXPECT_EQ(rows().size(), 8U);
  EXPECT_EQ(rows()[4], "layers.1.norm");
  expansion_.close(ladder_, ladder_.find("*layers.0"));
  EXPECT_EQ(rows().size(), 2U);
  // Expanded rows in it are expanded again.
  expansion_.open(ladder_, ladder_.find("*layers.0"));
  EXPECT_EQ(rows().size(), 8U);
}

TEST_F(LadderLayoutTest, AFoldSplitByAnEditStaysExpanded) {
  expansion_.open(ladder_, ladder_.find("*layers.0"));
  graph_ = test::layered_graph(5);
  ladder_ = Ladder(graph_, *analyze(graph_));
  expansion_.open(ladder_, ladder_.find("*layers.0"));
  graph_.node(graph_.find("act_2")).target = graph_.intern_operator("aten.tanh.default");
  ladder_ = Ladder(graph_, *analyze(graph_));
  EXPECT_EQ(rows(),
            (std::vector<std::string>{"inputs and outputs", "*layers.0", "layers.0", "layers.1",
                                      "layers.2", "*layers.3", "layers.3", "layers.4"}));
}

TEST_F(LadderLayoutTest, AlignsExpandedLeaves) {
  expansion_ = test::all_open(ladder_);
  const LadderLayout layout = this->layout();
  EXPECT_EQ(mistake(ladder_, layout), "");
  EXPECT_EQ(rung_mistake(ladder_, layout), "");
  const LadderItem& wo = layout.item(layout.item_of_row(ladder_.find("layers.0.attention.wo")));
  ASSERT_NE(wo.group, nullptr);
  EXPECT_EQ(wo.panels[0].bottom(), wo.panels[1].bottom());
  // The forward runs downwards, the backward upwards.
  EXPECT_LT(layout.node_box(wo, LadderSide::forward, 0).y,
            layout.node_box(wo, LadderSide::forward, 1).y);
  EXPECT_GT(layout.node_box(wo, LadderSide::backward, 0).y,
            layout.node_box(wo, LadderSide::backward, 1).y);
}

TEST_F(LadderLayoutTest, MergesRungsWithTheSameEnds) {
  LadderLayout closed = layout();
  ASSERT_EQ(closed.links().size(), 1U);
  EXPECT_EQ(closed.links()[0].rung_count, 9U);
  EXPECT_EQ(closed.links()[0].bytes(), 9 * 8 * 64 * 4);
  EXPECT_EQ(closed.links()[0].from, closed.links()[0].to);
  expansion_.open(ladder_, ladder_.find("*layers.0"));
  const LadderLayout open = layout();
  EXPECT_EQ(open.links().size(), 3U);
}

TEST_F(LadderLayoutTest, PlacesNodesInExpandedRows) {
  const NodeId node = graph_.find("q_1");
  LadderLayout closed = layout();
  EXPECT_EQ(closed.place_of(ladder_, graph_, node), (LadderPlace{1, -1}));
  expansion_ = test::all_open(ladder_);
  const LadderLayout open = layout();
  const LadderPlace place = open.place_of(ladder_, graph_, node);
  EXPECT_EQ(ladder_.row(open.item(place.item).row).key, "layers.1.attention.wq");
  EXPECT_EQ(place.node, 0);
}

TEST_F(LadderLayoutTest, IsDeterministic) {
  expansion_ = test::all_open(ladder_);
  const LadderLayout a = layout(), b = layout();
  ASSERT_EQ(a.items().size(), b.items().size());
  for (std::size_t i = 0; i < a.items().size(); ++i) EXPECT_EQ(a.items()[i].y, b.items()[i].y);
  ASSERT_EQ(a.links().size(), b.links().size());
  for (std::size_t i = 0; i < a.links().size(); ++i)
    EXPECT_EQ(a.line(a.links()[i].from, LadderSide::forward),
              b.line(b.links()[i].from, LadderSide::forward));
}

TEST_F(LadderLayoutTest, ScalesDownVeryWideDrawings) {
  std::string text = "x: f32[8] = input\n";
  for (int i = 0; i < 60; ++i) text += fmt::format("a_{}: f32[8] = aten.relu(x) {{m}}\n", i);
  for (int i = 0; i < 60; ++i)
    text += fmt::format("b_{}: f32[8] = aten.add.Tensor(a_{}, a_{}) {{m}}\n", i, i, 59 - i);
  graph_ = test::parse(text + "return [b_0]\n");
  ladder_ = Ladder(graph_, *analyze(graph_));
  expansion_ = test::all_open(ladder_);
  const LadderLayout layout = this->layout();
  EXPECT_EQ(mistake(ladder_, layout), "");
  EXPECT_LE(layout.width(), 2 * layout.style().max_column);
}

TEST(LadderLayoutOfRandom, IsSound) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Graph graph =
        test::random_graph(seed, {.calls = 80, .symbols = false, .pair = seed % 2 == 0});
    const Ladder ladder(graph, *analyze(graph));
    const LadderLayout layout = test::ladder_layout(graph, ladder, test::all_open(ladder));
    ASSERT_EQ(mistake(ladder, layout), "") << "seed " << seed;
    ASSERT_EQ(rung_mistake(ladder, layout), "") << "seed " << seed;
  }
}

TEST(LadderLayoutOfSample, IsSoundWithAllRowsExpanded) {
  const auto graph = open_graph(
      {.path = test::source_path("resources/samples/llama_debug_tp2_fsdp2.min_cut.json.zst")});
  ASSERT_TRUE(graph) << graph.error().message;
  const Ladder ladder(*graph, *analyze(*graph));
  const LadderLayout layout = test::ladder_layout(*graph, ladder, test::all_open(ladder));
  EXPECT_EQ(mistake(ladder, layout), "");
  EXPECT_EQ(rung_mistake(ladder, layout), "");
}

}  // namespace
}  // namespace jointer::views
