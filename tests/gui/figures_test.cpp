// Tests that numbers in the window belong to the graph on screen, and agree with each other.

#include <QTest>
#include <algorithm>
#include <vector>

#include "core/edit/edit.h"
#include "tests/gui/app_window.h"
#include "tests/gui/gui_test.h"
#include "tests/gui/timeline_hand.h"
#include "tests/support/child.h"
#include "views/find/find_bar.h"
#include "views/session/edit/metrics.h"
#include "views/session/text/node_text.h"
#include "views/session/text/number_text.h"
#include "views/timeline/timeline_legend.h"
#include "views/widgets/figure_box.h"
#include "views/window/scoreboard.h"

namespace jointer {
namespace {

using namespace views;

}  // namespace

class FiguresTest : public test::AppWindow {
  Q_OBJECT

 private slots:
  void init() {
    QVERIFY(open_sample());
    QVERIFY(settle());
  }
  void cleanup() { close_window(); }

  void follow_a_drag_and_undo();
  void earlier_values_are_shown_if_they_differ();
  void add_up_at_every_width();
  void find_goes_to_the_moment_of_a_node();

 private:
  [[nodiscard]] MovePlanner& planner() const { return document().editing().planner(); }
  bool settle() {
    return QTest::qWaitFor(
        [this] {
          return document().editing().is_settled() && planner().is_ready() && !planner().held();
        },
        test::kPatienceMs);
  }
  [[nodiscard]] FigureBox* box(const QString& name) const {
    for (FigureBox* box : window_->findChild<Scoreboard*>()->findChildren<FigureBox*>())
      if (box->value().accessibleName() == name) return box;
    qFatal("no figure is named %s", qPrintable(name));
  }
  [[nodiscard]] QString shown(const QString& name) const { return box(name)->value().text(); }
  // Compares the numbers with a graph's.
  void compare_with(const Snapshot& snapshot) const;
};

void FiguresTest::compare_with(const Snapshot& snapshot) const {
  const Analysis& a = snapshot.analysis;
  QCOMPARE(shown("Peak memory"), bytes_text(a.memory.peak_bytes()));
  QCOMPARE(shown("Reserved"), bytes_text(a.reserved.peak_bytes));
  QCOMPARE(shown("Step"), time_text(a.simulation.step_ns()));
  QCOMPARE(shown("Compute"), time_text(a.simulation.compute_ns()));
  QCOMPARE(shown("Exposed"), time_text(a.simulation.exposed_ns()));
  QCOMPARE(shown("CPU wait"), time_text(a.simulation.host_bound_ns()));
  QVERIFY(box("Exposed")->was().text().contains(
      QStringLiteral("hidden %1/").arg(a.simulation.hidden_count())));
  QVERIFY(a.throughput.tokens_per_second.has_value());
  QCOMPARE(shown("Tokens/s"),
           QString::fromStdString(format_significant(*a.throughput.tokens_per_second)));
}

void FiguresTest::follow_a_drag_and_undo() {
  const SnapshotPtr opened = document().shared_snapshot();
  compare_with(*opened);
  const auto at =
      test::TimelineHand(document(), timeline())
          .drag(test::exposed_wait(document()), [](const MovePreview& p) { return p.last(); });
  QVERIFY(at.has_value());
  // The parts add up at every position, and other numbers are gray until they are known for it.
  const Figures& promised = planner().held()->figures();
  QVERIFY(promised.step_ns != opened->analysis.simulation.step_ns());
  QCOMPARE(
      shown("CPU wait"),
      time_text(promised.step_ns - opened->analysis.simulation.compute_ns() - promised.exposed_ns));
  QCOMPARE(box("Reserved")->isEnabled(), planner().held()->is_shown());
  QVERIFY2(!box("As partitioned")->isEnabled(), "it is of the graph before the drop");
  QTRY_VERIFY_WITH_TIMEOUT(planner().held()->is_shown(), test::kPatienceMs);
  QVERIFY(box("Reserved")->isEnabled());
  QCOMPARE(planner().held()->shown->analysis.simulation.step_ns(), promised.step_ns);
  compare_with(*planner().held()->shown);
  QTest::mouseRelease(timeline().viewport(), Qt::LeftButton, {}, *at);
  QVERIFY(settle());
  QVERIFY(document().shared_snapshot() != opened);
  compare_with(document().snapshot());
  QVERIFY(box("As partitioned")->isEnabled());
  document().editing().undo();
  QVERIFY(settle());
  compare_with(*opened);
}

void FiguresTest::earlier_values_are_shown_if_they_differ() {
  const Simulation& opened = document().analysis().simulation;
  const QString hidden =
      QStringLiteral("hidden %1/%2").arg(opened.hidden_count()).arg(opened.collective_count());
  const QString step = time_text(opened.step_ns());
  // A tag changes none of these numbers.
  const Graph& graph = document().graph();
  const auto call = std::ranges::find_if(
      graph.order(), [&](NodeId id) { return graph.node(id).kind == NodeKind::call; });
  document().editing().apply({.title = "Tag a call",
                              .changes = {SetPolicy{.policy = MemoryPolicy::must_save,
                                                    .nodes = {edit_name(graph, *call)}}}});
  QVERIFY(settle());
  QVERIFY(document().editing().is_edited());
  QCOMPARE(box("Peak memory")->was().text(), QString());
  QCOMPARE(box("Step")->was().text(), QString());
  QCOMPARE(box("Exposed")->was().text(), hidden);
  const auto at =
      test::TimelineHand(document(), timeline())
          .drag(test::exposed_wait(document()), [](const MovePreview& p) { return p.last(); });
  QVERIFY(at.has_value());
  QTest::mouseRelease(timeline().viewport(), Qt::LeftButton, {}, *at);
  QVERIFY(settle());
  QVERIFY(shown("Step") != step);
  QCOMPARE(box("Step")->was().text(), QStringLiteral("was %1").arg(step));
}

void FiguresTest::add_up_at_every_width() {
  QTRY_VERIFY_WITH_TIMEOUT(!box("As partitioned")->terms().text().isEmpty(), test::kPatienceMs);
  std::vector<QSize> sizes(kSizes.begin(), kSizes.end());
  for (const int width : {2200, 1440, 1200}) sizes.emplace_back(width, 900);
  for (const QSize size : sizes) {
    window_->resize(size);
    QCoreApplication::processEvents();
    for (const char* part : {"Step", "Compute", "Exposed", "CPU wait", "As partitioned"})
      QVERIFY2(box(part)->isVisible(), part);
    QVERIFY2(box("As partitioned")->terms().isVisible(), "the parts of its step");
    QVERIFY(window_->width() <= size.width() && window_->height() <= size.height());
  }
  // In a wide window, a label says what the device is for.
  const auto& label = test::child<QLabel>(*window_->findChild<Scoreboard*>(), "device_label");
  QVERIFY(!label.isVisible());
  window_->resize(4000, 900);
  QTRY_VERIFY(label.isVisible());
}

// On a measured axis too, where the legend, the marker and the selection are one node's.
void FiguresTest::find_goes_to_the_moment_of_a_node() {
  document().selection().set_moment(0);
  Measurement measurement{.label = "run", .device = "A CPU"};
  for (const NodeId id : document().analysis().memory.steps()) {
    measurement.nodes.push_back({id, measurement.step_ns, measurement.step_ns + 1000, 1000});
    measurement.step_ns += 1000;
  }
  const auto profile = document().analysis().memory.profile();
  measurement.memory_profile.assign(profile.begin(), profile.end());
  document().add_import(std::make_shared<Measurement>(std::move(measurement)));
  timeline().content().set_kind(AxisKind::measured_time);
  QTest::keyClick(&timeline(), Qt::Key_Slash);
  auto* bar = window_->findChild<FindBar*>();
  QTRY_VERIFY(bar != nullptr && bar->isVisible());
  auto& edit = test::child<QLineEdit>(*bar);
  QTest::keyClicks(&edit, "op:mm");
  QTest::keyClick(&edit, Qt::Key_Return);
  const NodeId found = document().selection().current();
  QVERIFY(found);
  QCOMPARE(document().selection().moment(), document().moment_of(found));
  QCOMPARE(legend_title(timeline().content()),
           QStringLiteral("in %1:").arg(to_qstring(document().graph().name(found))));
  const auto extent = timeline().content().data().extent(found);
  QCOMPARE(timeline().content().data().position(document().moment()), extent.begin);
}

}  // namespace jointer

JOINTER_GUI_TEST(jointer::FiguresTest, "figures")
#include "figures_test.moc"
