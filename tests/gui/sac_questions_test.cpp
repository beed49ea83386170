// Asks an engineer's three questions in the window, on a joint graph and on a flat training step:
// which three tensors free some memory, why these, and what the cheapest change is that fits a
// peak.
//
// With JOINTER_PICTURES, the name of a folder, each answer is saved there as a picture for
// docs/sac.md (scripts/pictures).

#include <QPlainTextEdit>
#include <QSpinBox>

#include "tests/gui/gui_test.h"
#include "tests/gui/sac_window.h"
#include "tests/support/child.h"
#include "views/inspector/inspector_pane.h"

namespace jointer {
namespace {

using namespace views;
using test::child;
using test::choose;
using test::kMib;
using test::kPatienceMs;
using test::kSearchMs;
using test::type;

}  // namespace

class SacQuestionsTest : public test::SacWindow {
  Q_OBJECT

 private slots:
  void init() {
    make_window();
    window_->resize(1500, 1200);
  }
  void cleanup() { close_window(); }

  void which_three_tensors_and_why_these_data() { add_graphs(); }
  void which_three_tensors_and_why_these();
  void the_cheapest_change_that_fits_data() { add_graphs(); }
  void the_cheapest_change_that_fits();

 private:
  // `free` and `fit` in MiB.
  static void add_graphs() {
    QTest::addColumn<QByteArray>("file");
    QTest::addColumn<QString>("name");
    QTest::addColumn<int>("free");
    QTest::addColumn<int>("fit");
    QTest::newRow("joint graph") << QByteArray(test::kLarge) << "joint" << 300 << 24 * 1024;
    QTest::newRow("flat training step") << QByteArray(test::kStep) << "step" << 8 << 72;
  }
  [[nodiscard]] const ChangeList& list() const { return targets().search().outcome()->list; }
  [[nodiscard]] QString reasons() const {
    return child<QPlainTextEdit>(pane(), "reasons").toPlainText();
  }
  // The SAC pane needs its space: the graph is not asked about.
  void open_targets() {
    QFETCH(QByteArray, file);
    QVERIFY(open(file));
    window_->resizeDocks({window_->dock("modules"), window_->dock("sac")}, {250, 850},
                         Qt::Horizontal);
    window_->resizeDocks({window_->dock("sac")}, {640}, Qt::Vertical);
    QTabBar& tabs = *pages().tabBar();
    QTest::mouseClick(&tabs, Qt::LeftButton, {},
                      tabs.tabRect(pages().indexOf(&targets())).center());
    QVERIFY(targets().isVisible());
  }
  bool search(QAbstractSpinBox& box) {
    QTest::keyClick(&box, Qt::Key_Return);
    return QTest::qWaitFor([this] { return !targets().search().is_running(); }, kSearchMs);
  }
  void click_line(int row) {
    TableView& view = targets().table().view();
    const QModelIndex at = targets().table().model().index_of(row, TargetModel::change_column);
    QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, view.visualRect(at).center());
  }
  void save_picture(const QString& question) {
    const QString folder = qEnvironmentVariable("JOINTER_PICTURES");
    if (folder.isEmpty()) return;
    QFETCH(QString, name);
    QTRY_VERIFY_WITH_TIMEOUT(session().is_settled() && session().reserved().is_settled(),
                             kPatienceMs);
    QTest::qWait(300);  // the columns fit themselves
    const QString path = QStringLiteral("%1/%2_%3.png").arg(folder, question, name);
    QVERIFY2(window_->grab().save(path), qPrintable(path));
  }
};

void SacQuestionsTest::which_three_tensors_and_why_these() {
  open_targets();
  QFETCH(int, free);
  type(child<ByteBox>(targets(), "bytes"), QStringLiteral("%1 MiB").arg(free));
  type(child<QSpinBox>(targets(), "at_most"), QStringLiteral("3"));
  QVERIFY(search(child<QSpinBox>(targets(), "at_most")));
  QVERIFY(list().is_reached);
  QCOMPARE(list().changes.size(), std::size_t{3});
  QVERIFY(list().figures.figures.peak_bytes <=
          list().before.figures.peak_bytes - std::int64_t{free} * kMib);
  TableView& view = targets().table().view();
  click_line(0);
  QTest::keyClick(&view, Qt::Key_A, Qt::ControlModifier);
  QCOMPARE(document().selection().nodes().size(), std::size_t{3});
  save_picture(QStringLiteral("three_tensors"));

  // Why this one: below the list, and in the Inspector.
  click_line(0);
  QCOMPARE(document().selection().nodes().size(), std::size_t{1});
  const auto name = QString::fromStdString(
      std::string(document().graph().name(document().selection().current())));
  QTRY_VERIFY_WITH_TIMEOUT(reasons().startsWith(name) &&
                               reasons().contains("If it were recomputed, ") &&
                               reasons().contains("torch's dp"),
                           kSearchMs);
  QTRY_VERIFY_WITH_TIMEOUT(window_->dock("inspector")->pane() != nullptr, kPatienceMs);
  // No line is cut.
  const auto& text = child<QPlainTextEdit>(pane(), "reasons");
  QCOMPARE(text.viewport()->height() % text.cursorRect().height(), 0);
  const auto& inspector = *qobject_cast<InspectorPane*>(window_->dock("inspector")->pane());
  QTRY_VERIFY_WITH_TIMEOUT(
      std::ranges::any_of(inspector.content().sections,
                          [](const InspectorSection& section) {
                            return std::ranges::any_of(section.rows, [](const InspectorRow& row) {
                              return row.label == QStringLiteral("otherwise");
                            });
                          }),
      kPatienceMs);
  save_picture(QStringLiteral("why_this_one"));
}

void SacQuestionsTest::the_cheapest_change_that_fits() {
  open_targets();
  QFETCH(int, fit);
  choose(child<QComboBox>(targets(), "goal"), "Fit");
  choose(child<QComboBox>(targets(), "unit"), "tensors in all layers");
  type(child<ByteBox>(targets(), "bytes"), QStringLiteral("%1 MiB").arg(fit));
  QVERIFY(search(child<ByteBox>(targets(), "bytes")));
  QVERIFY(list().is_reached);
  QVERIFY(list().figures.figures.peak_bytes <= std::int64_t{fit} * kMib);
  QVERIFY(targets().search().best() != nullptr);
  click_line(0);
  QVERIFY(document().selection().nodes().size() > 1);  // one tensor per layer
  save_picture(QStringLiteral("cheapest_change"));
  const PlanFigures promised = list().figures;
  test::press(button("apply_list"));
  QVERIFY(settle());
  QCOMPARE(editing().entry_count(), 1);
  QCOMPARE(figures(), promised);
}

}  // namespace jointer

JOINTER_GUI_TEST(jointer::SacQuestionsTest, "sac_questions")
#include "sac_questions_test.moc"
