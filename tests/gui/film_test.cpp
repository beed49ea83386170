// The first minute with a graph, by real events on the real window. With JOINTER_FILM set to a
// folder, its frames are saved there; scripts/pictures makes the README's film of them.

#include <QPainter>
#include <QSlider>

#include "tests/gui/gui_test.h"
#include "tests/gui/sac_window.h"
#include "tests/gui/timeline_hand.h"
#include "views/session/edit/move_planner.h"

namespace jointer {

using namespace views;
using test::child;
using test::kPatienceMs;

namespace {

constexpr QSize kSize(1280, 800);
constexpr int kFrameMs = 100;

// Outline of an arrow whose tip is at (0, 0).
QPolygonF arrow() {
  return {{{0, 0}, {0, 17}, {4, 13.5}, {7, 20}, {9.5, 19}, {6.5, 12.5}, {12, 12.5}}};
}

}  // namespace

class FilmTest : public test::SacWindow {
  Q_OBJECT

 private slots:
  void init() {
    make_window();
    window_->resize(kSize);
  }
  void cleanup() { close_window(); }

  void the_first_minute();

 private:
  // Shows the window for a time of the film.
  void hold(int ms) {
    QTest::qWait(1);  // what is pending is painted
    if (!films()) return;
    for (int shown = 0; shown < ms; shown += kFrameMs) {
      QTest::qWait(kFrameMs / 4);
      save_frame();
    }
  }
  // Moves the pointer over a widget in a straight line.
  void glide(QWidget& widget, QPoint to, int frames) {
    const QPoint from = pointer_;
    const QPoint end = widget.mapTo(window_.get(), to);
    for (int i = 1; i <= frames; ++i) {
      pointer_ = from + (end - from) * i / frames;
      QTest::mouseMove(&widget, widget.mapFrom(window_.get(), pointer_));
      hold(kFrameMs);
    }
  }
  [[nodiscard]] bool films() const { return !folder_of_frames_.isEmpty(); }
  void save_frame() {
    QPixmap frame = window_->grab();
    QPainter painter(&frame);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.translate(pointer_);
    painter.setPen(Qt::white);
    painter.setBrush(Qt::black);
    painter.drawPolygon(arrow());
    painter.end();
    QVERIFY(
        frame.save(QStringLiteral("%1/%2.png")
                       .arg(folder_of_frames_, QString::number(frame_++).rightJustified(4, u'0'))));
  }

  const QString folder_of_frames_ = qEnvironmentVariable("JOINTER_FILM");
  QPoint pointer_{kSize.width() / 2, kSize.height() / 2};
  int frame_ = 0;
};

void FilmTest::the_first_minute() {
  QVERIFY(open_file(test::source_path(test::kLarge)));
  show_pane<QWidget>("alive");
  show_pane<QWidget>("graph");
  hold(1500);

  // The peak.
  QTest::keyClick(&timeline(), Qt::Key_P);
  QCOMPARE(document().selection().moment().value_or(document().analysis().memory.peak_index()),
           document().analysis().memory.peak_index());
  hold(2000);

  // An exposed collective, and its wait moved by the mouse: the numbers follow the pointer.
  show_pane<QWidget>("inspector");
  const NodeId wait = test::exposed_wait(document());
  QVERIFY(wait);
  document().selection().select(wait);
  hold(1500);
  const std::int64_t step = document().analysis().simulation.step_ns();
  test::TimelineHand hand(document(), timeline());
  const auto to_best = [](const MovePreview& preview) {
    std::size_t best = preview.current();
    for (std::size_t gap = preview.current(); gap <= preview.last(); ++gap)
      if (preview.at(gap).step_ns < preview.at(best).step_ns) best = gap;
    return best;
  };
  const auto grip = hand.grip_of(wait);
  QVERIFY(grip);
  QWidget& canvas = *timeline().viewport();
  glide(canvas, *grip, 8);
  const auto end = hand.drag(wait, to_best);
  QVERIFY(end);
  glide(canvas, *end, 18);
  hold(600);
  QTest::mouseRelease(&canvas, Qt::LeftButton, {}, *end);
  QTRY_COMPARE_WITH_TIMEOUT(editing().entry_count(), 1, kPatienceMs);
  QTRY_VERIFY_WITH_TIMEOUT(editing().is_settled(), kPatienceMs);
  QVERIFY(document().analysis().simulation.step_ns() <= step);
  hold(2000);

  // Less memory: the plan follows the slider.
  QVERIFY(show_pane<SacPane>("sac") != nullptr);
  QTRY_VERIFY_WITH_TIMEOUT(session().state() != nullptr && session().is_settled(), kPatienceMs);
  hold(1000);
  auto& slider = child<QSlider>(pane());
  glide(slider, slider.rect().center(), 8);
  const int from = slider.value(),
            to = slider.minimum() + (slider.maximum() - slider.minimum()) / 3;
  for (int i = 1; i <= 15; ++i) {
    slider.setSliderDown(true);
    slider.setValue(from + (to - from) * i / 15);
    hold(kFrameMs);
  }
  slider.setSliderDown(false);
  QTRY_VERIFY_WITH_TIMEOUT(session().is_settled() && editing().is_settled(), kPatienceMs);
  hold(2500);

  // Undone.
  const int edits = editing().place();
  QTest::keyClick(window_.get(), Qt::Key_Z, Qt::ControlModifier);
  QTRY_COMPARE_WITH_TIMEOUT(editing().place(), edits - 1, kPatienceMs);
  hold(1500);
}

}  // namespace jointer

JOINTER_GUI_TEST(jointer::FilmTest, "film")
#include "film_test.moc"
