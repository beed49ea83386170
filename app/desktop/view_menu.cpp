#include "app/desktop/view_menu.h"

#include <QActionGroup>
#include <QApplication>

#include "views/theme/theme_choice.h"
#include "views/timeline/timeline_view.h"

namespace jointer::desktop {

using namespace views;

ViewMenu::ViewMenu(const MenuContext& context, QSettings& settings)
    : context_(context), settings_(settings) {
  QMenu* menu = context_.bar.addMenu(tr("&View"));
  const auto on_timeline = context_.timeline_adder(menu);
  on_timeline(tr("Zoom to &Whole Step"), QKeySequence(Qt::Key_F),
              [](TimelineView& view) { view.range().fit(); });
  on_timeline(tr("Zoom to &Selection"), QKeySequence(Qt::Key_Z),
              [](TimelineView& view) { view.range().show_selection(); });
  on_timeline(tr("Switch Timeline &Axis"), QKeySequence(Qt::Key_G),
              [](TimelineView& view) { view.content().next_kind(); });
  add_timeline_choice(menu, tr("Lane &Legend"), QStringLiteral("lane_legend"), true,
                      &TimelineContent::set_show_lane_legend);
  add_timeline_choice(menu, tr("&Kernel Lanes"), QStringLiteral("kernel_lanes"), false,
                      &TimelineContent::set_show_kernels);
  menu->addSeparator();
  QMenu* panes = menu->addMenu(tr("&Panes"));
  context_.panes.add_actions(*panes);
  connect(&context_.panes, &PaneDocks::shown_changed, panes, &QMenu::setEnabled);
  context_.actions.add(menu, tr("&Reset Layout"), {}, Needs::document, &context_.panes,
                       &PaneDocks::place);
  fill_theme_menu(menu->addMenu(tr("&Theme")));
}

// The choice applies to the timelines of all documents. `name` is the action's object name; the
// setting's key is "timeline/NAME".
void ViewMenu::add_timeline_choice(QMenu* menu, const QString& text, const QString& name,
                                   bool is_default, void (TimelineContent::*set_shown)(bool)) {
  const QString key = QStringLiteral("timeline/") + name;
  QAction* action =
      context_.actions.add(menu, text, {}, Needs::nothing, this,
                           [this, key](bool is_shown) { settings_.setValue(key, is_shown); });
  action->setObjectName(name);
  action->setCheckable(true);
  action->setChecked(settings_.value(key, is_default).toBool());
  connect(&context_.documents, &Documents::loaded, action,
          [action, set_shown](const DocumentTab* tab) {
            TimelineContent& content = tab->timeline()->content();
            (content.*set_shown)(action->isChecked());
            connect(action, &QAction::toggled, &content, set_shown);
          });
}

void ViewMenu::fill_theme_menu(QMenu* menu) {
  auto* group = new QActionGroup(this);
  const QString chosen =
      settings_.value(QStringLiteral("theme"), to_string(ThemeChoice::system)).toString();
  const auto add = [&](const QString& text, ThemeChoice choice) {
    QAction* action = menu->addAction(text);
    action->setCheckable(true);
    action->setChecked(to_string(choice) == chosen);
    group->addAction(action);
    connect(action, &QAction::triggered, this, [this, choice] {
      settings_.setValue(QStringLiteral("theme"), to_string(choice));
      apply_theme(*qApp, choice);
    });
  };
  add(tr("&System"), ThemeChoice::system);
  add(tr("&Light"), ThemeChoice::light);
  add(tr("&Dark"), ThemeChoice::dark);
}

}  // namespace jointer::desktop
