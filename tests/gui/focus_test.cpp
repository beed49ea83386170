// Tests that the window can be used by keys alone, and that it shows where the focus is.

#include <QAccessible>
#include <QListView>
#include <QMenuBar>
#include <QShortcut>
#include <QStatusBar>
#include <QTabBar>
#include <algorithm>
#include <set>

#include "tests/gui/app_window.h"
#include "tests/gui/gui_test.h"
#include "views/graph/graph_view.h"
#include "views/palette/command_palette.h"
#include "views/widgets/focus_mark.h"
#include "views/widgets/pareto_plot.h"

namespace jointer {

using namespace views;

class FocusTest : public test::AppWindow {
  Q_OBJECT

 private slots:
  void initTestCase() { QVERIFY(open_sample()); }
  void init() { timeline().setFocus(); }
  void cleanupTestCase() { close_window(); }

  void no_two_commands_have_the_same_key();
  void no_two_menus_have_the_same_key();
  void a_key_goes_to_each_pane();
  void a_pane_that_a_command_shows_gets_the_focus();
  void a_key_returns_to_the_timeline();
  void f6_visits_all_areas_on_screen();
  void tab_stays_in_the_pane_and_visits_all_its_stops_data();
  void tab_stays_in_the_pane_and_visits_all_its_stops();
  void the_area_with_the_focus_is_marked();
  void a_screen_reader_gets_the_names_of_panes();
  void a_screen_reader_gets_the_names_of_tab_stops_data() {
    tab_stays_in_the_pane_and_visits_all_its_stops_data();
  }
  void a_screen_reader_gets_the_names_of_tab_stops();

 private:
  // The pane, or another area of the window, that has the focus; null if it is in none.
  [[nodiscard]] const QWidget* marked() const {
    const auto* mark = window_->findChild<FocusMark*>(QStringLiteral("focus_mark"));
    return mark == nullptr ? nullptr : mark->area();
  }
  [[nodiscard]] bool is_focus_in(const QWidget& area) const {
    const QWidget* focus = QApplication::focusWidget();
    return focus != nullptr && (focus == &area || area.isAncestorOf(focus));
  }
  void press(Qt::Key key, Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
    QTest::keyClick(window_.get(), key, modifiers);
    QCoreApplication::processEvents();
  }
  // The widgets that Tab visits in the pane, until it is back at the first.
  std::vector<QWidget*> tab_stops();
  static QString name_of(QObject& object) {
    QAccessibleInterface* interface = QAccessible::queryAccessibleInterface(&object);
    return interface == nullptr ? QString() : interface->text(QAccessible::Name);
  }
};

void FocusTest::no_two_commands_have_the_same_key() {
  std::map<QKeySequence, QString> owners;
  QStringList twice;
  const auto take = [&](const QKeySequence& key, const QString& owner) {
    if (key.isEmpty()) return;
    const auto [at, is_new] = owners.emplace(key, owner);
    if (!is_new) twice << QStringLiteral("%1: %2, %3").arg(key.toString(), at->second, owner);
  };
  for (const QAction* action :
       window_->findChildren<QAction*>(QString(), Qt::FindDirectChildrenOnly))
    if (action->isEnabled())
      for (const QKeySequence& key : action->shortcuts()) take(key, action->text());
  for (const QShortcut* shortcut : window_->findChildren<QShortcut*>())
    if (shortcut->isEnabled() && shortcut->context() != Qt::WidgetShortcut)
      take(shortcut->key(), shortcut->objectName());
  QVERIFY(owners.size() > 30);
  QVERIFY2(twice.isEmpty(), qPrintable(twice.join(u'\n')));
}

void FocusTest::no_two_menus_have_the_same_key() {
  std::set<QString> letters;
  for (const QAction* menu : window_->menuWidget()->findChild<QMenuBar*>()->actions()) {
    const QKeySequence key = QKeySequence::mnemonic(menu->text());
    QVERIFY(!key.isEmpty());
    QVERIFY2(letters.insert(key.toString()).second, qPrintable(menu->text()));
  }
}

void FocusTest::a_key_goes_to_each_pane() {
  constexpr std::array kKeys{Qt::Key_1,     Qt::Key_2,     Qt::Key_3, Qt::Key_4, Qt::Key_5,
                             Qt::Key_6,     Qt::Key_7,     Qt::Key_8, Qt::Key_9, Qt::Key_0,
                             Qt::Key_Minus, Qt::Key_Equal, Qt::Key_Q, Qt::Key_K};
  const QStringList names = desktop::MainWindow::pane_names();
  QCOMPARE(static_cast<std::size_t>(names.size()), kKeys.size());
  for (std::size_t i = 0; i < kKeys.size(); ++i) {
    PaneDock* dock = window_->dock(names[static_cast<int>(i)]);
    press(kKeys[i], Qt::AltModifier);
    QTRY_VERIFY_WITH_TIMEOUT(dock->pane() != nullptr, test::kPatienceMs);
    QTRY_VERIFY2_WITH_TIMEOUT(is_focus_in(*dock->pane()), qPrintable(dock->objectName()),
                              test::kPatienceMs);
  }
}

// View > Panes, also in the list of commands.
void FocusTest::a_pane_that_a_command_shows_gets_the_focus() {
  PaneDock* dock = window_->dock("operators");
  dock->hide();
  timeline().setFocus();
  dock->seen_action()->trigger();
  QTRY_VERIFY_WITH_TIMEOUT(dock->pane() != nullptr, test::kPatienceMs);
  QTRY_VERIFY_WITH_TIMEOUT(is_focus_in(*dock->pane()), test::kPatienceMs);
  dock->seen_action()->trigger();
  QVERIFY(!dock->isVisible());
  dock->show();
}

void FocusTest::a_key_returns_to_the_timeline() {
  show_pane<QWidget>("history")->setFocus();
  press(Qt::Key_T, Qt::AltModifier);
  QVERIFY(timeline().hasFocus());
}

void FocusTest::f6_visits_all_areas_on_screen() {
  show_pane<QWidget>("modules");
  show_pane<QWidget>("graph");
  show_pane<QWidget>("inspector");
  timeline().setFocus();
  std::vector<const QWidget*> visited;
  for (int i = 0; i < 12; ++i) {
    press(Qt::Key_F6);
    visited.push_back(marked());
    if (timeline().hasFocus()) break;
  }
  const std::vector<const QWidget*> expected{window_->statusBar(),       window_->menuWidget(),
                                             window_->dock("modules"),   window_->dock("graph"),
                                             window_->dock("inspector"), window_->current_tab()};
  QCOMPARE(visited, expected);
  for (auto area = expected.rbegin() + 1; area != expected.rend(); ++area) {
    press(Qt::Key_F6, Qt::ShiftModifier);
    QCOMPARE(marked(), *area);
  }
}

std::vector<QWidget*> FocusTest::tab_stops() {
  std::vector<QWidget*> stops;
  constexpr std::size_t kMaxStops = 100;
  do {
    press(Qt::Key_Tab);
    stops.push_back(QApplication::focusWidget());
  } while (stops.size() < kMaxStops && (stops.size() == 1 || stops.back() != stops.front()));
  return stops;
}

void FocusTest::tab_stays_in_the_pane_and_visits_all_its_stops_data() {
  QTest::addColumn<QString>("pane");
  QTest::newRow("timeline") << QString();
  for (const QString& name : desktop::MainWindow::pane_names())
    QTest::newRow(qPrintable(name)) << name;
}

void FocusTest::tab_stays_in_the_pane_and_visits_all_its_stops() {
  QFETCH(QString, pane);
  QWidget* area = window_->current_tab();
  if (!pane.isEmpty()) {
    area = show_pane<QWidget>(qPrintable(pane));
    QVERIFY(area != nullptr);
    area->setFocus();
  }
  QTRY_VERIFY(is_focus_in(*area));
  const std::vector<QWidget*> forward = tab_stops();
  for (const QWidget* stop : forward) QVERIFY(area->isAncestorOf(stop));
  QCOMPARE(forward.back(), forward.front());
  // Backwards in the opposite order.
  for (std::size_t i = forward.size() - 1; i-- > 0;) {
    press(Qt::Key_Backtab, Qt::ShiftModifier);
    QCOMPARE(QApplication::focusWidget(), forward[i]);
  }
}

void FocusTest::the_area_with_the_focus_is_marked() {
  QCOMPARE(marked(), window_->current_tab());
  auto* graph = show_pane<QWidget>("graph");
  graph->setFocus();
  QCOMPARE(marked(), window_->dock("graph"));
  // The mark is seen: the frame around the pane has the accent color.
  const QImage picture = window_->dock("graph")->grab().toImage();
  QCOMPARE(picture.pixelColor(0, picture.height() / 2),
           window_->palette().color(QPalette::Highlight));
  QCOMPARE(window_->findChildren<FocusMark*>().size(), 1);
}

void FocusTest::a_screen_reader_gets_the_names_of_panes() {
  QCOMPARE(name_of(timeline()), QStringLiteral("Timeline"));
  for (const QString& name : desktop::MainWindow::pane_names()) {
    auto* pane = show_pane<QWidget>(qPrintable(name));
    QVERIFY(pane != nullptr);
    QVERIFY2(!name_of(*pane).isEmpty(), qPrintable(name));
    QVERIFY2(!name_of(*window_->dock(name)).isEmpty(), qPrintable(name));
  }
  QCOMPARE(name_of(*window_->findChild<GraphView*>()), QStringLiteral("Graph"));
  QVERIFY(!name_of(*window_->findChild<ParetoPlot*>()).isEmpty());
  const auto* documents = window_->findChild<QTabBar*>("documents");
  QCOMPARE(name_of(*documents->tabButton(0, QTabBar::RightSide)), QStringLiteral("Close"));
  press(Qt::Key_P, Qt::ControlModifier | Qt::ShiftModifier);
  auto* palette = window_->findChild<CommandPalette*>();
  QVERIFY(palette != nullptr);
  QVERIFY(!name_of(*palette->findChild<QListView*>()).isEmpty());
  palette->hide();
}

void FocusTest::a_screen_reader_gets_the_names_of_tab_stops() {
  QFETCH(QString, pane);
  QWidget* area = &timeline();
  if (!pane.isEmpty()) area = show_pane<QWidget>(qPrintable(pane));
  area->setFocus();
  QStringList nameless;
  // Symbols, such as `+`, are not names.
  const auto has_letter = [](const QString& name) {
    return std::ranges::any_of(name, [](QChar c) { return c.isLetter(); });
  };
  for (QWidget* stop : tab_stops())
    if (!has_letter(name_of(*stop)))
      nameless << QStringLiteral("%1 %2").arg(stop->metaObject()->className(), stop->objectName());
  QVERIFY2(nameless.isEmpty(), qPrintable(nameless.join(u'\n')));
}

}  // namespace jointer

JOINTER_GUI_TEST(jointer::FocusTest, "focus")
#include "focus_test.moc"
