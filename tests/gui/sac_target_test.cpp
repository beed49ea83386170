// Tests the targets of the SAC pane by mouse and keyboard: memory to free, a peak to fit,
// conditions, the list, and applying it.

#include <QHelpEvent>
#include <QSpinBox>
#include <QTextBlock>
#include <QTextLayout>
#include <QToolTip>

#include "tests/gui/gui_test.h"
#include "tests/gui/sac_window.h"
#include "tests/support/child.h"
#include "views/session/text/number_text.h"

namespace jointer {
namespace {

using namespace views;
using test::child;
using test::choose;
using test::kMib;
using test::kPatienceMs;
using test::kSample;
using test::kSearchMs;
using test::type;

}  // namespace

class SacTargetTest : public test::SacWindow {
  Q_OBJECT

 private slots:
  void init() { make_window(); }
  void cleanup() { close_window(); }

  void frees_memory_and_applies_the_list_data();
  void frees_memory_and_applies_the_list();
  void a_step_is_changed_as_on_the_command_line();
  void the_list_is_applied_in_its_order_data() { frees_memory_and_applies_the_list_data(); }
  void the_list_is_applied_in_its_order();
  void the_answer_is_whole_in_a_small_window();
  void a_line_selects_its_tensors();
  void fits_a_peak_under_conditions();
  void says_why_a_target_cannot_be_met();
  void one_of_the_two_ways_stays_allowed();
  void answers_on_a_large_graph();

 private:
  [[nodiscard]] TargetModel& lines() const { return targets().table().model(); }
  void open_targets() {
    pages().setCurrentWidget(&targets());
    QVERIFY(targets().isVisible());
  }
  bool wait() {
    return QTest::qWaitFor([this] { return !targets().search().is_running(); }, kSearchMs);
  }
  [[nodiscard]] WrappedText& answer() const { return child<WrappedText>(targets(), "answer"); }
  [[nodiscard]] QString said() const { return answer().toPlainText(); }
};

void SacTargetTest::frees_memory_and_applies_the_list_data() {
  QTest::addColumn<QByteArray>("file");
  QTest::newRow("joint graph") << QByteArray(kSample);
  QTest::newRow("flat training step") << QByteArray(test::kStep);
}

void SacTargetTest::frees_memory_and_applies_the_list() {
  QFETCH(QByteArray, file);
  QVERIFY(open(file));
  open_targets();
  const PlanFigures before = figures();
  type(child<ByteBox>(targets(), "bytes"), "1 MiB");
  QTest::keyClick(&child<ByteBox>(targets(), "bytes"), Qt::Key_Return);
  QVERIFY(targets().search().is_running());
  QVERIFY(wait());
  const ChangeList& list = targets().search().outcome()->list;
  QVERIFY(list.is_reached);
  QCOMPARE(lines().row_count(), static_cast<int>(list.changes.size()));
  const int last = lines().row_count() - 1;
  QVERIFY(*lines().number(last, TargetModel::peak_column) <= before.figures.peak_bytes - kMib);
  // The best plan without the conditions is at least as good.
  QVERIFY(targets().search().best()->fits);
  QVERIFY(targets().search().best()->point.figures.figures.step_ns <= list.figures.figures.step_ns);
  QVERIFY2(said().contains("Without these conditions"), qPrintable(said()));
  // Only applying the list changes the document.
  QCOMPARE(editing().entry_count(), 0);
  test::press(button("apply_list"));
  QVERIFY(settle());
  QCOMPARE(editing().entry_count(), 1);
  QCOMPARE(figures(), list.figures);
  QVERIFY(!button("apply_list").isEnabled());
  QVERIFY2(said().contains("The list has been applied."), qPrintable(said()));
  QTest::keyClick(window_.get(), Qt::Key_Z, Qt::ControlModifier);
  QTRY_COMPARE_WITH_TIMEOUT(figures(), before, kPatienceMs);
  QVERIFY(settle());
  QVERIFY(button("apply_list").isEnabled());
}

// A flat training step: the list becomes tags, which the next list may change.
void SacTargetTest::a_step_is_changed_as_on_the_command_line() {
  QVERIFY(open(test::kStep));
  open_targets();
  choose(child<QComboBox>(targets(), "unit"), "tensors in all layers");
  type(child<ByteBox>(targets(), "bytes"), "1 MiB");
  QTest::keyClick(&child<ByteBox>(targets(), "bytes"), Qt::Key_Return);
  QVERIFY(wait());
  test::press(button("apply_list"));
  QVERIFY(settle());
  const QJsonObject answer = run_jointer({"sac", source_of(test::kStep), "--free", "1MiB",
                                          "--same-in-all-layers", "--device", device()});
  QVERIFY(settle_order());
  QCOMPARE(ordered_figures().peak_bytes, answer[u"peak_bytes"].toInteger());
  QCOMPARE(static_cast<double>(ordered_figures().step_ns) / 1e6, answer[u"step_ms"].toDouble());
  QCOMPARE(QString::fromStdString(session().state()->order),
           answer[u"order"].toObject()[u"passes"].toString());
  QCOMPARE(figures().saved_bytes, answer[u"saved_storage_bytes"].toInteger());
  QCOMPARE(figures().recomputed, static_cast<std::size_t>(answer[u"recomputed_count"].toInteger()));
  // The lines still name tensors of this graph.
  QVERIFY(!lines().nodes(0).empty());
  QVERIFY(document().graph().node(lines().nodes(0).front()).policy != MemoryPolicy::none);
  const std::int64_t peak = figures().figures.peak_bytes;
  type(child<ByteBox>(targets(), "bytes"), "1 MiB");
  QTest::keyClick(&child<ByteBox>(targets(), "bytes"), Qt::Key_Return);
  QVERIFY(wait());
  test::press(button("apply_list"));
  QVERIFY(settle());
  QCOMPARE(editing().entry_count(), 2);
  QVERIFY(figures().figures.peak_bytes <= peak - kMib);
}

// The list is the same with and without an order; the two pages have one choice.
void SacTargetTest::the_list_is_applied_in_its_order() {
  QFETCH(QByteArray, file);
  QVERIFY(open(file));
  open_targets();
  const PlanFigures before = figures();
  auto& with_order = child<QCheckBox>(targets(), "orders");
  QVERIFY(with_order.isVisible() && with_order.isChecked());
  type(child<ByteBox>(targets(), "bytes"), "1 MiB");
  QTest::keyClick(&child<ByteBox>(targets(), "bytes"), Qt::Key_Return);
  QVERIFY(wait());
  const TargetSearch::Outcome found = *targets().search().outcome();
  QVERIFY(found.order && !found.order->passes.empty());
  QVERIFY(found.is_reached());
  QVERIFY(found.order->figures.peak_bytes <= before.figures.peak_bytes - kMib);
  QVERIFY(found.order->figures.step_ns < found.list.figures.figures.step_ns);
  const Fit best = *targets().search().best();
  QVERIFY(best.fits && !best.point.order.empty());
  QVERIFY(best.point.figures.figures.step_ns <= found.order->figures.step_ns);
  // Both steps are shown.
  const QString passes = QString::fromStdString(found.order->passes);
  QVERIFY2(said().contains(time_text(found.list.figures.figures.step_ns)) &&
               said().contains("Reordered: ") &&
               said().contains(time_text(found.order->figures.step_ns)) && said().contains(passes),
           qPrintable(said()));
  test::press(button("apply_list"));
  QVERIFY(settle());
  QVERIFY(settle_order());
  QCOMPARE(session().state()->order, found.order->passes);
  QCOMPARE(figures(), found.list.figures);
  QCOMPARE(ordered_figures(), found.order->figures);
  QTest::keyClick(window_.get(), Qt::Key_Z, Qt::ControlModifier);
  QTRY_COMPARE_WITH_TIMEOUT(figures(), before, kPatienceMs);
  QVERIFY(settle());
  QVERIFY(session().state()->order.empty());

  QTest::mouseClick(&with_order, Qt::LeftButton, {}, QPoint(8, 8));
  QVERIFY(!with_order.isChecked() && !orders().isChecked());
  test::press(child<QPushButton>(targets(), "find"));
  QVERIFY(wait());
  QVERIFY(!targets().search().outcome()->order);
  QCOMPARE(targets().search().outcome()->list.plan, found.list.plan);
  QVERIFY(targets().search().best()->point.order.empty());
  QVERIFY(!said().contains("Reordered"));
  test::press(button("apply_list"));
  QVERIFY(settle());
  QVERIFY(session().state()->order.empty());
}

// The passes of an order are one word for the layout of text, which may be longer than a line.
void SacTargetTest::the_answer_is_whole_in_a_small_window() {
  window_->resize(1280, 800);
  QVERIFY(open(kSample));
  open_targets();
  type(child<ByteBox>(targets(), "bytes"), "1 MiB");
  QTest::keyClick(&child<ByteBox>(targets(), "bytes"), Qt::Key_Return);
  QVERIFY(wait());
  QVERIFY(!said().isEmpty() && answer().isVisible());
  const int pane_width = pane().minimumSizeHint().width();
  const QString text = said() + QStringLiteral("\nReordered: 12.3 MiB, 4.56 ms, ordered by %1.")
                                    .arg(QString("reorder_communication,").repeated(20).chopped(1));
  answer().set_text(text);
  QCOMPARE(answer().toPlainText(), text);
  QCOMPARE(answer().accessibleName(), text);
  QCOMPARE(pane().minimumSizeHint().width(), pane_width);
  QTest::qWait(0);
  for (QTextBlock block = answer().document()->begin(); block.isValid(); block = block.next())
    for (int i = 0; i < block.layout()->lineCount(); ++i)
      QVERIFY(block.layout()->lineAt(i).naturalTextWidth() <= answer().viewport()->width());
  // A pane that is too low for the text shows it in a tooltip.
  answer().setFixedHeight(answer().fontMetrics().height());
  QHelpEvent tip(QEvent::ToolTip, {2, 2}, answer().mapToGlobal(QPoint(2, 2)));
  QApplication::sendEvent(answer().viewport(), &tip);
  QTRY_COMPARE(QToolTip::text(), text);
  QToolTip::hideText();
}

void SacTargetTest::a_line_selects_its_tensors() {
  QVERIFY(open(kSample));
  open_targets();
  type(child<ByteBox>(targets(), "bytes"), "1 MiB");
  choose(child<QComboBox>(targets(), "unit"), "operators");
  test::press(child<QPushButton>(targets(), "find"));
  QVERIFY(wait());
  QVERIFY(lines().row_count() > 0);
  auto& view = targets().table().view();
  QTest::mouseClick(view.viewport(), Qt::LeftButton, {},
                    view.visualRect(lines().index_of(0, TargetModel::change_column)).center());
  std::vector<NodeId> nodes = lines().nodes(0);
  std::ranges::sort(nodes);
  QVERIFY(!nodes.empty());
  QVERIFY(std::ranges::equal(document().selection().nodes(), nodes));
  QVERIFY(timeline().isVisible());
}

void SacTargetTest::fits_a_peak_under_conditions() {
  QVERIFY(open(kSample));
  open_targets();
  const std::int64_t peak = figures().figures.peak_bytes;
  type(child<ByteBox>(targets(), "bytes"), "1 MiB");
  QTest::keyClick(&child<ByteBox>(targets(), "bytes"), Qt::Key_Tab);
  // The other side of the same limit.
  choose(child<QComboBox>(targets(), "goal"), "Fit");
  QCOMPARE(child<ByteBox>(targets(), "bytes").bytes(), peak - kMib);
  choose(child<QComboBox>(targets(), "unit"), "tensors in all layers");
  QTest::mouseClick(&child<QCheckBox>(targets(), "offload"), Qt::LeftButton, {}, QPoint(8, 8));
  QVERIFY(!child<QCheckBox>(targets(), "offload").isChecked());
  test::press(child<QPushButton>(targets(), "find"));
  QVERIFY(wait());
  const TargetSearch::Outcome& found = *targets().search().outcome();
  QCOMPARE(found.target.peak_bytes, peak - kMib);
  QVERIFY(!found.list.changes.empty());
  for (const ListedChange& each : found.list.changes)
    QVERIFY(each.move.to == PlanAction::recompute);
}

void SacTargetTest::says_why_a_target_cannot_be_met() {
  QVERIFY(open(kSample));
  open_targets();
  type(child<ByteBox>(targets(), "bytes"), "1 GiB");
  const auto& unit = child<QComboBox>(targets(), "unit");
  QCOMPARE(unit.currentText(), "tensors");  // any number
  type(child<QSpinBox>(targets(), "at_most"), "1");
  QCOMPARE(unit.currentText(), "tensor");
  QCOMPARE(unit.itemText(1), "tensor in all layers");
  type(child<QSpinBox>(targets(), "at_most"), "2");
  QCOMPARE(unit.currentText(), "tensors");
  QTest::keyClick(&child<QSpinBox>(targets(), "at_most"), Qt::Key_Return);
  QVERIFY(wait());
  const TargetSearch::Outcome& found = *targets().search().outcome();
  QVERIFY(!found.list.is_reached);
  QCOMPARE(found.target.at_most, std::optional<std::size_t>(2));
  QVERIFY(found.list.changes.size() <= 2);
  QVERIFY(said().contains(QString::fromStdString(why_not_reached(found.list, found.target))));
}

void SacTargetTest::one_of_the_two_ways_stays_allowed() {
  QVERIFY(open(kSample));
  open_targets();
  auto& offload = child<QCheckBox>(targets(), "offload");
  auto& recompute = child<QCheckBox>(targets(), "recompute");
  QTest::mouseClick(&offload, Qt::LeftButton, {}, QPoint(8, 8));
  QTest::mouseClick(&recompute, Qt::LeftButton, {}, QPoint(8, 8));
  QVERIFY(offload.isChecked());
  QVERIFY(!recompute.isChecked());
}

void SacTargetTest::answers_on_a_large_graph() {
  JOINTER_SLOW_FUNCTION();
  QVERIFY(open(test::kLarge));
  open_targets();
  const auto ask = [&](const QString& bytes, const QString& at_most) {
    type(child<ByteBox>(targets(), "bytes"), bytes);
    type(child<QSpinBox>(targets(), "at_most"), at_most);
    QTest::keyClick(&child<QSpinBox>(targets(), "at_most"), Qt::Key_Return);
    return wait();
  };
  QVERIFY(ask("5 GiB", "3"));
  QVERIFY(!targets().search().outcome()->list.is_reached);
  QVERIFY2(said().contains("With 3 tensors, at most "), qPrintable(said()));
  QVERIFY(ask("5 GiB", "0"));
  QVERIFY(targets().search().outcome()->list.is_reached);
  const PlanFigures promised = targets().search().outcome()->list.figures;
  test::press(button("apply_list"));
  QVERIFY(settle());
  QCOMPARE(figures(), promised);
}

}  // namespace jointer

JOINTER_GUI_TEST(jointer::SacTargetTest, "sac_target")
#include "sac_target_test.moc"
