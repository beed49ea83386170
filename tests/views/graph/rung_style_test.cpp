// Tests that policies of tensors are distinguishable without color.

#include "views/graph/rung_style.h"

#include <gtest/gtest.h>

#include <QImage>

#include "views/graph/ladder_colors.h"
#include "views/graph/ladder_painter.h"

namespace jointer::views {
namespace {

constexpr int kWidth = 120, kHeight = 24;

// Black on white, from the left edge to the right.
QImage drawn(RungState state, bool is_saved, double width) {
  QImage image(kWidth, kHeight, QImage::Format_RGB32);
  image.fill(Qt::white);
  QPainter painter(&image);
  QPainterPath path(QPointF(0, kHeight / 2.0));
  path.lineTo(kWidth, kHeight / 2.0);
  draw_rung(painter, path,
            {.state = state,
             .is_saved = is_saved,
             .color = Qt::black,
             .inside = Qt::white,
             .width = width});
  return image;
}

bool is_inked(const QImage& image, int x, int y) {
  return qGray(image.pixel(x, y)) < 128;
}

// Number of empty columns.
int gaps(const QImage& image) {
  int count = 0;
  for (int x = 0; x < image.width(); ++x) {
    bool any = false;
    for (int y = 0; y < image.height(); ++y) any = any || is_inked(image, x, y);
    count += any ? 0 : 1;
  }
  return count;
}

int ink_in_the_middle(const QImage& image) {
  int count = 0;
  for (int x = 0; x < image.width(); ++x) count += is_inked(image, x, kHeight / 2) ? 1 : 0;
  return count;
}

TEST(RungStyle, StatesAreDistinguishableWithoutColor) {
  for (const double width : {6.0, 12.0}) {
    const QImage saved = drawn(RungState::save, true, width);
    const QImage again = drawn(RungState::recompute, false, width);
    const QImage offloaded = drawn(RungState::offload, true, width);
    EXPECT_EQ(gaps(saved), 0);
    EXPECT_EQ(ink_in_the_middle(saved), kWidth);
    EXPECT_GT(gaps(again), kWidth / 5);
    // Rails from end to end, with ties between them.
    EXPECT_EQ(gaps(offloaded), 0);
    EXPECT_LT(ink_in_the_middle(offloaded), kWidth / 2);
    EXPECT_GT(ink_in_the_middle(offloaded), 0);
  }
}

TEST(RungStyle, ThinRungsAreDistinguishableToo) {
  const QImage saved = drawn(RungState::save, true, 2);
  const QImage again = drawn(RungState::recompute, false, 2);
  const QImage offloaded = drawn(RungState::offload, true, 2);
  EXPECT_EQ(gaps(saved), 0);
  EXPECT_GT(gaps(again), 0);
  EXPECT_GT(gaps(offloaded), gaps(again));
}

// Dark pixels by column in a box that is colored by policy.
int inked_columns(RungState state) {
  QImage image(kWidth, kHeight, QImage::Format_RGB32);
  image.fill(Qt::white);
  QPainter painter(&image);
  hatch(painter, image.rect(), rung_hatch(state), Qt::white);
  int count = 0;
  for (int x = 2; x < kWidth - 2; ++x)
    count += image.pixel(x, kHeight / 2) == QColor(Qt::white).rgb() ? 0 : 1;
  return count;
}

TEST(RungStyle, BoxesOfOffloadedTensorsHaveTies) {
  EXPECT_GT(inked_columns(RungState::offload), kWidth / 20);
  EXPECT_LT(inked_columns(RungState::offload), kWidth / 2);
  for (const auto state : {RungState::save, RungState::recompute, RungState::automatic})
    EXPECT_EQ(inked_columns(state), 0);
}

}  // namespace
}  // namespace jointer::views
