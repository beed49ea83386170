// Tests which pane gets a letter: the focused one, or the timeline if the pointer is over it. Keys
// that edit work only in a pane that shows what they edit.

#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPointer>
#include <QSignalSpy>
#include <QSpinBox>
#include <QStatusBar>
#include <QTextBrowser>
#include <QToolButton>
#include <algorithm>

#include "tests/gui/gui_test.h"
#include "tests/gui/sac_window.h"
#include "tests/gui/timeline_hand.h"
#include "views/find/find_bar.h"
#include "views/palette/command_palette.h"
#include "views/palette/keys_help.h"
#include "views/session/edit/move_planner.h"

namespace jointer {

using namespace views;
using test::kPatienceMs;

namespace {

constexpr int kHoldMs = 2000;
const QString kOnlyInPanes = QStringLiteral(
    "%1 works only in the timeline, Graph or Exposed Collectives. Click one of them, or use the "
    "Edit menu.");

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
  void a_node_is_picked_up_where_nodes_are_shown_data();
  void a_node_is_picked_up_where_nodes_are_shown();
  void keys_that_edit_reach_the_window_from_any_field_data();
  void keys_that_edit_reach_the_window_from_any_field();
  void keys_edit_only_where_nodes_are_shown_data() { add_sizes(); }
  void keys_edit_only_where_nodes_are_shown();
  void an_edit_is_repeated_from_the_table_of_the_plan();
  void menus_and_commands_edit_wherever_the_focus_is();
  void keys_of_the_plan_say_where_they_work();
  void the_list_of_keys_says_where_they_work();

 private:
  // Gives the table of the SAC pane the focus and selects a recomputed tensor.
  void focus_table();
  [[nodiscard]] QString message() const { return window_->statusBar()->currentMessage(); }
  // Presses a key where the focus is. It must only show this message.
  void press_in_vain(Qt::Key key, Qt::KeyboardModifiers modifiers, const QString& message);
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

void KeysTest::press_in_vain(Qt::Key key, Qt::KeyboardModifiers modifiers, const QString& message) {
  window_->statusBar()->clearMessage();
  QSignalSpy refused(&editing().planner(), &MovePlanner::refused);
  QTest::keyClick(QApplication::focusWidget(), key, modifiers);
  QCOMPARE(this->message(), message);
  QVERIFY(editing().planner().held() == nullptr && !editing().planner().is_taking());
  QVERIFY(settle());
  QCOMPARE(refused.count(), 0);
  QCOMPARE(editing().entry_count(), 0);
}

void KeysTest::a_node_is_picked_up_where_nodes_are_shown_data() {
  QTest::addColumn<QString>("pane");
  QTest::newRow("header") << QString();
  for (const QString& pane : desktop::MainWindow::pane_names())
    QTest::addRow("%s", qPrintable(pane)) << pane;
}

// In all widgets of the header or the pane, except for fields that take the letter.
void KeysTest::a_node_is_picked_up_where_nodes_are_shown() {
  QFETCH(const QString, pane);
  const QWidget* shown =
      pane.isEmpty() ? window_->menuWidget() : show_pane<QWidget>(qPrintable(pane));
  QVERIFY(shown != nullptr);
  const bool shows_nodes = pane == "graph" || pane == "exposed";
  MovePlanner& planner = editing().planner();
  QTRY_VERIFY_WITH_TIMEOUT(planner.is_ready(), kPatienceMs);
  const NodeId node = test::exposed_wait(document());
  int count = 0;
  for (QPointer<QWidget> widget : focusable(*shown)) {
    if (!widget || !widget->isVisible()) continue;
    widget->setFocus();
    document().selection().select(node);
    if (!shows_nodes) {
      press_in_vain(Qt::Key_V, {}, kOnlyInPanes.arg("V"));
    } else {
      QTest::keyClick(QApplication::focusWidget(), Qt::Key_V);
      QVERIFY2(QTest::qWaitFor([&] { return planner.held() != nullptr; }, kHoldMs),
               qPrintable(QStringLiteral("%1 %2").arg(widget->metaObject()->className(),
                                                      widget->objectName())));
      QTest::keyClick(QApplication::focusWidget(), Qt::Key_Escape);
      QVERIFY(planner.held() == nullptr);
    }
    ++count;
  }
  QVERIFY(count > 0);
}

void KeysTest::keys_that_edit_reach_the_window_from_any_field_data() {
  QTest::addColumn<QString>("widget");
  QTest::addColumn<Qt::KeyboardModifiers>("modifiers");
  for (const char* widget : {"device", "at_most", "unit"}) {
    QTest::addRow("B in %s", widget) << QString(widget) << Qt::KeyboardModifiers();
    QTest::addRow("Shift+B in %s", widget)
        << QString(widget) << Qt::KeyboardModifiers(Qt::ShiftModifier);
  }
}

// The window, which says where the key works, gets it also if a list or a number field has the
// focus.
void KeysTest::keys_that_edit_reach_the_window_from_any_field() {
  QFETCH(const QString, widget);
  QFETCH(const Qt::KeyboardModifiers, modifiers);
  pane().show_targets();
  document().selection().select(test::exposed_wait(document()));
  auto* focused = window_->findChild<QWidget*>(widget);
  focused->setFocus();
  QCOMPARE(QApplication::focusWidget(), focused);
  press_in_vain(Qt::Key_B, modifiers, kOnlyInPanes.arg(modifiers ? "Shift+B" : "B"));
}

void KeysTest::keys_edit_only_where_nodes_are_shown() {
  resize();
  auto* operators = show_pane<QWidget>("operators");
  QVERIFY(operators != nullptr);
  timeline().setFocus();
  QTest::keyClick(&timeline(), Qt::Key_Slash);
  auto& find = test::child<FindBar>(*window_->current_tab());
  find.edit().setFocus();
  QTest::keyClicks(&find.edit(), "op:wait_tensor");
  QTest::mouseClick(&test::child<QToolButton>(find, "listing"), Qt::LeftButton);
  auto& hits = test::child<HitList>(find);
  QVERIFY(hits.isVisible());
  const NodeId node = test::exposed_wait(document());
  document().selection().select(node);
  const auto is_message_whole = [&] {
    const QStatusBar& bar = *window_->statusBar();
    int end = bar.width();
    for (const auto* label : bar.findChildren<QLabel*>())
      if (label->isVisible()) end = std::min(end, label->x());
    return bar.fontMetrics().horizontalAdvance(message()) < end;
  };
  const auto press_all_in_vain = [&] {
    press_in_vain(Qt::Key_B, {}, kOnlyInPanes.arg("B"));
    QTRY_VERIFY2(is_message_whole(), qPrintable(message()));
    press_in_vain(Qt::Key_B, Qt::ShiftModifier, kOnlyInPanes.arg("Shift+B"));
    press_in_vain(Qt::Key_Right, Qt::AltModifier, kOnlyInPanes.arg("Alt+Right"));
    press_in_vain(Qt::Key_L, {},
                  "L works only in the timeline, Graph, Exposed Collectives or SAC. Click one of "
                  "them, or use the Edit menu.");
  };
  // The matches are next to the timeline, in the same area.
  hits.setFocus();
  QVERIFY(hits.hasFocus());
  press_all_in_vain();
  operators->setFocus();
  QVERIFY(operators->isAncestorOf(QApplication::focusWidget()));
  press_all_in_vain();
  auto* history = show_pane<QWidget>("history");
  history->setFocus();
  QVERIFY(history->isAncestorOf(QApplication::focusWidget()));
  press_all_in_vain();

  const auto moves = [&](int entries) {
    document().selection().select(node);
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_Right, Qt::AltModifier);
    return QTest::qWaitFor([&] { return editing().entry_count() == entries; }, kPatienceMs) &&
           settle();
  };
  int entries = 0;
  timeline().setFocus();
  QVERIFY(moves(++entries));
  for (const char* name : {"graph", "exposed"}) {
    auto* pane = show_pane<QWidget>(name);
    pane->setFocus();
    QVERIFY(pane->isAncestorOf(QApplication::focusWidget()));
    QVERIFY2(moves(++entries), name);
  }
}

void KeysTest::an_edit_is_repeated_from_the_table_of_the_plan() {
  focus_table();
  QTest::keyClick(&table().view(), Qt::Key_S);
  QTRY_COMPARE_WITH_TIMEOUT(editing().entry_count(), 1, kPatienceMs);
  QVERIFY(settle());
  QSignalSpy refused(&editing(), &Editing::refused);
  QTest::keyClick(&table().view(), Qt::Key_L);
  // The layers may have no such tensor.
  QTRY_VERIFY_WITH_TIMEOUT(editing().entry_count() == 2 || refused.count() == 1, kPatienceMs);
}

void KeysTest::menus_and_commands_edit_wherever_the_focus_is() {
  document().selection().select(test::exposed_wait(document()));
  show_pane<QWidget>("operators")->setFocus();
  test::run_action(*window_, "Move One Position Later");
  QTRY_COMPARE_WITH_TIMEOUT(editing().entry_count(), 1, kPatienceMs);
  QVERIFY(settle());
  QTest::keyClick(window_.get(), Qt::Key_P, Qt::ControlModifier | Qt::ShiftModifier);
  auto& line = test::child<QLineEdit>(test::child<CommandPalette>(*window_));
  QTest::keyClicks(&line, "Move One Position Later");
  QTest::keyClick(&line, Qt::Key_Return);
  QTRY_COMPARE_WITH_TIMEOUT(editing().entry_count(), 2, kPatienceMs);
}

// S, which zooms the timeline, is not one of them there.
void KeysTest::keys_of_the_plan_say_where_they_work() {
  choose_row(largest(PlanAction::recompute));
  timeline().setFocus();
  for (const Qt::Key key : {Qt::Key_R, Qt::Key_O})
    press_in_vain(
        key, {},
        QStringLiteral(
            "%1 works only in the table of the SAC pane. Click it, or use Edit > Memory Policy.")
            .arg(QKeySequence(key).toString()));
  press_in_vain(Qt::Key_S, {}, QString());
}

void KeysTest::the_list_of_keys_says_where_they_work() {
  test::run_action(*window_, "Keyboard and Mouse");
  auto& help = test::child<KeysHelp>(*window_);
  const QString text = test::child<QTextBrowser>(help).toPlainText();
  QVERIFY(text.contains("Move to Best Position (in the timeline, Graph, Exposed Collectives)"));
  QVERIFY(text.contains(
      "Repeat Edit in All Identical Layers (in the timeline, Graph, Exposed Collectives, SAC)"));
  QVERIFY(!text.contains("Why Is This Here? (in"));
  help.close();
}

}  // namespace jointer

JOINTER_GUI_TEST(jointer::KeysTest, "keys")
#include "keys_test.moc"
