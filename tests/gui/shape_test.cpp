// Tests of the window's shape: it fits on its screen, and nothing that is needed is cut off in a
// small window.

#include <QAbstractButton>
#include <QComboBox>
#include <QLabel>
#include <QScreen>
#include <QScrollBar>
#include <QSignalSpy>

#include "app/desktop/window_geometry.h"
#include "tests/gui/app_window.h"
#include "tests/gui/gui_test.h"
#include "tests/support/paths.h"
#include "views/timeline/timeline_bar.h"
#include "views/widgets/elided_label.h"

namespace jointer {

using namespace views;

namespace {

// The size that a visible text needs; empty for widgets that may show less.
QSize needed(const QWidget& widget) {
  if (dynamic_cast<const ElidedLabel*>(&widget) != nullptr) return {};
  if (const auto* label = qobject_cast<const QLabel*>(&widget)) {
    const QSize least = label->minimumSizeHint();
    return label->wordWrap() ? QSize(0, least.height()) : least;
  }
  // Fusion's buttons ask for more than their texts need.
  if (const auto* button = qobject_cast<const QAbstractButton*>(&widget))
    return button->text().isEmpty()
               ? QSize()
               : button->fontMetrics().size(Qt::TextShowMnemonic, button->text());
  if (const auto* box = qobject_cast<const QComboBox*>(&widget)) return box->minimumSizeHint();
  return {};
}

// The texts in an area that are cut off.
QStringList cut_in(const QWidget& area) {
  QStringList cut;
  for (const QWidget* part : area.findChildren<QWidget*>()) {
    const QSize least = needed(*part);
    if (least.isEmpty() || !part->isVisible()) continue;
    const QRect place(part->mapTo(&area, QPoint()), part->size());
    if (part->size().expandedTo(least) == part->size() && area.rect().contains(place)) continue;
    cut << QStringLiteral("%1 %2 has %3x%4 of %5x%6")
               .arg(part->metaObject()->className(), part->objectName())
               .arg(part->width())
               .arg(part->height())
               .arg(least.width())
               .arg(least.height());
  }
  return cut;
}

}  // namespace

class ShapeTest : public test::AppWindow {
  Q_OBJECT

 private slots:
  void init() { make_folder(); }
  void cleanup() { close_window(); }

  void fits_into_a_screen_data();
  void fits_into_a_screen();
  void the_first_window_fits_on_its_screen();
  void a_restored_window_fits_on_its_screen();
  void all_lanes_are_visible_data();
  void all_lanes_are_visible();
  void nothing_needed_is_cut_off_data() { all_lanes_are_visible_data(); }
  void nothing_needed_is_cut_off();
  void a_low_legend_counts_what_it_leaves_out();
  void the_legend_of_lanes_can_be_hidden();

 private:
  void open_sample();
  void resize_to(QSize size);
  [[nodiscard]] TimelineView& timeline() const { return *window_->current_tab()->timeline(); }
  [[nodiscard]] QAction& legend_action() const {
    return *window_->findChild<QAction*>(QStringLiteral("lane_legend"));
  }
};

void ShapeTest::open_sample() {
  QVERIFY(open_file(test::source_path(test::kSample)));
}

void ShapeTest::resize_to(QSize size) {
  window_->resize(size);
  QTest::qWait(50);
}

void ShapeTest::fits_into_a_screen_data() {
  QTest::addColumn<QRect>("before");
  QTest::addColumn<QRect>("available");
  QTest::addColumn<QRect>("fitted");
  const QRect screen(0, 0, 1280, 720);
  QTest::newRow("fits") << QRect(10, 20, 800, 600) << screen << QRect(10, 20, 800, 600);
  QTest::newRow("too large") << QRect(0, 0, 1600, 1000) << screen << screen;
  QTest::newRow("too far right") << QRect(900, 300, 800, 600) << screen
                                 << QRect(480, 120, 800, 600);
  QTest::newRow("on a screen that is gone")
      << QRect(-1900, -50, 800, 600) << screen << QRect(0, 0, 800, 600);
  QTest::newRow("below a panel") << QRect(0, 0, 1280, 720) << QRect(1280, 30, 1280, 690)
                                 << QRect(1280, 30, 1280, 690);
}

void ShapeTest::fits_into_a_screen() {
  QFETCH(QRect, before);
  QFETCH(QRect, available);
  QTEST(desktop::fitted(before, available), "fitted");
}

void ShapeTest::the_first_window_fits_on_its_screen() {
  settings_ = std::make_unique<QSettings>(folder_->filePath("settings.ini"), QSettings::IniFormat);
  const desktop::MainWindow window(*settings_, AnalysisOptions{}, service_,
                                   BenchmarkHistory(folder_->path().toStdString()));
  const QSize available = window.screen()->availableGeometry().size();
  QVERIFY2(window.width() <= available.width() && window.height() <= available.height(),
           qPrintable(QStringLiteral("%1x%2").arg(window.width()).arg(window.height())));
}

void ShapeTest::a_restored_window_fits_on_its_screen() {
  make_window();
  const QRect available = window_->screen()->availableGeometry();
  window_->setGeometry(available.translated(available.width() / 2, available.height() / 2));
  window_->close();
  close_window();
  settings_ = std::make_unique<QSettings>(folder_->filePath("settings.ini"), QSettings::IniFormat);
  const desktop::MainWindow again(*settings_, AnalysisOptions{}, service_,
                                  BenchmarkHistory(folder_->path().toStdString()));
  QVERIFY(available.contains(again.geometry()));
}

void ShapeTest::all_lanes_are_visible_data() {
  QTest::addColumn<QSize>("size");
  QTest::addColumn<QString>("pane");
  // 1280x720 is a screen of 2560x1440 pixels at scale 2.
  for (const QSize size : {QSize(1280, 720), QSize(1280, 800), QSize(1600, 1000)})
    for (const QString& pane : desktop::MainWindow::pane_names())
      QTest::addRow("%s at %dx%d", qPrintable(pane), size.width(), size.height()) << size << pane;
}

void ShapeTest::all_lanes_are_visible() {
  QFETCH(QSize, size);
  QFETCH(QString, pane);
  make_window();
  resize_to(size);
  open_sample();
  QVERIFY(show_pane<QWidget>(qPrintable(pane)) != nullptr);
  QTest::qWait(50);
  QCOMPARE(window_->size(), size);  // the panes' minimum sizes do not make it larger
  constexpr int kVisible = 8;
  const TimelineLayout& layout = timeline().layout();
  QVERIFY(layout.lane.size() >= 4);  // the CPU, compute, fsdp and tp
  for (const QRect& lane : layout.lane)
    QVERIFY2(lane.intersected(layout.lanes).height() >= kVisible,
             qPrintable(QStringLiteral("a lane at %1, the lanes at %2 with %3")
                            .arg(lane.top())
                            .arg(layout.lanes.top())
                            .arg(layout.lanes.height())));
  QCOMPARE(timeline().verticalScrollBar()->maximum(), 0);
  QVERIFY(layout.memory.height() >= 40);
  QVERIFY(!layout.lane_legend.intersects(layout.overview));
}

// The header, the bar of the timeline and the pane have space for their texts and buttons.
void ShapeTest::nothing_needed_is_cut_off() {
  QFETCH(QSize, size);
  QFETCH(QString, pane);
  make_window();
  resize_to(size);
  open_sample();
  const auto* shown = show_pane<QWidget>(qPrintable(pane));
  QVERIFY(shown != nullptr);
  const auto all_cut = [&] {
    return cut_in(*window_->menuWidget()) + cut_in(*window_->findChild<TimelineBar*>()) +
           cut_in(*shown);
  };
  // Results of computations may still arrive.
  QTest::qWait(50);
  QTRY_VERIFY2(all_cut().isEmpty(), qPrintable(all_cut().join(u'\n')));
}

void ShapeTest::a_low_legend_counts_what_it_leaves_out() {
  make_window();
  resize_to({1280, 720});
  open_sample();
  const QPoint on_legend = timeline().layout().legend.center();
  QVERIFY(timeline().card_at(on_legend).join(u' ').contains("tangents"));
  resize_to({1600, 1400});
  QVERIFY(timeline().card_at(timeline().layout().legend.center()).isEmpty());
}

void ShapeTest::the_legend_of_lanes_can_be_hidden() {
  make_window();
  open_sample();
  QVERIFY(timeline().layout().lane_legend.height() > 0);
  legend_action().trigger();
  QCOMPARE(timeline().layout().lane_legend.height(), 0);
  close_window();
  make_window();
  open_sample();
  QVERIFY(!legend_action().isChecked());
  QCOMPARE(timeline().layout().lane_legend.height(), 0);
}

}  // namespace jointer

JOINTER_GUI_TEST(jointer::ShapeTest, "shape")
#include "shape_test.moc"
