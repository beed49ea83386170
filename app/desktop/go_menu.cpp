#include "app/desktop/go_menu.h"

#include "views/timeline/timeline_view.h"

namespace jointer::desktop {

using namespace views;

GoMenu::GoMenu(const MenuContext& context, CommandSearch& search) : context_(context) {
  QMenu* menu = context_.bar.addMenu(tr("&Go"));
  context_.actions.add(menu, tr("Go to &Node or Module..."), {QKeySequence(Qt::CTRL | Qt::Key_P)},
                       Needs::document, this, [&search] { search.open(QStringLiteral("@")); });
  context_.actions.add(
      menu, tr("Go to &Peak"), {QKeySequence(Qt::Key_P)}, Needs::document, this,
      [this] { context_.documents.with_timeline([](TimelineView& view) { view.show_peak(); }); });
  context_.actions.add(
      menu, tr("Next in &Data Flow"), {QKeySequence(Qt::Key_BracketRight)}, Needs::document, this,
      [this] {
        context_.documents.with_timeline([](TimelineView& view) { view.follow_flow(true); });
      });
  context_.actions.add(
      menu, tr("Previous in Data &Flow"), {QKeySequence(Qt::Key_BracketLeft)}, Needs::document,
      this, [this] {
        context_.documents.with_timeline([](TimelineView& view) { view.follow_flow(false); });
      });
  context_.actions.add(
      menu, tr("Next &Exposed Collective"), {QKeySequence(Qt::Key_E)}, Needs::document, this,
      [this] {
        context_.documents.with_timeline([](TimelineView& view) { view.step_exposed(1); });
      });
  context_.actions.add(
      menu, tr("Previous E&xposed Collective"), {QKeySequence(Qt::SHIFT | Qt::Key_E)},
      Needs::document, this, [this] {
        context_.documents.with_timeline([](TimelineView& view) { view.step_exposed(-1); });
      });
  context_.actions.add(
      menu, tr("&Mark This Moment"), {QKeySequence(Qt::Key_M)}, Needs::document, this,
      [this] { context_.documents.with_timeline([](TimelineView& view) { view.toggle_mark(); }); });
  menu->addSeparator();
  int number = 0;
  for (PaneDock* dock : context_.panes.all())
    context_.actions.add(menu, tr("Go to %1").arg(dock->windowTitle()),
                         {QKeySequence(QStringLiteral("Alt+%1").arg(++number % 10))},
                         Needs::document, this, [dock] {
                           dock->show();
                           dock->raise();
                           dock->widget()->setFocus();
                         });
  menu->addSeparator();
  context_.actions.add(menu, tr("&Next Document"), {QKeySequence(Qt::CTRL | Qt::Key_PageDown)},
                       Needs::nothing, this, [this] { context_.documents.step(1); });
  context_.actions.add(menu, tr("P&revious Document"), {QKeySequence(Qt::CTRL | Qt::Key_PageUp)},
                       Needs::nothing, this, [this] { context_.documents.step(-1); });
}

}  // namespace jointer::desktop
