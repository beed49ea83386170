#include "app/desktop/help_menu.h"

#include <QApplication>
#include <QMessageBox>

#include "views/exposed/exposed_pane.h"
#include "views/graph/graph_view.h"
#include "views/palette/keys_help.h"
#include "views/pipeline/step_list.h"
#include "views/sac/sac_table.h"
#include "views/timeline/timeline_view.h"

namespace jointer::desktop {

using namespace views;

HelpMenu::HelpMenu(const MenuContext& context, CommandSearch& search, FirstMinutes& first_minutes,
                   QToolButton& button)
    : context_(context) {
  QMenu* menu = context_.bar.addMenu(tr("&Help"));
  const auto add = context_.adder(menu, this);
  QAction* palette = add(tr("&Commands..."), {QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_P)},
                         Needs::nothing, [&search] { search.open({}); });
  add(tr("&Keyboard and Mouse"), {QKeySequence(Qt::Key_Question)}, Needs::nothing,
      &HelpMenu::show_keys);
  context_.actions.add(menu, tr("&First Questions"), {QKeySequence(Qt::SHIFT | Qt::Key_Escape)},
                       Needs::document, &first_minutes, &FirstMinutes::toggle);
  menu->addSeparator();
  add(tr("&About Jointer"), {}, Needs::nothing, &HelpMenu::show_about);

  button.setText(tr("Search or run a command   %1")
                     .arg(palette->shortcut().toString(QKeySequence::NativeText)));
  connect(&button, &QToolButton::clicked, palette, &QAction::trigger);
}

void HelpMenu::show_keys() {
  QList<KeysGroup> groups;
  for (const QAction* menu : context_.bar.actions())
    groups.append(keys_of(menu->text().remove(u'&'), menu->menu()->actions()));
  groups.append(GraphView::keys());
  groups.append(TimelineView::keys());
  groups.append(SacTable::keys());
  groups.append(ExposedPane::keys());
  groups.append(StepList::keys());
  auto* help = new KeysHelp(groups, &context_.window);
  help->setAttribute(Qt::WA_DeleteOnClose);
  help->show();
}

void HelpMenu::show_about() {
  QMessageBox::about(
      &context_.window, tr("About Jointer"),
      tr("<b>Jointer %1</b><p>A workbench for PyTorch training graphs that shows where memory "
         "peaks, which communication is exposed, and what you can do about both.</p><p>Times are "
         "estimates unless they are marked as measured.</p>")
          .arg(QApplication::applicationVersion()));
}

}  // namespace jointer::desktop
