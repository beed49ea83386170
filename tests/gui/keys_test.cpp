// Tests which pane gets a letter: the focused one, or the timeline if the pointer is over it.

#include <QComboBox>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPointer>
#include <QSignalSpy>
#include <QSpinBox>

#include "tests/gui/gui_test.h"
#include "tests/gui/sac_window.h"
#include "tests/gui/timeline_hand.h"
#include "views/session/edit/move_planner.h"

namespace jointer {

using namespace views;
using test::kPatienceMs;

namespace {

constexpr int kHoldMs = 2000;

}  // namespace

class KeysTest : public test::SacWindow {
  Q_OBJECT

 private slots:
  void init() {
    make_window();
    QVERIFY(open(test::kSample));
  }
  void cleanup() { close_window(); }

  void letters_over_the_timeline_edit_nothing();
  void letters_elsewhere_edit_in_the_focused_table();
  void a_text_field_keeps_its_letters();
  void a_field_without_changes_leaves_undo_to_the_window();
  void a_node_is_held_wherever_the_focus_is_data();
  void a_node_is_held_wherever_the_focus_is();
  void the_best_position_is_found_wherever_the_focus_is_data();
  void the_best_position_is_found_wherever_the_focus_is();

 private:
  // Gives the table of the SAC pane the focus and selects a recomputed tensor.
  void focus_table();
  // The widgets on screen that can have the focus and do not accept letters as text.
  [[nodiscard]] QList<QPointer<QWidget>> focusable(const QWidget& area) const;
  void move_pointer_over_timeline();
  void move_pointer_away() {
    QEvent leave(QEvent::Leave);
    QApplication::sendEvent(timeline().viewport(), &leave);
  }
  [[nodiscard]] double shown_length() {
    const AxisView& axis = timeline().range().axis();
    return axis.end() - axis.begin();
  }
};

void KeysTest::focus_table() {
  choose_row(largest(PlanAction::recompute));
  table().view().setFocus();
  QVERIFY(table().view().hasFocus());
}

QList<QPointer<QWidget>> KeysTest::focusable(const QWidget& area) const {
  QList<QPointer<QWidget>> widgets;
  for (QWidget* widget : area.findChildren<QWidget*>()) {
    const auto* field = qobject_cast<QLineEdit*>(widget);
    const auto* list = qobject_cast<QComboBox*>(widget);
    const auto* text = qobject_cast<QPlainTextEdit*>(widget);
    const bool takes_text = (field != nullptr && !field->isReadOnly()) ||
                            (list != nullptr && list->isEditable()) ||
                            (text != nullptr && !text->isReadOnly());
    if (widget->isVisible() && widget->isEnabled() && widget->window() == window_.get() &&
        widget->focusPolicy() != Qt::NoFocus && widget->focusProxy() == nullptr && !takes_text)
      widgets.emplace_back(widget);
  }
  return widgets;
}

void KeysTest::move_pointer_over_timeline() {
  QWidget* viewport = timeline().viewport();
  const QPointF at = viewport->rect().center();
  QEnterEvent enter(at, at, viewport->mapToGlobal(at));
  QApplication::sendEvent(viewport, &enter);
}

void KeysTest::letters_over_the_timeline_edit_nothing() {
  focus_table();
  move_pointer_over_timeline();
  QTest::keyClick(&table().view(), Qt::Key_W);
  const double zoomed = shown_length();
  QTest::keyClick(&table().view(), Qt::Key_S);
  QVERIFY(shown_length() > zoomed);
  QVERIFY(settle());
  QCOMPARE(editing().entry_count(), 0);
  QVERIFY(table().view().hasFocus());
}

void KeysTest::letters_elsewhere_edit_in_the_focused_table() {
  focus_table();
  move_pointer_over_timeline();
  move_pointer_away();
  const double length = shown_length();
  QTest::keyClick(&table().view(), Qt::Key_S);
  QTRY_COMPARE_WITH_TIMEOUT(editing().entry_count(), 1, kPatienceMs);
  QCOMPARE(shown_length(), length);
  // The timeline has the focus now, and the same letter zooms.
  timeline().setFocus();
  QTest::keyClick(&timeline(), Qt::Key_W);
  QVERIFY(shown_length() < length);
  QCOMPARE(editing().entry_count(), 1);
}

void KeysTest::a_text_field_keeps_its_letters() {
  move_pointer_over_timeline();
  filter().setFocus();
  const double length = shown_length();
  QTest::keyClicks(&filter(), "wasd");
  QCOMPARE(filter().text(), QString("wasd"));
  QCOMPARE(shown_length(), length);
}

void KeysTest::a_field_without_changes_leaves_undo_to_the_window() {
  const std::string node = edit_name(document().graph(), test::exposed_wait(document()));
  editing().apply(
      {.title = "mine", .changes = {SetPolicy{.select = node, .policy = MemoryPolicy::must_save}}});
  const auto reach = [this](int place) {
    return QTest::qWaitFor([&] { return editing().place() == place && editing().is_settled(); },
                           kPatienceMs) &&
           settle();
  };
  QVERIFY(reach(1));
  const auto try_field = [&](QWidget& field) {
    const auto press = [&](Qt::Key key, Qt::KeyboardModifiers modifiers) {
      field.setFocus();
      QCOMPARE(QApplication::focusWidget(), &field);
      QTest::keyClick(&field, key, modifiers);
    };
    press(Qt::Key_Z, Qt::ControlModifier);
    QVERIFY(reach(0));
    press(Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier);
    QVERIFY(reach(1));
  };
  try_field(filter());
  // The field undoes what was typed in it.
  QTest::keyClick(&filter(), Qt::Key_3);
  QTest::keyClick(&filter(), Qt::Key_Z, Qt::ControlModifier);
  QVERIFY(settle());
  QCOMPARE(editing().place(), 1);
  QCOMPARE(filter().text(), QString());
  pane().show_targets();
  try_field(test::child<QSpinBox>(pane(), "at_most"));
}

void KeysTest::a_node_is_held_wherever_the_focus_is_data() {
  QTest::addColumn<QString>("pane");
  for (const QString& pane : desktop::MainWindow::pane_names())
    QTest::addRow("%s", qPrintable(pane)) << pane;
}

// In all widgets of the header and the pane, except for fields that take the letter.
void KeysTest::a_node_is_held_wherever_the_focus_is() {
  QFETCH(const QString, pane);
  const auto* shown = show_pane<QWidget>(qPrintable(pane));
  QVERIFY(shown != nullptr);
  MovePlanner& planner = editing().planner();
  QTRY_VERIFY_WITH_TIMEOUT(planner.is_ready(), kPatienceMs);
  const NodeId node = test::exposed_wait(document());
  for (QPointer<QWidget> widget : focusable(*window_->menuWidget()) + focusable(*shown)) {
    if (!widget || !widget->isVisible()) continue;
    widget->setFocus();
    document().selection().select(node);
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_V);
    const bool is_held = QTest::qWaitFor([&] { return planner.held() != nullptr; }, kHoldMs);
    QVERIFY2(is_held, qPrintable(QStringLiteral("%1 %2").arg(widget->metaObject()->className(),
                                                             widget->objectName())));
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_Escape);
    QVERIFY(planner.held() == nullptr);
  }
}

void KeysTest::the_best_position_is_found_wherever_the_focus_is_data() {
  QTest::addColumn<QString>("widget");
  QTest::addColumn<Qt::KeyboardModifiers>("modifiers");
  for (const char* widget : {"device", "at_most", "unit"}) {
    QTest::addRow("B in %s", widget) << QString(widget) << Qt::KeyboardModifiers();
    QTest::addRow("Shift+B in %s", widget)
        << QString(widget) << Qt::KeyboardModifiers(Qt::ShiftModifier);
  }
}

void KeysTest::the_best_position_is_found_wherever_the_focus_is() {
  QFETCH(const QString, widget);
  QFETCH(const Qt::KeyboardModifiers, modifiers);
  pane().show_targets();
  document().selection().select(test::exposed_wait(document()));
  auto* focused = window_->findChild<QWidget*>(widget);
  focused->setFocus();
  QCOMPARE(QApplication::focusWidget(), focused);
  // If there is no better position, the planner says why.
  QSignalSpy refused(&editing().planner(), &MovePlanner::refused);
  QTest::keyClick(focused, Qt::Key_B, modifiers);
  QTRY_VERIFY_WITH_TIMEOUT(editing().entry_count() == 1 || refused.count() == 1, kPatienceMs);
}

}  // namespace jointer

JOINTER_GUI_TEST(jointer::KeysTest, "keys")
#include "keys_test.moc"
