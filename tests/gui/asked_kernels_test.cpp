// Inductor is asked in the Kernels pane; a script stands in for Python with torch.

#include <QComboBox>
#include <QProgressBar>
#include <QTest>
#include <QToolButton>
#include <QTreeWidget>
#include <sstream>

#include "core/base/bytes.h"
#include "core/capture/native_writer.h"
#include "tests/gui/app_window.h"
#include "tests/gui/gui_test.h"
#include "tests/support/alive.h"
#include "tests/support/child.h"
#include "tests/support/fake_inductor.h"
#include "tests/support/graphs.h"
#include "views/graph/graph_pane.h"
#include "views/inspector/inspector_pane.h"
#include "views/kernels/kernels_pane.h"
#include "views/session/edit/editing.h"
#include "views/session/kernels/asked_kernels.h"
#include "views/session/kernels/predicted_kernels.h"
#include "views/session/kernels/shown_kernels.h"
#include "views/timeline/timeline_view.h"
#include "views/widgets/elided_label.h"
#include "views/widgets/notice_bar.h"

namespace jointer {
namespace {

using namespace views;
using test::child;
using test::kPatienceMs;

// The prediction fuses the first two calls; the stand-in makes a kernel of every call.
const char kAskedCalls[] = R"(
  primals_1: f32[1024,1024] = input
  primals_2: f32[1024,1024] = input
  scaled: f32[1024,1024] = aten.mul.Tensor(primals_1, primals_2)
  exponential: f32[1024,1024] = aten.exp(scaled)
  product: f32[1024,1024] = aten.mm(exponential, primals_2)
  square: f32[1024,1024] = aten.mm(primals_1, primals_1)
  return [exponential, product, square]
)";

}  // namespace

class AskedKernelsPaneTest : public test::AppWindow {
  Q_OBJECT

 private slots:
  void init() {
    python_ = std::make_unique<test::FakeInductor>();
    make_first_window();
    const std::string path = folder_->filePath("few.json").toStdString();
    QVERIFY(write_bytes(path, write_native(test::parse(kAskedCalls))));
    QVERIFY(open_file(path));
    pane_ = show_pane<KernelsPane>("kernels");
    QVERIFY(pane_ != nullptr);
    window_->resizeDocks({window_->dock("kernels")}, {500}, Qt::Vertical);
    QTRY_VERIFY_WITH_TIMEOUT(document().kernels().is_current(), kPatienceMs);
  }
  void cleanup() {
    close_window();
    python_.reset();
  }

  void the_table_shows_the_answer();
  void either_source_can_be_chosen();
  void other_panes_show_the_same_kernels();
  void the_kernels_of_an_earlier_graph_say_so();
  void a_difference_selects_its_nodes();
  void a_slow_question_shows_its_progress_and_is_cancelled();
  void a_failure_says_what_to_do();
  void the_window_closes_during_a_question();

 private:
  [[nodiscard]] AskedKernels& asked() const { return document().asked_kernels(); }
  [[nodiscard]] KernelModel& model() const { return pane_->table().model(); }
  [[nodiscard]] NodeId node(const char* name) const { return document().graph().find(name); }
  [[nodiscard]] QToolButton& button(const char* name) const {
    return child<QToolButton>(*pane_, name);
  }
  [[nodiscard]] QString totals() const { return child<ElidedLabel>(*pane_, "totals").text(); }
  void press(const char* name) const { QTest::mouseClick(&button(name), Qt::LeftButton); }
  void choose(ShownKernels::Source source) const {
    auto& sources = child<QComboBox>(*pane_, "source");
    sources.setFocus();
    QTest::keyClick(&sources, source == ShownKernels::Source::asked ? Qt::Key_Down : Qt::Key_Up);
  }
  // Asks, and waits for the answer.
  void ask() const {
    press("ask_inductor");
    QTRY_VERIFY_WITH_TIMEOUT(!asked().is_running(), kPatienceMs);
  }
  // True once all processes of the stand-in's last run have ended.
  [[nodiscard]] bool is_over() const {
    std::istringstream ids(python_->runs().back());
    for (pid_t id = 0; ids >> id;)
      if (!test::dies_soon(id)) return false;
    return true;
  }

  std::unique_ptr<test::FakeInductor> python_;
  KernelsPane* pane_ = nullptr;
};

void AskedKernelsPaneTest::the_table_shows_the_answer() {
  QVERIFY(totals().startsWith("Predicted"));
  QCOMPARE(model().row_of(node("scaled")), model().row_of(node("exponential")));
  ask();
  QVERIFY(asked().answer());
  QTRY_COMPARE(model().kernels(), asked().answer()->kernels);
  QCOMPARE(model().rowCount(), 4);
  QVERIFY(model().row_of(node("scaled")) != model().row_of(node("exponential")));
  QVERIFY2(totals().startsWith("Inductor in torch 2.15.0, for H100: 4 kernels"),
           qPrintable(totals()));
  QCOMPARE(child<QComboBox>(*pane_, "source").currentText(), QString("Inductor Scheduler"));
  QVERIFY(!child<QProgressBar>(*pane_, "asking").isVisible());
}

void AskedKernelsPaneTest::either_source_can_be_chosen() {
  choose(ShownKernels::Source::asked);
  QTRY_COMPARE(model().rowCount(), 0);
  QVERIFY(python_->runs().empty());
  QVERIFY(!button("differences").isVisible());
  choose(ShownKernels::Source::predicted);
  QTRY_COMPARE(model().kernels(), document().kernels().shown());
  ask();
  choose(ShownKernels::Source::predicted);
  QTRY_COMPARE(model().kernels(), document().kernels().shown());
  QVERIFY(!button("differences").isVisible());
  choose(ShownKernels::Source::asked);
  QTRY_COMPARE(model().kernels(), asked().answer()->kernels);
  QVERIFY(button("differences").isVisible());
}

void AskedKernelsPaneTest::other_panes_show_the_same_kernels() {
  TimelineContent& timeline = window_->current_tab()->timeline()->content();
  auto* inspector = show_pane<InspectorPane>("inspector");
  auto* graph = show_pane<GraphPane>("graph");
  QVERIFY(inspector != nullptr && graph != nullptr);
  timeline.set_show_kernels(true);
  graph->view().set_show_kernels(true);
  document().selection().select(node("scaled"));
  QVERIFY(timeline.kernel_lanes() != nullptr);
  QCOMPARE(timeline.kernel_lanes()->shared_kernels(), document().kernels().shown());
  QCOMPARE(graph->view().scene().kernels, document().kernels().shown().get());
  QTRY_VERIFY(inspector->page().toPlainText().contains("Predicted kernel"));
  window_->dock("kernels")->raise();
  QTRY_VERIFY(pane_->isVisible());
  ask();
  QTRY_COMPARE(document().shown_kernels().source(), ShownKernels::Source::asked);
  QCOMPARE(timeline.kernel_lanes()->shared_kernels(), asked().answer()->kernels);
  QCOMPARE(graph->view().scene().kernels, asked().answer()->kernels.get());
  QCOMPARE(graph->view().scene().kernel_source, QString("Inductor's answer"));
  QTRY_VERIFY(inspector->page().toPlainText().contains("Inductor's kernel"));
  QVERIFY(!inspector->page().toPlainText().contains("Predicted kernel"));
  document().shown_kernels().set_source(ShownKernels::Source::predicted);
  QCOMPARE(timeline.kernel_lanes()->shared_kernels(), document().kernels().shown());
  QTRY_VERIFY(inspector->page().toPlainText().contains("Predicted kernel"));
}

void AskedKernelsPaneTest::the_kernels_of_an_earlier_graph_say_so() {
  ask();
  QVERIFY(!totals().contains("for an earlier graph"));
  document().selection().select(node("square"));
  timeline().setFocus();
  QTest::keyClick(&timeline(), Qt::Key_Home, Qt::AltModifier);
  QTRY_COMPARE_WITH_TIMEOUT(document().editing().entry_count(), 1, kPatienceMs);
  QTRY_VERIFY_WITH_TIMEOUT(totals().contains("for an earlier graph"), kPatienceMs);
  QCOMPARE(model().rowCount(), 4);
  ask();
  QTRY_VERIFY_WITH_TIMEOUT(!totals().contains("for an earlier graph"), kPatienceMs);
  QCOMPARE(python_->runs().size(), std::size_t{2});
  QTRY_COMPARE(model().nodes(0), std::vector{node("square")});
}

void AskedKernelsPaneTest::a_difference_selects_its_nodes() {
  ask();
  QToolButton& header = button("differences");
  QTRY_VERIFY(header.isVisible());
  QVERIFY2(header.text().contains("from the prediction for torch 2.15.0"),
           qPrintable(header.text()));
  auto& tree = child<QTreeWidget>(*pane_, "difference_tree");
  QVERIFY(!tree.isVisible());
  QTest::mouseClick(&header, Qt::LeftButton);
  QTRY_VERIFY(tree.isVisible());
  QTreeWidgetItem* split = nullptr;
  for (int i = 0; i < tree.topLevelItemCount(); ++i)
    if (tree.topLevelItem(i)->text(0).startsWith("one kernel of the prediction is several"))
      split = tree.topLevelItem(i);
  QVERIFY(split != nullptr);
  QCOMPARE(split->text(1), QString("1"));
  QCOMPARE(split->childCount(), 1);
  split->setExpanded(true);
  QTreeWidgetItem* item = split->child(0);
  QCOMPARE(item->text(0), QString("scaled, exponential"));
  tree.scrollToItem(item);
  QTest::mouseClick(tree.viewport(), Qt::LeftButton, {}, tree.visualItemRect(item).center());
  QCOMPARE(document().selection().nodes().size(), std::size_t{2});
  QVERIFY(document().selection().contains(node("scaled")));
  QVERIFY(document().selection().contains(node("exponential")));
  QTest::mouseClick(&header, Qt::LeftButton);
  QVERIFY(!tree.isVisible());
}

void AskedKernelsPaneTest::a_slow_question_shows_its_progress_and_is_cancelled() {
  python_->act("sleep");
  press("ask_inductor");
  auto& bar = child<QProgressBar>(*pane_, "asking");
  QTRY_VERIFY_WITH_TIMEOUT(bar.isVisible() && bar.value() > 0, kPatienceMs);
  QVERIFY(!button("ask_inductor").isEnabled());
  QTRY_COMPARE_WITH_TIMEOUT(child<ElidedLabel>(*pane_, "stage").text(),
                            QString("lowering: 1 of 4 nodes"), kPatienceMs);
  QTRY_VERIFY_WITH_TIMEOUT(!python_->runs().empty(), kPatienceMs);
  press("cancel_asking");
  QVERIFY(!bar.isVisible());
  QVERIFY(button("ask_inductor").isEnabled());
  QTRY_VERIFY_WITH_TIMEOUT(is_over(), kPatienceMs);
  QVERIFY(!child<NoticeBar>(*pane_, "asked_problem").isVisible());
  QCOMPARE(document().shown_kernels().source(), ShownKernels::Source::predicted);
}

void AskedKernelsPaneTest::a_failure_says_what_to_do() {
  python_->have_torch("");
  ask();
  const auto& problem = child<NoticeBar>(*pane_, "asked_problem");
  QTRY_VERIFY(problem.isVisible());
  QVERIFY2(problem.text().contains("-m pip install torch"), qPrintable(problem.text()));
  QCOMPARE(model().kernels(), document().kernels().shown());
  python_->have_torch("2.15.0");
  python_->act("fail");
  ask();
  QTRY_VERIFY2(problem.text().contains("node mm cannot be lowered"), qPrintable(problem.text()));
  python_->act("answer");
  ask();
  QTRY_VERIFY(!problem.isVisible());
  QVERIFY(asked().answer());
}

void AskedKernelsPaneTest::the_window_closes_during_a_question() {
  python_->act("sleep");
  press("ask_inductor");
  QTRY_VERIFY_WITH_TIMEOUT(!python_->runs().empty(), kPatienceMs);
  QTest::keyClick(window_.get(), Qt::Key_W, Qt::ControlModifier);
  QTRY_VERIFY(window_->current_tab() == nullptr);
  QTRY_VERIFY_WITH_TIMEOUT(is_over(), kPatienceMs);
}

}  // namespace jointer

JOINTER_GUI_TEST(jointer::AskedKernelsPaneTest, "asked_kernels")
#include "asked_kernels_test.moc"
