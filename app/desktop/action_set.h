#pragma once

#include <QAction>
#include <QList>
#include <QMenu>
#include <cstdint>
#include <map>
#include <vector>

#include "views/session/session.h"

namespace jointer::desktop {

// The condition under which an action is enabled.
enum class Needs : std::uint8_t {
  nothing,
  document,
  run,     // the current document's benchmark is running
  passes,  // the current document's pipeline is running
  edits,   // the current document has been edited
};

// The actions of the menus. An action is enabled while its condition holds for the current
// document.
class ActionSet {
 public:
  // `window` owns the actions that `add` creates, and must outlive this object.
  explicit ActionSet(QWidget& window) : window_(window) {}

  // Adds an action to a menu. The action calls `slot`, a member function of the receiver or another
  // callable, as long as the receiver exists.
  template <class Receiver, class Slot>
  QAction* add(QMenu* menu, const QString& text, const QList<QKeySequence>& keys, Needs needs,
               Receiver* receiver, Slot slot) {
    auto* action = new QAction(text, &window_);
    action->setShortcuts(keys);
    QObject::connect(action, &QAction::triggered, receiver, slot);
    menu->addAction(action);
    include(action, needs);
    return action;
  }
  // Includes an action that has another owner. Exclude the action before it is deleted.
  void include(QAction* action, Needs needs) {
    if (needs != Needs::nothing) actions_[needs].push_back(action);
  }
  void exclude(QAction* action) {
    for (auto& [needs, actions] : actions_) std::erase(actions, action);
  }

  // Enables or disables actions to suit the current session, which may be null.
  void refresh(const views::Session* session);

 private:
  QWidget& window_;
  std::map<Needs, std::vector<QAction*>> actions_;  // without those that need nothing
};

}  // namespace jointer::desktop
