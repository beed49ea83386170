#pragma once

#include <QEvent>
#include <QMainWindow>
#include <QObject>
#include <QSettings>
#include <QStringList>
#include <vector>

#include "app/desktop/panes.h"
#include "views/window/pane_dock.h"

namespace jointer::desktop {

// The docks of a window, one for each kind of pane, and their layout. Titles on tabs are never
// elided: if there is not enough space, the tabs scroll.
class PaneDocks : public QObject {
  Q_OBJECT
 public:
  // `settings` stores the layout. It and `window` must outlive this object.
  PaneDocks(QMainWindow& window, QSettings& settings, const PaneHost& host);

  // Object names of the docks: "modules", "sac", ...
  static QStringList names();
  // In menu order.
  [[nodiscard]] const std::vector<views::PaneDock*>& all() const { return docks_; }
  // Null if there is no such dock.
  [[nodiscard]] views::PaneDock* dock(const QString& name) const;
  // The current document's pane, or null if it has not been created.
  template <class Pane>
  [[nodiscard]] Pane* pane(const QString& name) const {
    return qobject_cast<Pane*>(dock(name)->pane());
  }
  // Shows a dock and raises it above the others in its tab group. If its pane does not exist yet,
  // it is created in a later turn of the event loop.
  void bring_up(const QString& name);
  void add_actions(QMenu& menu) const;

  void show_session(views::Session* session);
  // Hides or restores the docks. Without a document, their panes would be empty frames.
  void set_shown(bool is_shown);
  // Applies the default layout: tabbed columns side by side above the timeline, which spans the
  // full width. The middle column, with the graph pane, gets half of the width.
  void place();
  // Restores the saved layout. Returns false if none was saved, or if an incompatible version saved
  // it.
  bool restore_layout();
  // Saves the layout unless the docks are hidden.
  void save_layout() const;

 signals:
  // A pane was created, but is not shown yet.
  void made(QWidget* pane);
  void shown_changed(bool is_shown);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  QMainWindow& window_;
  QSettings& settings_;
  std::vector<views::PaneDock*> docks_;
  bool is_shown_ = false;
};

}  // namespace jointer::desktop
