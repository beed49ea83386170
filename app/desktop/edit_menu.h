#pragma once

#include <QObject>
#include <QSettings>
#include <functional>
#include <vector>

#include "app/desktop/edit_keys.h"
#include "app/desktop/menu_context.h"
#include "core/graph/node.h"
#include "views/session/edit/move_planner.h"
#include "views/session/edit/policy_edit.h"

namespace jointer::desktop {

// Commands that edit the graph, explain edits, find nodes, clear the selection and copy a report.
// The context menus of the timeline and of tables also show the commands for the selected nodes,
// and that of the graph pane shows the one that explains a position.
class EditMenu : public QObject {
  Q_OBJECT
 public:
  // `settings`, which stores past searches, must outlive this object.
  EditMenu(const MenuContext& context, QSettings& settings);

  // Enables or disables Undo and Redo and updates the texts of actions. Call this after the current
  // document or its edits have changed.
  void refresh();

 private:
  void add_edit_actions(QMenu* menu);
  QMenu* make_policy_menu();
  void follow(const views::DocumentTab* tab);
  void connect_pane(QWidget* pane);

  void with_planner(const std::function<void(views::MovePlanner&)>& action);
  void hold_selection();
  void repeat_in_layers();
  void ask_why();
  void set_policy(views::PolicyScope scope, MemoryPolicy policy);
  void change_collectives(bool merge);
  void choose_operator();
  void copy_report();
  void show_find_bar();
  void escape();

  MenuContext context_;
  EditKeys keys_;
  QSettings& settings_;
  QList<QAction*> node_actions_;  // actions on the selected nodes
  std::vector<QAction*> untag_;   // one per scope: removes the policy
  QAction* why_ = nullptr;        // one of `node_actions_`: explains a position
  QAction* undo_ = nullptr;
  QAction* redo_ = nullptr;
};

}  // namespace jointer::desktop
