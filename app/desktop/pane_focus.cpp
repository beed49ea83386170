#include "app/desktop/pane_focus.h"

#include <QApplication>
#include <QStatusBar>
#include <algorithm>

#include "views/timeline/timeline_view.h"

namespace jointer::desktop {
namespace {

using namespace views;

bool is_stop(const QWidget& widget) {
  return widget.isVisible() && widget.isEnabled() && widget.focusProxy() == nullptr &&
         (widget.focusPolicy() & Qt::TabFocus) == Qt::TabFocus;
}

// The next stop in `area` after `from` in Tab order, or the previous one if not `forward`; null if
// there is none. `from` itself comes last.
QWidget* next_stop(const QWidget& area, QWidget& from, bool forward) {
  QWidget* widget = &from;
  do {
    widget = forward ? widget->nextInFocusChain() : widget->previousInFocusChain();
    // A stack of pages only forwards the focus.
    if (area.isAncestorOf(widget) && is_stop(*widget) &&
        qobject_cast<QStackedWidget*>(widget) == nullptr)
      return widget;
  } while (widget != &from);
  return nullptr;
}

bool is_on_screen(const QWidget& widget) {
  return widget.isVisible() && !widget.visibleRegion().isEmpty();
}

// The widget of an area that gets the focus first: the timeline, the pane's focus proxy or, without
// either, the first stop. Null if there is none.
QWidget* entrance(QWidget& area) {
  QWidget* content = &area;
  if (const auto* dock = qobject_cast<PaneDock*>(&area))
    content = dock->pane();
  else if (const auto* tab = qobject_cast<DocumentTab*>(&area))
    content = tab->timeline();
  QWidget* proxy = content == nullptr ? nullptr : content->focusProxy();
  if (proxy == nullptr && qobject_cast<TimelineView*>(content) != nullptr) return content;
  return proxy != nullptr && is_stop(*proxy) ? proxy : next_stop(area, area, true);
}

}  // namespace

PaneFocus::PaneFocus(QMainWindow& window, Documents& documents, PaneDocks& panes)
    : window_(window), documents_(documents), panes_(panes) {
  connect(qApp, &QApplication::focusChanged, this,
          [this](QWidget* /*old*/, QWidget* now) { mark(now); });
  // Runs after the dock's own slot, which shows or closes the dock.
  for (PaneDock* dock : panes_.all())
    connect(dock->seen_action(), &QAction::triggered, this, [this, dock] {
      if (dock->seen_action()->isChecked()) go_to(*dock);
    });
}

PaneFocus::~PaneFocus() {
  delete mark_.data();
}

std::vector<QWidget*> PaneFocus::areas() const {
  std::vector<QWidget*> docks;
  for (PaneDock* dock : panes_.all())
    if (is_on_screen(*dock)) docks.push_back(dock);
  std::ranges::stable_sort(docks, {}, [](const QWidget* dock) {
    const QPoint at = dock->mapToGlobal(QPoint());
    return std::pair(at.x(), at.y());
  });
  std::vector<QWidget*> all{window_.menuWidget()};
  all.insert(all.end(), docks.begin(), docks.end());
  DocumentTab* tab = documents_.tab();
  all.push_back(tab != nullptr ? tab : window_.centralWidget());
  all.push_back(window_.statusBar());
  std::erase_if(all, [](QWidget* area) { return entrance(*area) == nullptr; });
  return all;
}

QWidget* PaneFocus::current() const {
  const QWidget* focus = QApplication::focusWidget();
  if (focus == nullptr) return nullptr;
  const std::vector<QWidget*> all = areas();
  const auto found = std::ranges::find_if(
      all, [focus](const QWidget* area) { return area == focus || area->isAncestorOf(focus); });
  return found == all.end() ? nullptr : *found;
}

void PaneFocus::step(int direction) {
  const std::vector<QWidget*> all = areas();
  if (all.empty()) return;
  const auto at = std::ranges::find(all, current());
  const auto count = static_cast<std::ptrdiff_t>(all.size());
  // If no area has the focus, the first or the last one is next.
  const std::ptrdiff_t from = at == all.end() ? (direction > 0 ? -1 : 0) : at - all.begin();
  QWidget* area = all[static_cast<std::size_t>((from + direction + count) % count)];
  entrance(*area)->setFocus(direction > 0 ? Qt::TabFocusReason : Qt::BacktabFocusReason);
}

bool PaneFocus::step_in_area(bool forward) {
  const QWidget* area = current();
  if (area == nullptr) return false;
  QWidget* next = next_stop(*area, *QApplication::focusWidget(), forward);
  if (next != nullptr) next->setFocus(forward ? Qt::TabFocusReason : Qt::BacktabFocusReason);
  return next != nullptr;
}

void PaneFocus::go_to(PaneDock& pane) {
  pane.show();
  pane.raise();
  QWidget* first = entrance(pane);
  // If the pane does not exist yet, its stack forwards the focus once the pane has been created.
  (first != nullptr ? first : pane.widget())->setFocus(Qt::ShortcutFocusReason);
}

void PaneFocus::go_to_timeline() {
  documents_.with_timeline([](TimelineView& view) { view.setFocus(Qt::ShortcutFocusReason); });
}

void PaneFocus::mark(QWidget* focus) {
  delete mark_.data();
  if (QWidget* area = current()) mark_ = new FocusMark(*area, *focus);
}

}  // namespace jointer::desktop
