// Tests the keys of dialogs, in which Enter accepts what was typed, and the text of warnings.

#include <QLineEdit>
#include <QMessageBox>
#include <QTest>
#include <QTreeView>
#include <memory>

#include "tests/gui/gui_test.h"
#include "tests/support/child.h"
#include "tests/support/snapshots.h"
#include "views/palette/keys_help.h"
#include "views/session/document/document.h"
#include "views/widgets/controls.h"
#include "views/window/assumptions_dialog.h"

namespace jointer {
namespace {

using namespace views;

using test::kPatienceMs;

}  // namespace

class DialogsTest : public QObject {
  Q_OBJECT

 private slots:
  void init();
  void cleanup() {
    dialog_.reset();
    document_.reset();
  }

  void enter_applies_the_value_of_all_symbols();
  void enter_applies_a_value_in_the_table();
  void enter_in_the_filter_of_the_keys_keeps_them_open();
  void a_warning_is_not_markup();

 private:
  // Waits until the document has the sizes that the closed dialog asked for.
  void wait_for_sizes(const QString& expected);

  std::unique_ptr<Document> document_;
  std::unique_ptr<AssumptionsDialog> dialog_;
};

void DialogsTest::init() {
  document_ = std::make_unique<Document>(
      OpenRequest{},
      test::snapshot_of("x: f32[u0,8] = input\ny: f32[u1,8] = input\na: f32[u0,8] = aten.relu(x)\n"
                        "b: f32[u1,8] = aten.relu(y)\nreturn [a, b]"));
  dialog_ = std::make_unique<AssumptionsDialog>(*document_);
  dialog_->show();
  QVERIFY(QTest::qWaitForWindowActive(dialog_.get()));
}

void DialogsTest::wait_for_sizes(const QString& expected) {
  QVERIFY(!dialog_->isVisible());
  const auto sizes = [this] {
    return QString::fromStdString(document_->graph().assumptions().text());
  };
  QTRY_COMPARE_WITH_TIMEOUT(sizes(), expected, kPatienceMs);
}

void DialogsTest::enter_applies_the_value_of_all_symbols() {
  auto& field = test::child<QLineEdit>(*dialog_, "fallback");
  field.setFocus();
  QTest::keyClicks(&field, "12");
  QTest::keyClick(&field, Qt::Key_Return);
  wait_for_sizes("12");
}

void DialogsTest::enter_applies_a_value_in_the_table() {
  auto& table = test::child<QTreeView>(*dialog_, "symbols");
  const QRect cell = table.visualRect(table.model()->index(1, SymbolModel::value_column));
  QTest::mouseClick(table.viewport(), Qt::LeftButton, {}, cell.center());
  QWidget* editor = QApplication::focusWidget();
  QVERIFY(editor != &table && table.isAncestorOf(editor));
  QTest::keyClicks(editor, "34");
  QTest::keyClick(editor, Qt::Key_Return);  // ends the typing
  QTRY_VERIFY(table.hasFocus());
  QTest::keyClick(&table, Qt::Key_Return);
  wait_for_sizes("u1=34");
}

// Errors of passes name functions such as <lambda>, which must not vanish as unknown tags.
void DialogsTest::a_warning_is_not_markup() {
  const QString text = "The pass <lambda> failed. <b>See</b> its output.";
  show_warning("Passes", text, dialog_.get());
  auto& box = test::child<QMessageBox>(*dialog_);
  QVERIFY(box.isVisible());
  QCOMPARE(box.text(), text);
  QCOMPARE(box.textFormat(), Qt::PlainText);
  box.close();
}

void DialogsTest::enter_in_the_filter_of_the_keys_keeps_them_open() {
  KeysHelp keys({{.title = "Timeline", .rows = {{"W, S", "Zoom in and out"}}}});
  keys.show();
  QVERIFY(QTest::qWaitForWindowActive(&keys));
  auto* filter = keys.findChild<QLineEdit*>();
  filter->setFocus();
  QTest::keyClicks(filter, "zoom");
  QTest::keyClick(filter, Qt::Key_Return);
  QVERIFY(keys.isVisible());
  QTest::keyClick(filter, Qt::Key_Escape);
  QVERIFY(!keys.isVisible());
}

}  // namespace jointer

JOINTER_GUI_TEST(jointer::DialogsTest, "dialogs")
#include "dialogs_test.moc"
