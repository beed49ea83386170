#pragma once

#include <QAction>
#include <QKeyEvent>
#include <QObject>
#include <QStringList>
#include <map>

#include "app/desktop/menu_context.h"

namespace jointer::desktop {

// The rule for keys that edit: a key edits only while an area that shows what it edits has the
// focus, which is marked (PaneFocus). Elsewhere it edits nothing, and the status line says where it
// works. Menus and the list of commands run the same actions wherever the focus is. Keys that a
// pane handles itself, such as S, R and O in the SAC pane, follow the rule by themselves; this
// class only says where they work.
class EditKeys : public QObject {
  Q_OBJECT
 public:
  explicit EditKeys(const MenuContext& context);

  // Limits the keys of an action to the timeline and to these panes. The dialog with all keys shows
  // where they work.
  void limit(QAction& action, const QStringList& panes);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  [[nodiscard]] bool is_focus_in(const QStringList& panes) const;
  // The timeline and the titles of the panes, joined by commas and, before the last, by `last`.
  [[nodiscard]] QString titles(const QStringList& panes, const QString& last) const;
  // Says where a key of the plan works; returns false for other keys.
  bool refuse_plan_key(const QKeyEvent& event);

  MenuContext context_;
  std::map<const QObject*, QStringList> panes_;  // by action
};

}  // namespace jointer::desktop
