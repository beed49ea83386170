// Tests the pane of predicted kernels in the real window: totals, rows, selection in both
// directions, details, and when the kernels are computed.

#include <QClipboard>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QTest>
#include <QTextBrowser>
#include <QToolButton>
#include <algorithm>

#include "core/base/bytes.h"
#include "core/base/index.h"
#include "core/capture/native_writer.h"
#include "tests/gui/app_window.h"
#include "tests/gui/gestures.h"
#include "tests/gui/gui_test.h"
#include "tests/support/child.h"
#include "tests/support/graphs.h"
#include "tests/support/profiler_trace_text.h"
#include "views/inspector/inspector_pane.h"
#include "views/kernels/kernels_pane.h"
#include "views/session/edit/editing.h"
#include "views/session/kernels/kernel_text.h"
#include "views/session/kernels/opened_kernels.h"
#include "views/session/kernels/predicted_kernels.h"
#include "views/session/kernels/traced_kernels.h"
#include "views/session/text/number_text.h"
#include "views/widgets/elided_label.h"

namespace jointer {
namespace {

using namespace views;
using test::child;
using test::kPatienceMs;

// Inductor fuses the first two operators, and leaves the products alone.
const char kFewKernels[] = R"(
  primals_1: f32[1024,1024] = input
  primals_2: f32[1024,1024] = input
  scaled: f32[1024,1024] = aten.mul.Tensor(primals_1, primals_2)
  exponential: f32[1024,1024] = aten.exp(scaled)
  product: f32[1024,1024] = aten.mm(exponential, primals_2)
  positive: f32[1024,1024] = aten.relu(product)
  square: f32[1024,1024] = aten.mm(primals_1, primals_1)
  return [exponential, positive, square]
)";

const char kPairSample[] = "resources/samples/llama_debug_tp2_fsdp2.min_cut.json.zst";

}  // namespace

class KernelsPaneTest : public test::AppWindow {
  Q_OBJECT

 private slots:
  void init() { make_first_window(); }
  void cleanup() { close_window(); }

  void totals_are_above_the_rows_data() { add_sizes(); }
  void totals_are_above_the_rows();
  void the_footer_adds_up();
  void a_row_selects_its_nodes();
  void a_node_selects_its_kernel();
  void the_filter_finds_nodes();
  void views_and_waits_are_shown_on_request();
  void rows_are_copied();
  void details_follow_the_selected_kernel();
  void a_link_selects_a_node();
  void an_edit_is_followed();
  void nothing_is_computed_for_a_hidden_pane();
  void a_document_closes_while_kernels_are_computed();
  void a_pair_has_the_kernels_of_both_halves();
  void rows_are_sorted_by_the_time_above_the_roofline();
  void the_inspector_shows_the_kernel_of_a_node();
  void compiled_kernels_are_opened();
  void compiled_kernels_are_closed();
  void measured_kernels_are_opened();
  void other_files_are_refused();

 private:
  void choose_action(const QString& text) const { test::run_action(*pane_, text); }
  void open_literal();
  // Opens a sample and shows the pane.
  void show(const char* sample = test::kSample);
  void show_kernels();
  [[nodiscard]] TableView& view() const { return pane_->table().view(); }
  [[nodiscard]] KernelModel& model() const { return pane_->table().model(); }
  [[nodiscard]] PredictedKernels& predicted() const { return document().kernels(); }
  [[nodiscard]] NodeId node(const char* name) const { return document().graph().find(name); }
  [[nodiscard]] QTextBrowser& details() const { return child<QTextBrowser>(*pane_, "details"); }
  [[nodiscard]] QString footer() const { return child<QLabel>(pane_->table(), "footer").text(); }
  void click(int row) const {
    const QModelIndex index = model().index_of(row);
    view().scrollTo(index);
    QTest::mouseClick(view().viewport(), Qt::LeftButton, {}, view().visualRect(index).center());
  }
  [[nodiscard]] int number_of_rows(const QString& kind) const {
    int count = 0;
    for (const int row : model().shown(-1))
      count += model().text(row, KernelModel::kind_column) == kind ? 1 : 0;
    return count;
  }

  KernelsPane* pane_ = nullptr;
};

void KernelsPaneTest::show_kernels() {
  pane_ = show_pane<KernelsPane>("kernels");
  QVERIFY(pane_ != nullptr);
  QTRY_VERIFY_WITH_TIMEOUT(predicted().is_current(), kPatienceMs);
  QTRY_COMPARE(model().kernels(), predicted().shown());
  QVERIFY(model().rowCount() > 0);
}

void KernelsPaneTest::show(const char* sample) {
  QVERIFY(open_file(test::source_path(sample)));
  show_kernels();
}

void KernelsPaneTest::open_literal() {
  const std::string path = folder_->filePath("few.json").toStdString();
  QVERIFY(write_bytes(path, write_native(test::parse(kFewKernels))));
  QVERIFY(open_file(path));
  show_kernels();
  // The details need space.
  window_->resizeDocks({window_->dock("kernels")}, {500}, Qt::Vertical);
}

// --- Totals and rows ---

void KernelsPaneTest::totals_are_above_the_rows() {
  resize();
  show();
  const SnapshotKernels& shown = *predicted().shown();
  QVERIFY(shown.totals().kernels > 0);
  QVERIFY(shown.totals().kernels < shown.per_operator().kernels);
  QVERIFY(shown.totals().memory_bound_bytes < shown.per_operator().memory_bound_bytes);
  const auto& totals = child<ElidedLabel>(*pane_, "totals");
  QVERIFY(totals.isVisible());
  QVERIFY2(totals.text().contains(kernel_totals_text(shown.totals())), qPrintable(totals.text()));
  QVERIFY(child<ElidedLabel>(*pane_, "per_operator")
              .text()
              .contains(kernel_totals_text(shown.per_operator())));
  const std::int64_t rows = shown.totals().kernels + shown.totals().collectives;
  QCOMPARE(static_cast<std::int64_t>(model().rowCount()), rows);
  QCOMPARE(static_cast<std::int64_t>(number_of_rows("collective")), shown.totals().collectives);
  QVERIFY2(view().viewport()->height() > 60, "there is space for rows");
}

void KernelsPaneTest::the_footer_adds_up() {
  show();
  std::int64_t read = 0, written = 0;
  for (const int row : model().shown(-1)) {
    read += *model().number(row, KernelModel::read_column);
    written += *model().number(row, KernelModel::written_column);
  }
  const QString text = footer();
  QVERIFY2(text.contains(bytes_text(read) + " read"), qPrintable(text));
  QVERIFY2(text.contains(bytes_text(written) + " written"), qPrintable(text));
  QVERIFY2(text.contains(time_text(predicted().shown()->total_ns())), qPrintable(text));
}

void KernelsPaneTest::the_filter_finds_nodes() {
  open_literal();
  auto& filter = child<QLineEdit>(pane_->table(), "filter");
  QTest::keyClicks(&filter, "library");
  QCOMPARE(model().rowCount(), 2);
  filter.clear();
  QTest::keyClicks(&filter, "scaled");
  QCOMPARE(model().rowCount(), 1);
  QCOMPARE(model().row_of(node("exponential")), TableModel::row_at(model().index(0, 0)));
}

void KernelsPaneTest::views_and_waits_are_shown_on_request() {
  show();
  QCOMPARE(number_of_rows("wait"), 0);
  const int launches = model().rowCount();
  auto& all = child<QToolButton>(pane_->table(), "show_all");
  all.setFocus();
  QTest::keyClick(&all, Qt::Key_Space);
  QCOMPARE(model().rowCount(), model().row_count());
  QVERIFY(model().rowCount() > launches);
  QVERIFY(number_of_rows("wait") > 0);
  QTest::keyClick(&all, Qt::Key_Space);
  QCOMPARE(model().rowCount(), launches);
}

void KernelsPaneTest::rows_are_copied() {
  open_literal();
  click(model().row_of(node("product")));
  QTest::keyClick(&view(), Qt::Key_C, Qt::ControlModifier);
  const QStringList lines = QApplication::clipboard()->text().split('\n');
  QCOMPARE(lines.size(), 3);
  QVERIFY2(lines[0].startsWith("kernel\tnumber\tkind\tphase\tnodes\tread bytes\twritten bytes"),
           qPrintable(lines[0]));
  QVERIFY2(lines[1].startsWith("mm\t"), qPrintable(lines[1]));
}

// --- Selection ---

void KernelsPaneTest::a_row_selects_its_nodes() {
  open_literal();
  const int row = model().row_of(node("exponential"));
  QVERIFY(row >= 0);
  QCOMPARE(model().row_of(node("scaled")), row);
  click(row);
  QVERIFY(document().selection().contains(node("scaled")));
  QVERIFY(document().selection().contains(node("exponential")));
  QVERIFY(!document().selection().contains(node("product")));
  QCOMPARE(view().selected_rows(), std::vector{row});
}

void KernelsPaneTest::a_node_selects_its_kernel() {
  open_literal();
  document().selection().select(node("product"));
  QCOMPARE(view().selected_rows(), std::vector{model().row_of(node("product"))});
  document().selection().select(node("scaled"));
  QCOMPARE(view().selected_rows(), std::vector{model().row_of(node("scaled"))});
  QCOMPARE(document().selection().nodes().size(), std::size_t{1});
  document().selection().select(node("primals_1"));
  QVERIFY(view().selected_rows().empty());
}

// --- Details ---

void KernelsPaneTest::details_follow_the_selected_kernel() {
  open_literal();
  QVERIFY(details().toPlainText().contains("Select a kernel"));
  const int row = model().row_of(node("product"));
  click(row);
  const QString text = details().toPlainText();
  QVERIFY2(text.contains("mm") && text.contains("Buffers"), qPrintable(text));
  const kernels::Kernel& kernel = predicted().shown()->kernel(as_index(row));
  const std::vector<kernels::Buffer>& buffers =
      predicted().shown()->part_of(as_index(row)).ir.buffers;
  QVERIFY(!kernel.writes.empty());
  for (const kernels::BufferBytes& each : kernel.writes)
    QVERIFY(text.contains(QString::fromStdString(buffers[as_index(each.buffer)].name)));
}

void KernelsPaneTest::a_link_selects_a_node() {
  open_literal();
  const int row = model().row_of(node("exponential"));
  click(row);
  QVERIFY(document().selection().nodes().size() > 1);
  QTRY_VERIFY(details().isVisible());
  QTest::mouseClick(details().viewport(), Qt::LeftButton, {},
                    test::place_of_link(details(), "exponential"));
  QCOMPARE(document().selection().nodes().size(), std::size_t{1});
  QCOMPARE(document().selection().current(), node("exponential"));
  QCOMPARE(view().selected_rows(), std::vector{row});
}

// --- When the kernels are computed ---

void KernelsPaneTest::an_edit_is_followed() {
  open_literal();
  const SnapshotKernelsPtr before = predicted().shown();
  click(model().row_of(node("square")));
  QCOMPARE(document().selection().current(), node("square"));
  const auto& totals = child<ElidedLabel>(*pane_, "totals");
  QString meanwhile;  // when the graph has changed, before its kernels are predicted
  const QObject listener;
  connect(&document(), &Document::changed, &listener, [&] { meanwhile = totals.text(); });
  timeline().setFocus();
  QTest::keyClick(&timeline(), Qt::Key_Home, Qt::AltModifier);
  QTRY_COMPARE_WITH_TIMEOUT(document().editing().entry_count(), 1, kPatienceMs);
  QTRY_VERIFY_WITH_TIMEOUT(predicted().is_current() && predicted().shown() != before, kPatienceMs);
  QTRY_COMPARE(model().kernels(), predicted().shown());
  QVERIFY2(meanwhile.startsWith("Predicted for Inductor, for an earlier graph: "),
           qPrintable(meanwhile));
  QVERIFY(!totals.text().contains("for an earlier graph"));
  QVERIFY(document().graph().position(node("square")) <
          document().graph().position(node("scaled")));
  // The kernel stays selected.
  QCOMPARE(view().selected_rows(), std::vector{model().row_of(node("square"))});
  QTest::keyClick(window_.get(), Qt::Key_Z, Qt::ControlModifier);
  QTRY_VERIFY_WITH_TIMEOUT(document().editing().place() == 0 && document().editing().is_settled(),
                           kPatienceMs);
  QTRY_VERIFY_WITH_TIMEOUT(predicted().is_current(), kPatienceMs);
  QCOMPARE(predicted().shown()->totals(), before->totals());
}

void KernelsPaneTest::nothing_is_computed_for_a_hidden_pane() {
  show();
  window_->dock("kernels")->close();
  QVERIFY(!pane_->isVisible());
  const SnapshotKernelsPtr before = predicted().shown();
  AnalysisOptions options = document().analysis().options;
  options.estimator.device = "b200";
  document().analyze_with(options);
  QTRY_COMPARE_WITH_TIMEOUT(document().analysis().options.estimator.device, std::string("b200"),
                            kPatienceMs);
  QTest::qWait(50);
  QCOMPARE(predicted().shown(), before);
  QVERIFY(!predicted().is_running());
  show_kernels();
  QVERIFY(predicted().shown() != before);
}

void KernelsPaneTest::a_document_closes_while_kernels_are_computed() {
  QVERIFY(open_file(test::source_path(kPairSample)));
  pane_ = show_pane<KernelsPane>("kernels");
  QVERIFY(pane_ != nullptr);
  QTest::keyClick(window_.get(), Qt::Key_W, Qt::ControlModifier);
  QTRY_VERIFY(window_->current_tab() == nullptr);
  QTest::qWait(50);
}

// --- Pairs ---

void KernelsPaneTest::a_pair_has_the_kernels_of_both_halves() {
  show(kPairSample);
  const SnapshotKernels& shown = *predicted().shown();
  QCOMPARE(shown.parts().size(), std::size_t{2});
  bool any_forward = false, any_backward = false;
  for (const int row : model().shown(-1))
    for (const NodeId id : model().nodes(row)) {
      const bool is_forward = document().graph().node(id).part == kForwardPart;
      QCOMPARE(is_forward, shown.part_of(as_index(row)).part == kForwardPart);
      (is_forward ? any_forward : any_backward) = true;
    }
  QVERIFY(any_forward && any_backward);
}

// --- The roofline ---

void KernelsPaneTest::rows_are_sorted_by_the_time_above_the_roofline() {
  show();
  const auto above = [this] {
    std::vector<std::int64_t> values;
    for (const int row : model().shown(-1))
      values.push_back(model().number(row, KernelModel::above_roofline_column).value_or(0));
    return values;
  };
  view().sortByColumn(KernelModel::above_roofline_column, Qt::DescendingOrder);
  const std::vector<std::int64_t> sorted = above();
  QVERIFY(child<QLabel>(pane_->table(), "footer").text().contains(" above roofline"));
  QVERIFY(sorted.size() > 1 && sorted.front() > 0);
  QVERIFY(std::ranges::is_sorted(sorted, std::ranges::greater()));
}

// --- The inspector ---

void KernelsPaneTest::the_inspector_shows_the_kernel_of_a_node() {
  open_literal();
  auto* inspector = show_pane<InspectorPane>("inspector");
  QVERIFY(inspector != nullptr);
  document().selection().select(node("scaled"));
  QTRY_VERIFY(inspector->page().toPlainText().contains("Predicted kernel"));
  const QString text = inspector->page().toPlainText();
  QVERIFY2(text.contains("fused mul, exp (pointwise)"), qPrintable(text));
  QTest::mouseClick(inspector->page().viewport(), Qt::LeftButton, {},
                    test::place_of_link(inspector->page(), "exponential"));
  QCOMPARE(document().selection().current(), node("exponential"));
  document().selection().select(node("product"));
  QTRY_VERIFY(inspector->page().toPlainText().contains("not fused with"));
}

// --- Compiled kernels ---

void KernelsPaneTest::compiled_kernels_are_opened() {
  const QString log =
      QString::fromStdString(test::source_path("tests/core/capture/artifacts/cpu_2_15.log"));
  QSignalSpy opened(window_.get(), &desktop::MainWindow::opened);
  window_->open({.path = log.toStdString(), .index = 0});
  QVERIFY(opened.wait(kPatienceMs));
  show_kernels();
  window_->resizeDocks({window_->dock("kernels")}, {500}, Qt::Vertical);
  test::answer_file_dialog(log);
  choose_action("Open Compiled Kernels (File)");
  QTRY_VERIFY_WITH_TIMEOUT(model().kernels() && model().kernels()->is_compiled(), kPatienceMs);
  QCOMPARE(model().rowCount(), 3);
  const auto& totals = child<ElidedLabel>(*pane_, "totals");
  QVERIFY2(totals.text().startsWith("Compiled by torch 2.15.0"), qPrintable(totals.text()));
  QVERIFY(child<ElidedLabel>(*pane_, "per_operator").text().startsWith("1 call in these kernels"));

  // Kernels and nodes select each other, and the details have the call and the source as text.
  document().selection().select(node("mm"));
  QCOMPARE(view().selected_rows(), std::vector{1});
  QVERIFY(details().toPlainText().contains("extern_kernels.mm("));
  click(0);
  const QString text = details().toPlainText();
  QVERIFY2(text.contains("Source of cpp_fused_native_layer_norm_0") && text.contains("#pragma"),
           qPrintable(text));

  // Until they are tied to the new graph, the line says so.
  QString meanwhile;
  {
    const QObject listener;
    connect(&document(), &Document::changed, &listener, [&] { meanwhile = totals.text(); });
    AnalysisOptions options = document().analysis().options;
    options.memory.optimizer = OptimizerState::adamw;
    document().analyze_with(options);
    QTRY_VERIFY_WITH_TIMEOUT(!meanwhile.isEmpty(), kPatienceMs);
  }
  QVERIFY2(meanwhile.contains("for an earlier graph"), qPrintable(meanwhile));
  QTRY_VERIFY_WITH_TIMEOUT(!totals.text().contains("for an earlier graph"), kPatienceMs);

  auto& sources = child<QComboBox>(*pane_, "source");
  QCOMPARE(sources.currentText(), QString("Compiled"));
  sources.setFocus();
  QTest::keyClick(&sources, Qt::Key_Home);
  QTRY_VERIFY(model().kernels() && !model().kernels()->is_compiled());
  QVERIFY(totals.text().startsWith("Predicted for Inductor"));
}

void KernelsPaneTest::compiled_kernels_are_closed() {
  const QString log =
      QString::fromStdString(test::source_path("tests/core/capture/artifacts/cpu_2_15.log"));
  QSignalSpy opened(window_.get(), &desktop::MainWindow::opened);
  window_->open({.path = log.toStdString(), .index = 0});
  QVERIFY(opened.wait(kPatienceMs));
  show_kernels();
  const auto close_action = [this]() -> QAction* {
    for (QAction* action : pane_->findChildren<QAction*>())
      if (action->text() == "Close Compiled Kernels") return action;
    return nullptr;
  };
  QVERIFY(close_action() != nullptr);
  QVERIFY(!close_action()->isEnabled());
  test::answer_file_dialog(log);
  choose_action("Open Compiled Kernels (File)");
  QTRY_VERIFY_WITH_TIMEOUT(model().kernels() && model().kernels()->is_compiled(), kPatienceMs);
  auto& sources = child<QComboBox>(*pane_, "source");
  QCOMPARE(sources.count(), 3);
  choose_action("Close Compiled Kernels");
  QVERIFY(!document().opened_kernels().shown());
  QCOMPARE(sources.count(), 2);
  QCOMPARE(sources.currentText(), QString("Predicted"));
  QVERIFY(!close_action()->isEnabled());
  QTRY_VERIFY(model().kernels() && !model().kernels()->is_compiled());
}

void KernelsPaneTest::measured_kernels_are_opened() {
  open_literal();
  window_->resizeDocks({window_->dock("kernels")}, {500}, Qt::Vertical);
  const QString file = folder_->filePath("trace.json");
  const std::string trace =
      test::ProfilerTraceText()
          .gpu()
          .compiled_graph("f", 0, 90)
          .call("triton_poi_fused_exp_mul_0", 1, {{"triton_poi_fused_exp_mul_0", 100, 4}})
          .call("aten::mm", 11, {{"nvjet_tst", 110, 9}})
          .call("aten::mm", 21, {{"nvjet_tst", 120, 9}})
          .call("aten::bmm", 31, {{"nvjet_other", 130, 9}})
          .text();
  QVERIFY(write_bytes(file.toStdString(), trace));
  test::answer_file_dialog(file);
  choose_action("Open Measured Kernels (Trace)");
  QTRY_VERIFY_WITH_TIMEOUT(model().kernels() && model().kernels()->is_measured(), kPatienceMs);
  const auto& totals = child<ElidedLabel>(*pane_, "totals");
  QVERIFY2(totals.text().startsWith("Measured on NVIDIA H200 (trace.json, 1 run; kernels as "
                                    "predicted): 3 kernels, 22.0 us"),
           qPrintable(totals.text()));
  QCOMPARE(child<ElidedLabel>(*pane_, "per_operator").text(),
           QString("1 kernel not found in the trace · 1 call in the trace matched to no kernel"));
  QVERIFY2(details().toPlainText().contains("aten::bmm"), qPrintable(details().toPlainText()));

  document().selection().select(node("exponential"));
  QCOMPARE(view().selected_rows().size(), std::size_t{1});
  const int row = view().selected_rows().front();
  QCOMPARE(model().number(row, KernelModel::time_column), std::optional<std::int64_t>(4000));
  const QString text = details().toPlainText();
  QVERIFY2(text.contains("4.00 us, in one run"), qPrintable(text));

  // The kernel of the other operator is not in the trace.
  document().selection().select(node("positive"));
  const int missing = view().selected_rows().front();
  QCOMPARE(model().number(missing, KernelModel::time_column), std::optional<std::int64_t>());
  QVERIFY(details().toPlainText().contains("not found in the trace"));

  auto* inspector = show_pane<InspectorPane>("inspector");
  QVERIFY(inspector != nullptr);
  document().selection().select(node("exponential"));
  QTRY_VERIFY(inspector->page().toPlainText().contains("Measured kernel"));
  QVERIFY(inspector->page().toPlainText().contains("4.00 us, in one run"));

  auto& sources = child<QComboBox>(*pane_, "source");
  QCOMPARE(sources.currentText(), QString("Measured"));
  sources.setFocus();
  QTest::keyClick(&sources, Qt::Key_Home);
  QTRY_VERIFY(model().kernels() && !model().kernels()->is_measured());
  QTest::keyClick(&sources, Qt::Key_End);
  QTRY_VERIFY(model().kernels() && model().kernels()->is_measured());

  choose_action("Close Measured Kernels");
  QVERIFY(!document().traced_kernels().shown());
  QCOMPARE(sources.count(), 2);
  QCOMPARE(sources.currentText(), QString("Predicted"));
  QTRY_VERIFY(model().kernels() && !model().kernels()->is_measured());
}

void KernelsPaneTest::other_files_are_refused() {
  open_literal();
  QSignalSpy failed(&document(), &Document::failed);
  const SnapshotKernelsPtr before = model().kernels();
  test::answer_file_dialog(folder_->filePath("few.json"));
  choose_action("Open Compiled Kernels (File)");
  QVERIFY(failed.wait(kPatienceMs));
  QVERIFY(failed.front().front().toString().contains("few.json"));
  QCOMPARE(model().kernels(), before);
}

}  // namespace jointer

JOINTER_GUI_TEST(jointer::KernelsPaneTest, "kernels_pane")
#include "kernels_pane_test.moc"
