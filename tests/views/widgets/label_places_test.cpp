// Tests the places of labels: none overlaps another one or leaves the plot.

#include "views/widgets/label_places.h"

#include <gtest/gtest.h>

#include <random>

namespace jointer::views {
namespace {

constexpr double kGap = 9;
const QRectF kPlot(64, 20, 400, 200);

LabelField field_of(const std::vector<PointLabel>& labels) {
  LabelField field{.area = kPlot, .gap = kGap};
  for (const PointLabel& label : labels)
    field.marks.emplace_back(label.at - QPointF(4, 4), QSizeF(8, 8));
  return field;
}

void expect_apart(const std::vector<QRectF>& places) {
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i].isEmpty()) continue;
    EXPECT_TRUE(kPlot.contains(places[i])) << i;
    for (std::size_t j = 0; j < i; ++j) EXPECT_FALSE(places[i].intersects(places[j])) << i << j;
  }
}

TEST(LabelPlaces, ALabelIsNextToItsPoint) {
  const std::vector<PointLabel> labels{{.at = {200, 100}, .size = {60, 16}}};
  const std::vector<QRectF> places = place_labels(labels, field_of(labels));
  EXPECT_EQ(places, std::vector{QRectF(209, 92, 60, 16)});
}

// At every edge and corner of the plot.
TEST(LabelPlaces, LabelsDoNotCoverTheAxes) {
  for (const double x : {kPlot.left(), kPlot.center().x(), kPlot.right()})
    for (const double y : {kPlot.top(), kPlot.center().y(), kPlot.bottom()}) {
      const std::vector<PointLabel> labels{{.at = {x, y}, .size = {90, 16}}};
      const std::vector<QRectF> places = place_labels(labels, field_of(labels));
      EXPECT_FALSE(places.front().isEmpty()) << x << ' ' << y;
      expect_apart(places);
    }
}

// More labels than fit next to points that almost coincide.
TEST(LabelPlaces, LabelsOfNearPointsAreFartherAway) {
  std::vector<PointLabel> labels;
  for (int i = 0; i < 12; ++i)
    labels.push_back({.at = {250.0 + i % 4 * 5, 120.0 + i / 4 * 5}, .size = {50, 16}});
  const std::vector<QRectF> places = place_labels(labels, field_of(labels));
  for (const QRectF& place : places) EXPECT_FALSE(place.isEmpty());
  expect_apart(places);
}

TEST(LabelPlaces, LabelsOfRandomPointsAreApart) {
  std::mt19937 random(1);
  std::uniform_int_distribution<int> x(64, 464), y(20, 220), width(10, 150);
  for (int trial = 0; trial < 50; ++trial) {
    std::vector<PointLabel> labels;
    for (int i = 0; i < 40; ++i)
      labels.push_back(
          {.at = QPointF(x(random), y(random)), .size = QSizeF(width(random), 16), .rank = i % 3});
    const std::vector<QRectF> places = place_labels(labels, field_of(labels));
    ASSERT_EQ(places.size(), labels.size());
    expect_apart(places);
  }
}

// Without space for all labels, those of a lower rank are left out.
TEST(LabelPlaces, RanksDecideWhichLabelsRemain) {
  std::vector<PointLabel> labels;
  for (int i = 0; i < 60; ++i)
    labels.push_back({.at = kPlot.center(), .size = {180, 16}, .rank = i == 59 ? 1 : 0});
  const std::vector<QRectF> places = place_labels(labels, field_of(labels));
  EXPECT_FALSE(places.back().isEmpty());
  EXPECT_TRUE(places[58].isEmpty());
  expect_apart(places);
}

// A label avoids marks and lines if it can.
TEST(LabelPlaces, MarksAndLinesStayVisible) {
  const std::vector<PointLabel> labels{{.at = {200, 100}, .size = {60, 16}}};
  LabelField field = field_of(labels);
  field.marks.emplace_back(QPointF(220, 96), QSizeF(8, 8));   // to the right
  field.lines.push_back(QPolygonF({{64, 100}, {200, 100}}));  // to the left
  const std::vector<QRectF> places = place_labels(labels, field);
  EXPECT_EQ(places, std::vector{QRectF(170, 75, 60, 16)});  // above
}

}  // namespace
}  // namespace jointer::views
