#pragma once

#include <QMainWindow>
#include <QObject>
#include <QPointer>
#include <vector>

#include "app/desktop/documents.h"
#include "app/desktop/pane_docks.h"
#include "views/widgets/focus_mark.h"

namespace jointer::desktop {

// The keyboard focus and the areas of the window: the header, the panes on screen, the timeline (or
// the page in its place) and the status bar. Tab moves within an area; the area with the focus is
// marked.
class PaneFocus : public QObject {
  Q_OBJECT
 public:
  // The window's header and status bar must have been set. All arguments must outlive this object.
  PaneFocus(QMainWindow& window, Documents& documents, PaneDocks& panes);
  ~PaneFocus() override;

  // Moves the focus to the next area (`direction` 1) or to the previous one (-1). The order is:
  // header, panes from left to right, timeline, status bar; it wraps around.
  void step(int direction);
  // Moves the focus to the next widget of the area that has the focus, or to the previous one if
  // not `forward`; wraps around. Returns false if no area has the focus, or if the area has no
  // widget that accepts Tab.
  bool step_in_area(bool forward);
  // Brings a pane to the front and gives it the focus, once its content has been created.
  void go_to(views::PaneDock& pane);
  void go_to_timeline();
  // The area with the focus, or null.
  [[nodiscard]] QWidget* current() const;

 private:
  // The areas on screen with a widget that can get the focus, in the order of `step`.
  [[nodiscard]] std::vector<QWidget*> areas() const;
  void mark(QWidget* focus);

  QMainWindow& window_;
  Documents& documents_;
  PaneDocks& panes_;
  QPointer<views::FocusMark> mark_;
};

}  // namespace jointer::desktop
