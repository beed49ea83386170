// Tests the numbers and the timeline of a joint graph as partitioned.

#include <QTest>

#include "tests/gui/app_window.h"
#include "tests/gui/gui_test.h"
#include "tests/support/child.h"
#include "views/alive/alive_pane.h"
#include "views/sac/sac_figures.h"
#include "views/sac/sac_pane.h"
#include "views/session/edit/editing.h"
#include "views/session/sac/sac_session.h"
#include "views/session/text/number_text.h"
#include "views/window/plan_figure.h"
#include "views/window/timeline_stack.h"

namespace jointer {

using namespace views;
using test::child;
using test::kPatienceMs;

class PartitionedTest : public test::AppWindow {
  Q_OBJECT

 private slots:
  void init() {
    QVERIFY(open_sample());
    QTRY_VERIFY(window_->findChild<PlanFigure*>() != nullptr);
  }
  void cleanup() { close_window(); }

  void figures_are_next_to_the_headline();
  void the_step_is_the_sum_of_its_parts_data();
  void the_step_is_the_sum_of_its_parts();
  void undo_shows_remembered_figures();
  void timeline_shows_either();
  void timeline_follows_the_plan();
  void alive_now_lists_what_is_live_in_the_timeline();
  void nodes_of_the_pair_cannot_be_moved();

 private:
  [[nodiscard]] SacSession& session() const { return document().sac(); }
  [[nodiscard]] PlanFigure& planned() const { return child<PlanFigure>(*window_); }
  [[nodiscard]] const Analysis& shown() const { return timeline().content().shown().analysis; }
  bool settle() {
    return QTest::qWaitFor([this] { return session().figures() && session().is_settled(); },
                           kPatienceMs);
  }
  [[nodiscard]] QString text() const {
    const Figures& figures = session().state()->figures.figures;
    return QStringLiteral("%1 · %2").arg(bytes_text(figures.peak_bytes),
                                         time_text(figures.step_ns));
  }
  // The line below the peak and the step in the header, with names and without them.
  static QStringList terms_of(const Simulation& pair) {
    const QString compute = time_text(pair.compute_ns()), exposed = time_text(pair.exposed_ns()),
                  host = time_text(pair.host_bound_ns());
    return {QStringLiteral("%1 compute + %2 exposed + %3 CPU wait").arg(compute, exposed, host),
            QStringLiteral("%1 + %2 + %3").arg(compute, exposed, host)};
  }
  // The terms without their names, which a narrow header leaves out.
  static QString numbers_in(QString terms) {
    for (const char* name : {" compute", " exposed", " CPU wait"})
      terms.remove(QLatin1String(name));
    return terms;
  }
  [[nodiscard]] bool is_partitioned() const { return timeline().content().shown().graph.is_pair(); }
};

void PartitionedTest::figures_are_next_to_the_headline() {
  // There is a place for them from the start; no pane was opened.
  QVERIFY(planned().isVisible());
  QVERIFY(planned().value().text() == "computing..." || session().figures());
  QVERIFY(settle());
  QCOMPARE(planned().value().text(), text());
  // The SAC pane has the same.
  QVERIFY(show_pane<SacPane>("sac") != nullptr);
  QStringList labels;
  for (const auto* label : child<SacFigures>(*window_).findChildren<QLabel*>())
    labels << label->text();
  const Figures& figures = session().state()->figures.figures;
  QVERIFY(labels.contains(bytes_text(figures.peak_bytes)));
  QVERIFY(labels.contains(time_text(figures.step_ns)));
}

void PartitionedTest::the_step_is_the_sum_of_its_parts_data() {
  QTest::addColumn<QByteArray>("file");
  QTest::addColumn<QSize>("size");
  for (const char* file :
       {"llama_debug_tp2_fsdp2.joint.json.zst", "llama_debug_tp2.joint.json.zst"})
    for (const QSize size : kSizes)
      QTest::addRow("%s at %dx%d", file, size.width(), size.height()) << QByteArray(file) << size;
}

// The parts are those of the pair, and are shown whatever the width.
void PartitionedTest::the_step_is_the_sum_of_its_parts() {
  QFETCH(QByteArray, file);
  QFETCH(QSize, size);
  close_window();
  make_window();
  window_->resize(size);
  QVERIFY(open_file(test::source_path("resources/samples/" + file.toStdString())));
  QTRY_VERIFY(window_->findChild<PlanFigure*>() != nullptr);
  QVERIFY(settle());
  click_button("show_partitioned");
  QTRY_VERIFY_WITH_TIMEOUT(is_partitioned(), kPatienceMs);
  const Simulation& pair = shown().simulation;
  QVERIFY(!pair.collectives().empty());
  QCOMPARE(pair.compute_ns() + pair.exposed_ns() + pair.host_bound_ns(), pair.step_ns());
  QVERIFY(planned().value().text().endsWith(time_text(pair.step_ns())));
  const QLabel& terms = planned().terms();
  QTRY_VERIFY(terms.isVisible());
  QVERIFY2(terms_of(pair).contains(terms.text()), qPrintable(terms.text()));
  QVERIFY2(terms.text() == terms_of(pair).front() ||
               planned().toolTip().contains(terms_of(pair).front()),
           qPrintable(planned().toolTip()));
  QTRY_VERIFY2(terms.width() >= terms.minimumSizeHint().width(), "the parts are not cut off");
  QCOMPARE(window_->size(), size);
}

void PartitionedTest::undo_shows_remembered_figures() {
  QVERIFY(settle());
  const QString opened = text(), parts = numbers_in(planned().terms().text());
  QVERIFY(!parts.isEmpty());
  session().set_action(session().saved_at_peak(), PlanAction::recompute);
  QTRY_COMPARE_WITH_TIMEOUT(document().editing().entry_count(), 1, kPatienceMs);
  QVERIFY(settle());
  QVERIFY(text() != opened);
  QCOMPARE(planned().value().text(), text());
  QString first, first_parts;
  connect(&session(), &SacSession::figures_changed, &planned(), [&] {
    if (!first.isEmpty()) return;
    first = planned().value().text();
    first_parts = numbers_in(planned().terms().text());
  });
  QTest::keyClick(window_.get(), Qt::Key_Z, Qt::ControlModifier);
  QTRY_VERIFY_WITH_TIMEOUT(!first.isEmpty(), kPatienceMs);
  QCOMPARE(first, opened);
  QCOMPARE(first_parts, parts);
}

void PartitionedTest::timeline_shows_either() {
  QVERIFY(settle());
  timeline().setFocus();
  QTest::keyClick(&timeline(), Qt::Key_G);
  const AxisKind kind = timeline().content().kind();
  click_button("show_partitioned");
  QTRY_VERIFY_WITH_TIMEOUT(is_partitioned(), kPatienceMs);
  QVERIFY(timeline().isVisible());
  QVERIFY(timeline().hasFocus());
  QCOMPARE(timeline().content().kind(), kind);
  const Figures& figures = session().state()->figures.figures;
  QCOMPARE(shown().memory.peak_bytes(), figures.peak_bytes);
  QCOMPARE(shown().simulation.step_ns(), figures.step_ns);
  // Keys act on the timeline on screen, and the selection is shared.
  QTest::keyClick(&timeline(), Qt::Key_P);
  const NodeId peak = document().selection().current();
  QVERIFY(static_cast<bool>(peak));
  QCOMPARE(document().graph().name(peak), timeline().content().shown().graph.name(
                                              shown().memory.node_at(shown().memory.peak_index())));
  click_button("show_joint");
  QVERIFY(!is_partitioned());
  QCOMPARE(shown().memory.peak_bytes(), document().analysis().memory.peak_bytes());
  QVERIFY(shown().memory.peak_bytes() != figures.peak_bytes);
  // It was built before.
  click_button("show_partitioned");
  QVERIFY(is_partitioned());
}

void PartitionedTest::timeline_follows_the_plan() {
  QVERIFY(settle());
  click_button("show_partitioned");
  QTRY_VERIFY_WITH_TIMEOUT(is_partitioned(), kPatienceMs);
  const std::int64_t before = shown().memory.peak_bytes();
  session().set_action(session().saved_at_peak(), PlanAction::recompute);
  QTRY_VERIFY_WITH_TIMEOUT(shown().memory.peak_bytes() != before, kPatienceMs);
  QVERIFY(settle());
  QTRY_COMPARE_WITH_TIMEOUT(shown().memory.peak_bytes(),
                            session().state()->figures.figures.peak_bytes, kPatienceMs);
}

void PartitionedTest::alive_now_lists_what_is_live_in_the_timeline() {
  auto* alive = show_pane<AlivePane>("alive");
  QVERIFY(alive != nullptr);
  QVERIFY(settle());
  const auto listed = [&] { return alive->model().columns()[AliveModel::share_column].whole; };
  QTRY_COMPARE(listed(), shown().memory.peak_bytes());
  click_button("show_partitioned");
  QTRY_VERIFY_WITH_TIMEOUT(is_partitioned(), kPatienceMs);
  QTRY_COMPARE(listed(), shown().memory.peak_bytes());
  const QRect area = timeline().layout().memory;
  QTest::mouseClick(timeline().viewport(), Qt::LeftButton, {},
                    {area.left() + area.width() / 3, area.top() + 2});
  const Document& pair = timeline().content().document();
  QVERIFY(pair.selection().moment().has_value());
  QTRY_COMPARE(listed(), shown().memory.profile()[pair.moment()]);
  QVERIFY(listed() != shown().memory.peak_bytes());
  // A row selects its tensor in both graphs.
  QTest::mouseClick(alive->view().viewport(), Qt::LeftButton, {},
                    alive->view().visualRect(alive->model().index(0, 0)).center());
  const NodeId chosen = pair.selection().current();
  QVERIFY(static_cast<bool>(chosen));
  QCOMPARE(document().graph().name(document().selection().current()), pair.graph().name(chosen));
  // The plan's new pair.
  session().set_action(session().saved_at_peak(), PlanAction::recompute);
  const std::int64_t before = shown().memory.peak_bytes();
  QTRY_VERIFY_WITH_TIMEOUT(shown().memory.peak_bytes() != before, kPatienceMs);
  QTRY_COMPARE(listed(), shown().memory.profile()[pair.moment()]);
  click_button("show_joint");
  QTRY_COMPARE(listed(), document().analysis().memory.profile()[document().moment()]);
}

void PartitionedTest::nodes_of_the_pair_cannot_be_moved() {
  QVERIFY(settle());
  click_button("show_partitioned");
  QTRY_VERIFY_WITH_TIMEOUT(is_partitioned(), kPatienceMs);
  const TimelineLayout& layout = timeline().layout();
  const QPoint from = layout.lane[2].center();
  QTest::mousePress(timeline().viewport(), Qt::LeftButton, {}, from);
  QTest::qWait(300);
  QTest::mouseMove(timeline().viewport(), from + QPoint(60, 0));
  QTest::mouseRelease(timeline().viewport(), Qt::LeftButton, {}, from + QPoint(60, 0));
  QCOMPARE(document().editing().entry_count(), 0);
  QVERIFY(timeline().content().document().editing().planner().held() == nullptr);
  QVERIFY(!timeline().content().document().editing().planner().is_taking());
}

}  // namespace jointer

JOINTER_GUI_TEST(jointer::PartitionedTest, "partitioned")
#include "partitioned_test.moc"
