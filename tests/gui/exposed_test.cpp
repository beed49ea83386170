// Tests the pane of exposed collectives in the real window: costs, reasons, gains, and keys that
// apply them.

#include <QFile>
#include <QLabel>
#include <QPushButton>
#include <QToolButton>

#include "core/base/bytes.h"
#include "core/capture/native_writer.h"
#include "core/graph/canonical.h"
#include "tests/gui/app_window.h"
#include "tests/gui/gestures.h"
#include "tests/gui/gui_test.h"
#include "tests/support/child.h"
#include "tests/support/graphs.h"
#include "tests/support/paths.h"
#include "views/exposed/exposed_pane.h"
#include "views/session/edit/editing.h"
#include "views/session/edit/metrics.h"
#include "views/session/text/number_text.h"
#include "views/timeline/timeline_view.h"
#include "views/widgets/figure_box.h"
#include "views/window/scoreboard.h"

namespace jointer {
namespace {

using namespace views;
using test::child;
using test::kPatienceMs;

}  // namespace

namespace {

// Two products hide the first gather.
const char kOneHidden[] = R"(
class GraphModule(torch.nn.Module):
    def forward(self, primals_1: "bf16[4096, 4096]", primals_2: "bf16[4096, 4096]"):
        gather: "bf16[8192, 4096]" = torch.ops._c10d_functional.all_gather_into_tensor.default(primals_1, 2, 'fsdp');
        mm: "bf16[4096, 4096]" = torch.ops.aten.mm.default(primals_2, primals_2);
        mm_1: "bf16[4096, 4096]" = torch.ops.aten.mm.default(mm, primals_2);
        wait: "bf16[8192, 4096]" = torch.ops._c10d_functional.wait_tensor.default(gather);
        gather_1: "bf16[8192, 4096]" = torch.ops._c10d_functional.all_gather_into_tensor.default(mm_1, 2, 'fsdp');
        wait_1: "bf16[8192, 4096]" = torch.ops._c10d_functional.wait_tensor.default(gather_1);
        return (wait, wait_1)
)";

}  // namespace

class ExposedTest : public test::AppWindow {
  Q_OBJECT

 private slots:
  void init() { make_first_window(); }
  void cleanup() { close_window(); }

  void the_total_is_the_scoreboards_data() { add_sizes(); }
  void the_total_is_the_scoreboards();
  void the_most_expensive_comes_first();
  void a_link_in_the_reason_selects_the_node();
  void enter_applies_the_best_move_data() { add_sizes(); }
  void enter_applies_the_best_move();
  void shift_enter_applies_it_in_all_layers();
  void buttons_do_the_same();
  void hidden_collectives_can_be_shown();
  void only_visible_rows_are_computed();
  void nothing_runs_for_a_hidden_pane();
  void gains_are_found_after_an_edit_behind_another_tab();
  void a_move_is_repeated_by_key();
  void a_row_that_is_picked_up_is_visible_in_the_timeline();
  void a_graph_without_collectives_says_so();

 private:
  // Opens a sample and shows the pane.
  void show(const char* sample = test::kSample);
  [[nodiscard]] TableView& table() const { return pane_->view(); }
  [[nodiscard]] ExposedModel& model() const { return pane_->model(); }
  [[nodiscard]] int row_at(int place) const { return TableModel::row_at(model().index(place, 0)); }
  [[nodiscard]] std::string hash() const { return graph_hash(document().graph()); }
  [[nodiscard]] Figures figures() const {
    return figures_of(metrics_of(document().graph(), document().analysis()));
  }
  bool settle() {
    return QTest::qWaitFor([this] { return editing().is_settled(); }, kPatienceMs);
  }
  void click(int place) {
    table().scrollTo(model().index(place, 0));
    const QRect rect = table().visualRect(model().index(place, 0));
    QTest::mouseClick(table().viewport(), Qt::LeftButton, {}, rect.center());
  }
  bool wait_for_gains(int place) {
    return QTest::qWaitFor([&] { return model().fixes(row_at(place)) != nullptr; }, kPatienceMs);
  }
  // The index of the first row with a move that saves time, in all layers if requested; -1 if there
  // is none among the first rows.
  int first_with_gain(bool in_all_layers);

  ExposedPane* pane_ = nullptr;
};

void ExposedTest::show(const char* sample) {
  QVERIFY(open_file(test::source_path(sample)));
  pane_ = show_pane<ExposedPane>("exposed");
  QVERIFY(pane_ != nullptr);
  QTRY_VERIFY_WITH_TIMEOUT(model().rowCount() > 0, kPatienceMs);
}

int ExposedTest::first_with_gain(bool in_all_layers) {
  for (int place = 0; place < std::min(model().rowCount(), 12); ++place) {
    click(place);
    if (!wait_for_gains(place)) return -1;
    const CollectiveFixes& fixes = *model().fixes(row_at(place));
    if (in_all_layers ? fixes.of(FixKind::all_layers).edit.has_value() : fixes.best().has_value())
      return place;
  }
  return -1;
}

// --- Costs ---

void ExposedTest::the_total_is_the_scoreboards() {
  resize();
  show();
  QString exposed;
  for (FigureBox* box : window_->findChildren<FigureBox*>())
    if (box->value().accessibleName() == "Exposed") exposed = box->value().text();
  QVERIFY(!exposed.isEmpty());
  const QString footer = child<QLabel>(*pane_, "footer").text();
  QVERIFY2(footer.contains(exposed + " exposed"), qPrintable(footer));
  // The names and the first figures are on screen.
  QVERIFY(table().visualRect(model().index(0, ExposedModel::share_column)).right() <
          table().viewport()->width());
  QVERIFY(child<QLabel>(*pane_, "why").isVisible());
}

void ExposedTest::the_most_expensive_comes_first() {
  show();
  std::int64_t last = INT64_MAX;
  for (int place = 0; place < model().rowCount(); ++place) {
    const auto exposed = model().number(row_at(place), ExposedModel::exposed_column);
    QVERIFY(exposed && *exposed > 0 && *exposed <= last);
    last = *exposed;
  }
  click(0);
  QVERIFY(document().selection().contains(model().collective(row_at(0)).start));
}

void ExposedTest::hidden_collectives_can_be_shown() {
  QFile file(folder_->filePath("graph.txt"));
  QVERIFY(file.open(QIODevice::WriteOnly));
  file.write(kOneHidden);
  file.close();
  QVERIFY(open_file(file.fileName().toStdString()));
  pane_ = show_pane<ExposedPane>("exposed");
  QVERIFY(pane_ != nullptr);
  QTRY_COMPARE_WITH_TIMEOUT(model().rowCount(), 1, kPatienceMs);
  const QString total = child<QLabel>(*pane_, "footer").text().section(" · ", 1, 1);
  auto& box = child<QToolButton>(*pane_, "show_hidden");
  QVERIFY(model().rowCount() < static_cast<int>(model().collective_count()));
  box.setFocus();
  QTest::keyClick(&box, Qt::Key_Space);
  QCOMPARE(model().rowCount(), static_cast<int>(model().collective_count()));
  QCOMPARE(child<QLabel>(*pane_, "footer").text().section(" · ", 1, 1), total);
}

void ExposedTest::a_graph_without_collectives_says_so() {
  const std::string path = folder_->filePath("single.json").toStdString();
  QVERIFY(write_bytes(path, write_native(test::parse("x: f32[8,8] = input\n"
                                                     "y: f32[8,8] = aten.relu(x)\n"
                                                     "return [y]\n"))));
  QVERIFY(open_file(path));
  pane_ = show_pane<ExposedPane>("exposed");
  QVERIFY(pane_ != nullptr);
  const auto labels = pane_->view().viewport()->findChildren<QLabel*>();
  QCOMPARE(labels.size(), 1);
  QTRY_COMPARE(labels.front()->text(), "No collectives in this graph.");
  QVERIFY(labels.front()->isVisible());
  QVERIFY(!child<QPushButton>(*pane_, "apply_best").isEnabled());
}

// --- Reasons ---

void ExposedTest::a_link_in_the_reason_selects_the_node() {
  show();
  click(0);
  auto& why = child<QLabel>(*pane_, "why");
  QVERIFY(why.text().contains("href=\"node:"));
  // By keyboard: the first link is the collective itself.
  why.setFocus();
  QTest::keyClick(&why, Qt::Key_Tab);
  QTest::keyClick(&why, Qt::Key_Return);
  QCOMPARE(document().selection().nodes().size(), std::size_t{1});
  QCOMPARE(document().selection().current(), model().collective(row_at(0)).start);
}

// --- Gains ---

void ExposedTest::enter_applies_the_best_move() {
  resize();
  show();
  const std::string opened = hash();
  const int place = first_with_gain(false);
  QVERIFY(place >= 0);
  const NodeId start = model().collective(row_at(place)).start;
  const CollectiveFixesPtr fixes = model().fixes(row_at(place));
  QTest::keyClick(&table(), Qt::Key_Return);
  QTRY_COMPARE_WITH_TIMEOUT(editing().entry_count(), 1, kPatienceMs);
  QVERIFY(settle());
  QCOMPARE(figures(), fixes->of(*fixes->best()).after);
  // The rows follow, and the collective stays selected.
  QCOMPARE(model().snapshot(), document().shared_snapshot());
  QVERIFY(document().selection().contains(start));
  if (const int row = model().row_of(start); row >= 0)
    QCOMPARE(TableModel::row_at(table().currentIndex()), row);
  QTest::keyClick(window_.get(), Qt::Key_Z, Qt::ControlModifier);
  QTRY_VERIFY_WITH_TIMEOUT(editing().place() == 0 && editing().is_settled(), kPatienceMs);
  QCOMPARE(hash(), opened);
  QCOMPARE(TableModel::row_at(table().currentIndex()), model().row_of(start));
}

void ExposedTest::shift_enter_applies_it_in_all_layers() {
  show();
  const std::string opened = hash();
  const int place = first_with_gain(true);
  QVERIFY(place >= 0);
  const CollectiveFixesPtr fixes = model().fixes(row_at(place));
  QVERIFY(fixes->of(FixKind::all_layers).layers > 1);
  QTest::keyClick(&table(), Qt::Key_Return, Qt::ShiftModifier);
  QTRY_COMPARE_WITH_TIMEOUT(editing().entry_count(), 1, kPatienceMs);
  QVERIFY(settle());
  QCOMPARE(figures(), fixes->of(FixKind::all_layers).after);
  QTest::keyClick(window_.get(), Qt::Key_Z, Qt::ControlModifier);
  QTRY_VERIFY_WITH_TIMEOUT(editing().place() == 0 && editing().is_settled(), kPatienceMs);
  QCOMPARE(hash(), opened);
}

void ExposedTest::buttons_do_the_same() {
  show();
  const int place = first_with_gain(true);
  QVERIFY(place >= 0);
  const CollectiveFixesPtr fixes = model().fixes(row_at(place));
  auto& layers = child<QPushButton>(*pane_, "apply_layers");
  QTRY_VERIFY(layers.isEnabled());
  const std::size_t count = fixes->of(FixKind::all_layers).layers;
  QVERIFY2(layers.text().contains(count == 2 ? QString("In Both Identical Layers")
                                             : QString("In All %1 Identical Layers").arg(count)),
           qPrintable(layers.text()));
  QVERIFY(layers.text().contains(time_text(fixes->gained_ns(FixKind::all_layers))));
  test::press(layers);
  QTRY_COMPARE_WITH_TIMEOUT(editing().entry_count(), 1, kPatienceMs);
  QVERIFY(settle());
  QCOMPARE(figures(), fixes->of(FixKind::all_layers).after);
}

void ExposedTest::only_visible_rows_are_computed() {
  show();
  QVERIFY(wait_for_gains(0));
  const auto visible = [&](int place) {
    return table().viewport()->rect().intersects(table().visualRect(model().index(place, 0)));
  };
  QTRY_VERIFY_WITH_TIMEOUT(
      [&] {
        for (int place = 0; place < model().rowCount(); ++place)
          if (visible(place) && !model().fixes(row_at(place))) return false;
        return true;
      }(),
      kPatienceMs);
  const int last = model().rowCount() - 1;
  QVERIFY2(!visible(last), "the sample has too few rows for this test");
  QVERIFY(!model().fixes(row_at(last)));
  table().setFocus();
  QTest::keyClick(&table(), Qt::Key_Down);
  QTest::keyClick(&table(), Qt::Key_End);
  QVERIFY(wait_for_gains(last));
}

void ExposedTest::nothing_runs_for_a_hidden_pane() {
  show();
  QVERIFY(first_with_gain(false) >= 0);  // and it is selected
  window_->dock("exposed")->close();
  QVERIFY(!pane_->isVisible());
  window_->current_tab()->timeline()->setFocus();
  QTest::keyClick(window_.get(), Qt::Key_B);
  QTRY_COMPARE_WITH_TIMEOUT(editing().entry_count(), 1, kPatienceMs);
  QVERIFY(settle());
  QVERIFY(model().snapshot() != document().shared_snapshot());
  pane_ = show_pane<ExposedPane>("exposed");
  QTRY_COMPARE(model().snapshot(), document().shared_snapshot());
  QVERIFY(wait_for_gains(0));
}

void ExposedTest::gains_are_found_after_an_edit_behind_another_tab() {
  show();
  QVERIFY(first_with_gain(false) >= 0);  // and it is selected
  window_->dock("graph")->raise();
  QTRY_VERIFY(pane_->visibleRegion().isEmpty());
  window_->current_tab()->timeline()->setFocus();
  QTest::keyClick(window_.get(), Qt::Key_B);
  QTRY_COMPARE_WITH_TIMEOUT(editing().entry_count(), 1, kPatienceMs);
  QVERIFY(settle());
  QTRY_COMPARE(model().snapshot(), document().shared_snapshot());
  QCoreApplication::processEvents();
  window_->dock("exposed")->raise();
  QTRY_VERIFY(!pane_->visibleRegion().isEmpty());
  for (int place = 0; place < 3; ++place) QVERIFY(wait_for_gains(place));
}

// --- Repeating ---

void ExposedTest::a_move_is_repeated_by_key() {
  show();
  const int place = first_with_gain(true);
  QVERIFY(place >= 0);
  const CollectiveFixesPtr fixes = model().fixes(row_at(place));
  QTest::keyClick(&table(), Qt::Key_Return);
  QTRY_COMPARE_WITH_TIMEOUT(editing().entry_count(), 1, kPatienceMs);
  QVERIFY(settle());
  QTest::keyClick(window_.get(), Qt::Key_L);
  QTRY_COMPARE_WITH_TIMEOUT(editing().entry_count(), 2, kPatienceMs);
  QVERIFY(settle());
  QCOMPARE(figures(), fixes->of(FixKind::all_layers).after);
}

// A row selects two nodes, to which the timeline does not scroll by itself.
void ExposedTest::a_row_that_is_picked_up_is_visible_in_the_timeline() {
  show();
  TimelineView& timeline = *window_->current_tab()->timeline();
  const AxisView& axis = timeline.range().axis();
  MovePlanner& planner = editing().planner();
  for (int place = 0; place < std::min(model().rowCount(), 6); ++place) {
    click(place);
    const auto extent = timeline.content().data().extent(document().selection().current());
    const std::int64_t length = timeline.content().data().length();
    // The other half of the step.
    const bool is_early = extent.begin < length / 2;
    timeline.range().show(is_early ? length * 3 / 4 : 0, is_early ? length : length / 4, 0);
    const auto begin = static_cast<double>(extent.begin), end = static_cast<double>(extent.end);
    QVERIFY(end < axis.begin() || begin > axis.end());
    QTest::keyClick(&table(), Qt::Key_V);
    QTRY_VERIFY_WITH_TIMEOUT(planner.held() != nullptr, kPatienceMs);
    QVERIFY(planner.held()->nodes == std::vector{document().selection().current()});
    QVERIFY(
        document().graph().is_collective_start(document().graph().node(planner.held()->handle)));
    // The start and its chain cannot always be adjacent.
    QVERIFY2(planner.held()->carries != planner.held()->carried.contains("without its chain"),
             qPrintable(planner.held()->carried));
    QVERIFY(begin >= axis.begin() && end <= axis.end());
    QTest::keyClick(&timeline, Qt::Key_Escape);
    QVERIFY(planner.held() == nullptr);
  }
}

}  // namespace jointer

JOINTER_GUI_TEST(jointer::ExposedTest, "exposed")
#include "exposed_test.moc"
