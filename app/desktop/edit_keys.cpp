#include "app/desktop/edit_keys.h"

#include <QApplication>
#include <QShortcutEvent>

#include "views/timeline/timeline_view.h"

namespace jointer::desktop {

using namespace views;

EditKeys::EditKeys(const MenuContext& context) : context_(context) {
  context_.window.installEventFilter(this);
}

void EditKeys::limit(QAction& action, const QStringList& panes) {
  panes_[&action] = panes;
  action.setWhatsThis(tr("in the %1").arg(titles(panes, QStringLiteral(", "))));
  action.installEventFilter(this);
}

// An action gets a Shortcut event only for its keys; menus trigger it without an event.
bool EditKeys::eventFilter(QObject* watched, QEvent* event) {
  if (watched == &context_.window)
    return event->type() == QEvent::KeyPress &&
           refuse_plan_key(static_cast<const QKeyEvent&>(*event));
  const auto found = panes_.find(watched);
  if (event->type() != QEvent::Shortcut || found == panes_.end() || is_focus_in(found->second))
    return false;
  const QKeySequence key = static_cast<QShortcutEvent*>(event)->key();
  context_.status.say(
      tr("%1 works only in the %2. Click one of them, or use the Edit menu.")
          .arg(key.toString(QKeySequence::NativeText), titles(found->second, tr(" or "))));
  return true;
}

// The find bar and its list of matches are next to the timeline, but not parts of it.
bool EditKeys::is_focus_in(const QStringList& panes) const {
  QWidget* area = context_.focus.current();
  if (area == nullptr) return false;
  if (qobject_cast<PaneDock*>(area) != nullptr) return panes.contains(area->objectName());
  const DocumentTab* tab = context_.documents.tab();
  const TimelineView* timeline = tab == nullptr ? nullptr : tab->timeline();
  return area == tab && timeline != nullptr &&
         timeline->parentWidget()->isAncestorOf(QApplication::focusWidget());
}

QString EditKeys::titles(const QStringList& panes, const QString& last) const {
  QStringList titles{tr("timeline")};
  for (const QString& pane : panes) titles << context_.panes.dock(pane)->windowTitle();
  const QString end = titles.takeLast();
  return titles.isEmpty() ? end : titles.join(QStringLiteral(", ")) + last + end;
}

// Only keys that no widget has used reach the window.
bool EditKeys::refuse_plan_key(const QKeyEvent& event) {
  const bool is_plan_key =
      event.key() == Qt::Key_S || event.key() == Qt::Key_R || event.key() == Qt::Key_O;
  if (!is_plan_key || event.modifiers() != Qt::NoModifier ||
      context_.documents.document() == nullptr)
    return false;
  context_.status.say(
      tr("%1 works only in the table of the %2 pane. Click it, or use Edit > Memory Policy.")
          .arg(QKeySequence(event.key()).toString(QKeySequence::NativeText),
               context_.panes.dock(QStringLiteral("sac"))->windowTitle()));
  return true;
}

}  // namespace jointer::desktop
