// Lanes of predicted kernels in the timeline of the real window: shown from a menu, hovered and
// clicked, and computed only while they are on screen.

#include <QScrollBar>
#include <QTest>
#include <algorithm>

#include "core/base/index.h"
#include "tests/gui/app_window.h"
#include "tests/gui/gestures.h"
#include "tests/gui/gui_test.h"
#include "views/session/kernels/kernel_text.h"
#include "views/session/kernels/predicted_kernels.h"
#include "views/timeline/timeline_view.h"

namespace jointer {

using namespace views;

class PredictedLanesTest : public test::AppWindow {
  Q_OBJECT

 private slots:
  void init() { QVERIFY(open_sample()); }
  void cleanup() { close_window(); }

  void a_kernel_is_hovered_and_clicked_data() {
    QTest::addColumn<bool>("in_program_order");
    QTest::newRow("program order") << true;
    QTest::newRow("estimated time") << false;
  }
  void a_kernel_is_hovered_and_clicked();
  void selected_nodes_mark_their_kernel();
  void narrow_kernels_are_folded();
  void nothing_is_computed_without_the_lanes();
  void the_choice_is_kept();

 private:
  void show_lanes() {
    test::run_action(*window_, QStringLiteral("Kernel Lanes"));
    QVERIFY(timeline().content().shows_kernels());
    QTRY_VERIFY_WITH_TIMEOUT(predicted().is_current(), test::kPatienceMs);
    QTRY_VERIFY(timeline().content().kernel_lanes() != nullptr);
    to_bottom();
  }
  // The lanes of kernels are the lowest ones.
  void to_bottom() const {
    timeline().verticalScrollBar()->setValue(timeline().verticalScrollBar()->maximum());
  }
  [[nodiscard]] PredictedKernels& predicted() const { return document().kernels(); }
  [[nodiscard]] std::size_t row() const { return as_index(timeline().content().row_of_kernels(0)); }
  [[nodiscard]] const Lane& lane() const { return timeline().content().kernel_lanes()->lanes()[0]; }
  // An item of a kernel in which several nodes run.
  [[nodiscard]] LaneItem fused_item() const {
    const auto found = std::ranges::find_if(lane().items(), [this](const LaneItem& item) {
      return predicted().shown()->kernel(as_index(item.kernel)).nodes.size() > 1;
    });
    return found == lane().items().end() ? LaneItem() : *found;
  }
  [[nodiscard]] QPoint place_of(const LaneItem& item) const {
    to_bottom();
    return {static_cast<int>(
                timeline().range().axis().to_pixel(static_cast<double>(item.begin + item.end) / 2)),
            timeline().layout().lane[row()].center().y()};
  }
};

void PredictedLanesTest::a_kernel_is_hovered_and_clicked() {
  QFETCH(bool, in_program_order);
  timeline().content().set_kind(in_program_order ? AxisKind::program_order
                                                 : AxisKind::estimated_time);
  show_lanes();
  const LaneItem item = fused_item();
  QVERIFY(item.kernel >= 0);
  timeline().range().show(item.begin, item.end, 1);
  QTRY_VERIFY_WITH_TIMEOUT(!timeline().card_at(place_of(item)).isEmpty(), test::kPatienceMs);
  QCOMPARE(timeline().card_at(place_of(item)),
           kernel_card_lines(*predicted().shown(), as_index(item.kernel)));
  document().selection().clear();
  QTest::mouseClick(timeline().viewport(), Qt::LeftButton, {}, place_of(item));
  std::vector<NodeId> nodes = predicted().shown()->kernel(as_index(item.kernel)).nodes;
  std::ranges::sort(nodes);
  const auto selected = document().selection().nodes();
  QVERIFY(std::ranges::equal(selected, nodes));
}

void PredictedLanesTest::selected_nodes_mark_their_kernel() {
  show_lanes();
  const LaneItem item = fused_item();
  QVERIFY(item.kernel >= 0);
  const NodeId node = predicted().shown()->kernel(as_index(item.kernel)).nodes.back();
  const std::int32_t kernel = predicted().shown()->row_of(node);
  document().selection().select(node);
  const auto places = timeline().content().kernel_lanes()->places(as_index(kernel));
  QVERIFY(!places.empty());
  timeline().range().show(places.front().begin, places.front().end, 1);
  QTest::mouseMove(timeline().viewport(), QPoint(2, 2));
  to_bottom();
  const int x = static_cast<int>(timeline().range().axis().to_pixel(
      static_cast<double>(places.front().begin + places.front().end) / 2));
  const QImage image = timeline().viewport()->grab().toImage();
  QCOMPARE(image.pixelColor(x, timeline().layout().lane[row()].bottom() - 1),
           Theme::of(timeline().palette()).accent);
}

void PredictedLanesTest::narrow_kernels_are_folded() {
  show_lanes();
  timeline().range().fit();
  to_bottom();
  const LaneTrack track = timeline().scene().lane_track(row());
  QVERIFY(track.runs().size() <= as_index(timeline().layout().width()));
  const auto run = std::ranges::find_if(track.runs(), &LaneRun::is_folded);
  QVERIFY(run != track.runs().end());
  const QPoint at(run->left, timeline().layout().lane[row()].center().y());
  const QString card = timeline().card_at(at).join(u'\n');
  QVERIFY2(card.contains("kernels here") && card.contains("read and written"), qPrintable(card));
  QTest::mouseClick(timeline().viewport(), Qt::LeftButton, {}, at);
  QVERIFY(document().selection().nodes().size() > 1);
}

void PredictedLanesTest::nothing_is_computed_without_the_lanes() {
  QVERIFY(!timeline().content().shows_kernels());
  QTest::qWait(50);
  QVERIFY(!predicted().shown() && !predicted().is_running());
  show_lanes();
  test::run_action(*window_, QStringLiteral("Kernel Lanes"));
  QVERIFY(!timeline().content().shows_kernels());
  const SnapshotKernelsPtr before = predicted().shown();
  AnalysisOptions options = document().analysis().options;
  options.estimator.device = "b200";
  document().analyze_with(options);
  QTRY_COMPARE_WITH_TIMEOUT(document().analysis().options.estimator.device, std::string("b200"),
                            test::kPatienceMs);
  QTest::qWait(50);
  QCOMPARE(predicted().shown(), before);
  QVERIFY(!predicted().is_running());
}

void PredictedLanesTest::the_choice_is_kept() {
  show_lanes();
  close_window();
  make_window();
  QVERIFY(open_file(test::source_path(test::kSample)));
  QVERIFY(timeline().content().shows_kernels());
  QTRY_VERIFY_WITH_TIMEOUT(predicted().is_current(), test::kPatienceMs);
}

}  // namespace jointer

JOINTER_GUI_TEST(jointer::PredictedLanesTest, "predicted_lanes")
#include "predicted_lanes_test.moc"
