#include "views/graph/ladder_view.h"

#include <gtest/gtest.h>

#include "tests/support/graphs.h"
#include "tests/support/ladders.h"

namespace jointer::views {
namespace {

class LadderViewTest : public testing::Test {
 protected:
  explicit LadderViewTest(int layers = 40)
      : graph_(test::layered_graph(layers)), ladder_(graph_, *analyze(graph_)) {
    expansion_.open(ladder_, ladder_.find("*layers.0"));
  }
  LadderLayout layout() const { return test::ladder_layout(graph_, ladder_, expansion_); }

  Graph graph_;
  Ladder ladder_;
  LadderExpansion expansion_;
  LadderView view_{.width = 900, .height = 400};
};

TEST_F(LadderViewTest, ZoomKeepsThePoint) {
  view_.y = 137;
  for (const double factor : {1.25, 3.0, 0.1, 0.5, 1e-9, 1e9}) {
    const double x = view_.from_x(321), y = view_.from_y(77);
    view_.zoom_at(321, 77, factor);
    EXPECT_NEAR(view_.from_x(321), x, 1e-6);
    EXPECT_NEAR(view_.from_y(77), y, 1e-6);
    EXPECT_GE(view_.scale, LadderView::kMinScale);
    EXPECT_LE(view_.scale, LadderView::kMaxScale);
  }
}

TEST_F(LadderViewTest, FitShowsAllAndNeverEnlarges) {
  const LadderLayout layout = this->layout();
  view_.fit(layout);
  EXPECT_GE(view_.from_y(view_.height), layout.height() - 0.01);
  EXPECT_LE(view_.from_x(0), 0);
  EXPECT_LE(view_.scale, 1);
}

TEST_F(LadderViewTest, ScrollsAsLittleAsNecessary) {
  view_.y = 100;
  view_.show_y(150, 176);
  EXPECT_EQ(view_.y, 100);
  view_.show_y(20, 46);
  EXPECT_EQ(view_.y, 20);
  view_.show_y(600, 626);
  EXPECT_EQ(view_.y, 226);
  view_.show_y(0, 5000);
  EXPECT_EQ(view_.y, 0);
}

TEST_F(LadderViewTest, DrawsTheVisibleRows) {
  const LadderLayout layout = this->layout();
  view_.y = 200;
  const auto bands = visible_bands(layout, view_);
  ASSERT_FALSE(bands.empty());
  EXPECT_LE(bands.size(), 400 / 30 + 2U);
  for (const LadderBand& band : bands) {
    EXPECT_FALSE(band.is_folded());
    EXPECT_GE(view_.to_y(band.y + band.height), -4);
    EXPECT_LE(view_.to_y(band.y), 400);
  }
}

TEST_F(LadderViewTest, FoldsRowsBelowThreePixels) {
  expansion_ = test::all_open(ladder_);
  for (int row = 0; row < static_cast<int>(ladder_.rows().size()); ++row)
    if (ladder_.is_leaf(row)) expansion_.close(ladder_, row);
  const LadderLayout layout = this->layout();
  view_.scale = LadderView::kMinScale;
  const auto bands = visible_bands(layout, view_);
  EXPECT_LE(bands.size(), static_cast<std::size_t>(view_.height / kFoldPixels) + 2);
  // Each row is in exactly one band, in order.
  std::int32_t next = 0;
  double below = -1;
  for (const LadderBand& band : bands) {
    EXPECT_EQ(band.first, next);
    EXPECT_GE(band.y, below);
    below = band.y + band.height;
    next = band.last;
  }
  EXPECT_EQ(next, static_cast<std::int32_t>(layout.items().size()));
}

TEST_F(LadderViewTest, FindsTheItemAtAPoint) {
  expansion_ = test::all_open(ladder_);
  const LadderLayout layout = this->layout();
  for (const double scale : {0.3, 1.0, 2.0}) {
    view_.scale = scale;
    view_.y = 90;
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(layout.items().size()); i += 7) {
      const LadderItem& item = layout.item(i);
      const auto at = [&](double x, double y) {
        return hit_ladder(layout, view_, view_.to_x(x), view_.to_y(y));
      };
      for (const LadderSide side : kLadderSides) {
        const LadderRect box = layout.box(item, side);
        const LadderHit hit = at(box.x + box.width / 2, box.middle_y());
        EXPECT_EQ(hit.place, (LadderPlace{i, -1}));
        EXPECT_EQ(hit.side, side);
        EXPECT_FALSE(hit.is_toggle);
        const double outer = side == LadderSide::forward ? box.x + 8 : box.right() - 8;
        EXPECT_TRUE(at(outer, box.middle_y()).is_toggle);
        if (!item.group) continue;
        for (std::size_t n = 0; n < ladder_.boxes(item.row, side).size(); ++n) {
          const LadderRect node = layout.node_box(item, side, n);
          EXPECT_EQ(at(node.x + 3, node.middle_y()).place,
                    (LadderPlace{i, static_cast<std::int32_t>(n)}));
        }
      }
    }
  }
}

TEST_F(LadderViewTest, FindsRungs) {
  const LadderLayout layout = this->layout();
  const auto links = layout.links();
  for (std::size_t i = 0; i < links.size(); ++i) {
    const double y0 = layout.line(links[i].from, LadderSide::forward).back().y;
    const double y1 = layout.line(links[i].to, LadderSide::backward).back().y;
    const double x = (layout.channel_left() + layout.channel_right()) / 2;
    const double y = curve_y(layout.channel_left(), layout.channel_right(), y0, y1, x);
    const LadderHit hit = hit_ladder(layout, view_, view_.to_x(x), view_.to_y(y));
    ASSERT_TRUE(hit.link);
    EXPECT_EQ(*hit.link, i);
  }
  EXPECT_TRUE(hit_ladder(layout, view_, -50, -50).is_empty());
}

// In a forward alone, nothing reads the values that it saves.
TEST(LadderViewOfHalf, ALinkWithoutReadersIsHitOnlyWhereItIsDrawn) {
  Graph graph = test::parse(R"(
    kind forward
    x: f32[8,64] = input
    a: f32[8,64] = aten.relu(x)  {layers.0}
    b: f32[8,64] = aten.neg(a)   {layers.0}
    return [b, a]
  )");
  graph.part(PartId(0)).outputs[1].role = Role::saved;
  const Ladder ladder(graph, *analyze(graph));
  const LadderLayout layout = test::ladder_layout(graph, ladder, {});
  ASSERT_EQ(layout.links().size(), 1U);
  const LadderLink& link = layout.links()[0];
  ASSERT_LT(link.to.item, 0);
  const double end = link_right(layout, link);
  EXPECT_GT(end, layout.channel_left());
  EXPECT_LT(end, layout.channel_right());
  const LadderView view{.width = 900, .height = 400};
  const auto hits = [&](double x) {
    const double y = layout.line(link.from, LadderSide::forward).back().y;
    return hit_ladder(layout, view, view.to_x(x), view.to_y(y)).link.has_value();
  };
  EXPECT_TRUE(hits(end - 2));
  EXPECT_FALSE(hits(end + 2));
}

TEST_F(LadderViewTest, ACurveLeadsFromEndToEnd) {
  EXPECT_NEAR(curve_y(10, 110, 5, 95, 10), 5, 0.01);
  EXPECT_NEAR(curve_y(10, 110, 5, 95, 60), 50, 0.01);
  EXPECT_NEAR(curve_y(10, 110, 5, 95, 110), 95, 0.01);
  EXPECT_LT(curve_y(10, 110, 5, 95, 30), curve_y(10, 110, 5, 95, 50));
}

TEST_F(LadderViewTest, MoreBytesAreThicker) {
  EXPECT_LT(rung_thickness(1, 100), rung_thickness(50, 100));
  EXPECT_LT(rung_thickness(50, 100), rung_thickness(100, 100));
  EXPECT_GT(rung_thickness(0, 0), 0);
}

}  // namespace
}  // namespace jointer::views
