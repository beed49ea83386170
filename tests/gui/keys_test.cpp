// Tests which pane gets a letter: the focused one, or the timeline if the pointer is over it.

#include <QLineEdit>

#include "tests/gui/gui_test.h"
#include "tests/gui/sac_window.h"

namespace jointer {

using namespace views;
using test::kPatienceMs;

class KeysTest : public test::SacWindow {
  Q_OBJECT

 private slots:
  void init();
  void cleanup();

  void letters_over_the_timeline_edit_nothing();
  void letters_elsewhere_edit_in_the_focused_table();
  void a_text_field_keeps_its_letters();

 private:
  // Gives the table of the SAC pane the focus and selects a recomputed tensor.
  void focus_table();
  void move_pointer_over_timeline();
  void move_pointer_away();
  [[nodiscard]] double shown_length() {
    const AxisView& axis = timeline().range().axis();
    return axis.end() - axis.begin();
  }
};

void KeysTest::init() {
  make_window();
  QVERIFY(open(test::kSample));
}

void KeysTest::cleanup() {
  close_window();
}

void KeysTest::focus_table() {
  choose_row(largest(Keep::recompute));
  table().view().setFocus();
  QVERIFY(table().view().hasFocus());
}

void KeysTest::move_pointer_over_timeline() {
  QWidget* viewport = timeline().viewport();
  const QPointF at = viewport->rect().center();
  QEnterEvent enter(at, at, viewport->mapToGlobal(at));
  QApplication::sendEvent(viewport, &enter);
}

void KeysTest::move_pointer_away() {
  QEvent leave(QEvent::Leave);
  QApplication::sendEvent(timeline().viewport(), &leave);
}

void KeysTest::letters_over_the_timeline_edit_nothing() {
  focus_table();
  move_pointer_over_timeline();
  QTest::keyClick(&table().view(), Qt::Key_W);
  const double zoomed = shown_length();
  QTest::keyClick(&table().view(), Qt::Key_S);
  QVERIFY(shown_length() > zoomed);
  QVERIFY(settle());
  QCOMPARE(editing().step_count(), 0);
  QVERIFY(table().view().hasFocus());
}

void KeysTest::letters_elsewhere_edit_in_the_focused_table() {
  focus_table();
  move_pointer_over_timeline();
  move_pointer_away();
  const double length = shown_length();
  QTest::keyClick(&table().view(), Qt::Key_S);
  QTRY_COMPARE_WITH_TIMEOUT(editing().step_count(), 1, kPatienceMs);
  QCOMPARE(shown_length(), length);
  // The timeline has the focus now, and the same letter zooms.
  timeline().setFocus();
  QTest::keyClick(&timeline(), Qt::Key_W);
  QVERIFY(shown_length() < length);
  QCOMPARE(editing().step_count(), 1);
}

void KeysTest::a_text_field_keeps_its_letters() {
  move_pointer_over_timeline();
  filter().setFocus();
  const double length = shown_length();
  QTest::keyClicks(&filter(), "wasd");
  QCOMPARE(filter().text(), QString("wasd"));
  QCOMPARE(shown_length(), length);
}

}  // namespace jointer

JOINTER_GUI_TEST(jointer::KeysTest, "keys")
#include "keys_test.moc"
