#include "views/widgets/pareto_plot.h"

#include <gtest/gtest.h>

#include <QCoreApplication>
#include <QKeyEvent>

namespace jointer::views {
namespace {

const QRectF kArea(50, 10, 400, 200);

ParetoMark mark(std::int64_t bytes, std::int64_t ns) {
  return {ParetoKind::curve, {}, bytes, ns};
}

TEST(ParetoScale, HoldsAllMarksInside) {
  const std::vector marks{mark(10, 900), mark(500, 300), mark(2000, 100)};
  const ParetoScale scale(marks, kArea);
  for (const ParetoMark& m : marks) EXPECT_TRUE(kArea.contains(scale.place(m)));
}

TEST(ParetoScale, MoreMemoryIsToTheRightMoreTimeIsUp) {
  const std::vector marks{mark(10, 900), mark(500, 300)};
  const ParetoScale scale(marks, kArea);
  EXPECT_LT(scale.place(marks[0]).x(), scale.place(marks[1]).x());
  EXPECT_LT(scale.place(marks[0]).y(), scale.place(marks[1]).y());
}

TEST(ParetoScale, ASingleMarkHasAPosition) {
  const std::vector marks{mark(1 << 30, 1'000'000)};
  EXPECT_TRUE(kArea.contains(ParetoScale(marks, kArea).place(marks[0])));
}

// A label is placed at its mark and overlaps no other mark or label.
TEST(ParetoPlot, LabelsAreNextToTheirMarks) {
  ParetoPlot plot;
  plot.resize(640, 300);
  std::vector<ParetoMark> marks;
  for (int i = 0; i <= 10; ++i) marks.push_back(mark(1000 + i * 100, 900 - i * 40));
  marks.push_back({ParetoKind::preset, "sac_and_offload", 1210, 800});
  marks.push_back({ParetoKind::preset, "eager", 1240, 830});
  marks.push_back({ParetoKind::preset, "apply_sac", 1990, 510});
  marks.push_back({ParetoKind::now, "now", 2000, 500});
  plot.set_marks(marks);
  const std::vector<QRectF> labels = plot.label_places();
  ASSERT_EQ(labels.size(), marks.size());
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i].isEmpty()) continue;
    EXPECT_TRUE(plot.rect().contains(labels[i].toAlignedRect())) << i;
    EXPECT_TRUE(labels[i].adjusted(-14, -14, 14, 14).contains(plot.place_of(i))) << i;
    for (std::size_t j = 0; j < labels.size(); ++j) {
      EXPECT_FALSE(i != j && labels[i].intersects(labels[j])) << i << ' ' << j;
      EXPECT_FALSE(labels[i].contains(plot.place_of(j))) << i << ' ' << j;
    }
  }
}

// As in Tune: the best pipeline, the graph without one, and presets have almost the same numbers.
TEST(ParetoPlot, LabelsOfNearMarksDoNotOverlap) {
  constexpr int kLeft = 64, kBottom = 34;  // the axes
  ParetoPlot plot;
  for (const QSize size : {QSize(640, 300), QSize(360, 180), QSize(240, 160)}) {
    plot.resize(size);
    std::vector<ParetoMark> marks;
    for (int i = 0; i <= 10; ++i) marks.push_back(mark(1000 + i * 100, 900 - i * 40));
    for (int i = 0; i < 6; ++i)
      marks.push_back({ParetoKind::pipeline_preset, QString("preset_pipeline_%1").arg(i),
                       1990 + i % 2 * 20, 505 + i * 12});
    marks.push_back({ParetoKind::now, "no pipeline", 1000, 505});
    marks.push_back({ParetoKind::tuned, "best", 1040, 500});
    plot.set_marks({});
    plot.set_marks(marks);
    const std::vector<QRectF> labels = plot.label_places();
    ASSERT_EQ(labels.size(), marks.size());
    EXPECT_FALSE(labels.back().isEmpty());
    for (std::size_t i = 0; i < labels.size(); ++i) {
      if (labels[i].isEmpty()) continue;
      EXPECT_GE(labels[i].left(), kLeft) << i;
      EXPECT_LE(labels[i].right(), size.width()) << i;
      EXPECT_GE(labels[i].top(), 0) << i;
      EXPECT_LE(labels[i].bottom(), size.height() - kBottom) << i;
      for (std::size_t j = 0; j < i; ++j)
        EXPECT_FALSE(labels[i].intersects(labels[j])) << i << ' ' << j;
    }
  }
}

// Screen readers get what the card of the highlighted mark says.
TEST(ParetoPlot, TheHighlightedMarkIsDescribed) {
  ParetoPlot plot;
  EXPECT_EQ(plot.accessibleDescription(), "");
  plot.set_marks({mark(1000, 900), mark(2000, 500)});
  const auto press = [&plot](Qt::Key key) {
    QKeyEvent event(QEvent::KeyPress, key, Qt::NoModifier);
    QCoreApplication::sendEvent(&plot, &event);
  };
  press(Qt::Key_Right);
  EXPECT_EQ(plot.accessibleDescription(), plot.lines_of(0).join(u'\n'));
  press(Qt::Key_Right);
  EXPECT_EQ(plot.accessibleDescription(), plot.lines_of(1).join(u'\n'));
  // Its changes from the current state are known later.
  plot.set_marks({mark(1000, 900), mark(2000, 500), {ParetoKind::now, "now", 1500, 700}});
  EXPECT_EQ(plot.accessibleDescription(), plot.lines_of(1).join(u'\n'));
  plot.set_marks({mark(1000, 900)});
  EXPECT_EQ(plot.accessibleDescription(), "");
}

// Marks that come, move and go leave all others where they are.
TEST(ParetoPlot, MarksDoNotMoveWhileTheAxesStay) {
  ParetoPlot plot;
  plot.resize(640, 300);
  std::vector<ParetoMark> marks{
      mark(1000, 900), mark(2000, 500), {ParetoKind::now, "now", 5000, 200}};
  plot.set_marks(marks);
  const QPoint first = plot.place_of(0), second = plot.place_of(1);
  marks[2] = {ParetoKind::now, "now", 1500, 700};
  plot.set_marks(marks);
  EXPECT_EQ(plot.place_of(0), first);
  EXPECT_EQ(plot.place_of(1), second);
  marks.pop_back();
  plot.set_marks(marks);
  EXPECT_EQ(plot.place_of(0), first);
  // A mark beyond the axes is not left out.
  marks.push_back({ParetoKind::now, "now", 9000, 100});
  plot.set_marks(marks);
  EXPECT_TRUE(plot.rect().contains(plot.place_of(2)));
  EXPECT_NE(plot.place_of(1), second);
  // Other marks after none are another search.
  plot.set_marks({});
  plot.set_marks({mark(1000, 900), mark(2000, 500)});
  EXPECT_GT(plot.place_of(1).x(), plot.rect().width() * 3 / 4);
}

// Kinds that labels name are not in the legend. Marks do not move when a kind disappears.
TEST(ParetoPlot, LegendNamesTheKinds) {
  ParetoPlot plot;
  plot.resize(240, 300);
  std::vector<ParetoMark> marks{mark(1000, 900), mark(2000, 500)};
  marks.push_back({ParetoKind::now, "now", 1500, 700});
  marks.push_back({ParetoKind::pipeline, "raise_comms", 1400, 600});
  marks.push_back({ParetoKind::preset, "full", 1200, 950});
  marks.push_back({ParetoKind::pipeline_preset, "overlap", 1300, 850});
  plot.set_marks(marks);
  EXPECT_EQ(plot.legend(), (std::vector{ParetoKind::curve, ParetoKind::preset, ParetoKind::pipeline,
                                        ParetoKind::pipeline_preset}));
  for (const ParetoKind kind : plot.legend()) EXPECT_FALSE(legend_text(kind).isEmpty());
  const QPoint first = plot.place_of(0);
  marks.resize(2);
  plot.set_marks(marks);
  EXPECT_EQ(plot.legend(), std::vector{ParetoKind::curve});
  EXPECT_EQ(plot.place_of(0), first);
}

// A single bound is not a line.
TEST(ParetoPlot, LegendNamesTheLowerBound) {
  ParetoPlot plot;
  plot.resize(240, 300);
  std::vector<ParetoMark> marks{mark(1000, 900), mark(2000, 500)};
  marks[0].bound_ns = 800;
  plot.set_marks(marks);
  EXPECT_EQ(plot.legend_entries(), QStringList("searched plan"));
  marks[1].bound_ns = 450;
  plot.set_marks(marks);
  EXPECT_EQ(plot.legend_entries(), QStringList({"searched plan", "lower bound on the step time"}));
}

// One color, one meaning.
TEST(ParetoPlot, PlansAndPipelinesHaveDifferentColors) {
  const Theme& theme = Theme::light_theme();
  const QColor pipeline = color_of(ParetoKind::pipeline, theme);
  EXPECT_EQ(color_of(ParetoKind::tuned, theme), pipeline);
  EXPECT_EQ(color_of(ParetoKind::pipeline_preset, theme), pipeline);
  for (const ParetoKind kind : {ParetoKind::curve, ParetoKind::budget, ParetoKind::preset,
                                ParetoKind::named, ParetoKind::start, ParetoKind::now})
    EXPECT_NE(color_of(kind, theme), pipeline);
}

}  // namespace
}  // namespace jointer::views
