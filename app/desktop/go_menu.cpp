#include "app/desktop/go_menu.h"

#include <array>

#include "views/timeline/timeline_view.h"

namespace jointer::desktop {

using namespace views;

namespace {

// The keys that, together with Alt, go to the panes, in menu order.
constexpr std::array kPaneKeys{Qt::Key_1,     Qt::Key_2,     Qt::Key_3, Qt::Key_4, Qt::Key_5,
                               Qt::Key_6,     Qt::Key_7,     Qt::Key_8, Qt::Key_9, Qt::Key_0,
                               Qt::Key_Minus, Qt::Key_Equal, Qt::Key_Q, Qt::Key_K};

}  // namespace

GoMenu::GoMenu(const MenuContext& context, CommandSearch& search) : context_(context) {
  QMenu* menu = context_.bar.addMenu(tr("G&o"));
  const auto add = context_.adder(menu, this);
  const auto on_timeline = context_.timeline_adder(menu);
  add(tr("Go to &Node or Module..."), {QKeySequence(Qt::CTRL | Qt::Key_P)}, Needs::document,
      [&search] { search.open(QStringLiteral("@")); });
  on_timeline(tr("Go to &Peak"), QKeySequence(Qt::Key_P),
              [](TimelineView& view) { view.show_peak(); });
  on_timeline(tr("Next Node in &Data Flow"), QKeySequence(Qt::Key_BracketRight),
              [](TimelineView& view) { view.follow_flow(true); });
  on_timeline(tr("Previous Node in Data &Flow"), QKeySequence(Qt::Key_BracketLeft),
              [](TimelineView& view) { view.follow_flow(false); });
  on_timeline(tr("Next &Exposed Collective"), QKeySequence(Qt::Key_E),
              [](TimelineView& view) { view.step_exposed(1); });
  on_timeline(tr("Previous E&xposed Collective"), QKeySequence(Qt::SHIFT | Qt::Key_E),
              [](TimelineView& view) { view.step_exposed(-1); });
  on_timeline(tr("Mark or Un&mark Selected Moment"), QKeySequence(Qt::Key_M),
              [](TimelineView& view) { view.toggle_mark(); });
  on_timeline(tr("Select &Range Between Marks"), QKeySequence(Qt::SHIFT | Qt::Key_M),
              [this](TimelineView& view) {
                if (const QString why_not = view.select_between_marks(); !why_not.isEmpty())
                  context_.status.say(why_not);
              });
  menu->addSeparator();
  add_panes(menu);
  menu->addSeparator();
  add(tr("Next Do&cument"), {QKeySequence(Qt::CTRL | Qt::Key_PageDown)}, Needs::nothing,
      [this] { context_.documents.step(1); });
  add(tr("Pre&vious Document"), {QKeySequence(Qt::CTRL | Qt::Key_PageUp)}, Needs::nothing,
      [this] { context_.documents.step(-1); });
}

void GoMenu::add_panes(QMenu* menu) {
  PaneFocus* focus = &context_.focus;
  std::size_t number = 0;
  for (PaneDock* dock : context_.panes.all()) {
    QList<QKeySequence> keys;
    if (number < kPaneKeys.size()) keys << QKeySequence(Qt::ALT | kPaneKeys[number++]);
    context_.actions.add(menu, tr("Go to %1").arg(dock->windowTitle()), keys, Needs::document,
                         focus, [focus, dock] { focus->go_to(*dock); });
  }
  context_.actions.add(menu, tr("Go to &Timeline"), {QKeySequence(Qt::ALT | Qt::Key_T)},
                       Needs::document, focus, &PaneFocus::go_to_timeline);
  context_.actions.add(menu, tr("Next &Area"), {QKeySequence(Qt::Key_F6)}, Needs::nothing, focus,
                       [focus] { focus->step(1); });
  context_.actions.add(menu, tr("Previous Area"), {QKeySequence(Qt::SHIFT | Qt::Key_F6)},
                       Needs::nothing, focus, [focus] { focus->step(-1); });
}

}  // namespace jointer::desktop
