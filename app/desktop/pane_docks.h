#pragma once

#include <QMainWindow>
#include <QObject>
#include <QSettings>
#include <QStringList>
#include <vector>

#include "app/desktop/panes.h"
#include "views/window/pane_dock.h"

namespace jointer::desktop {

// The docks of a window, one for each kind of pane, and their layout.
class PaneDocks : public QObject {
  Q_OBJECT
 public:
  // The layout is stored in `settings`. Both must outlive this object.
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
  // Shows a dock in front of those behind the same tabs. Its pane is created in a later turn of the
  // event loop.
  void bring_up(const QString& name);
  void add_actions(QMenu& menu) const;

  void show_session(views::Session* session);
  // Without a document, panes would be empty frames, so they are hidden and restored
  // later.
  void set_shown(bool is_shown);
  // The default layout: columns of tabs side by side above the timeline, which takes the full
  // width. The graph pane has the middle and most of the space.
  void place();
  // Returns false if no layout was saved, or it was saved by an incompatible version.
  bool restore_layout();
  void save_layout() const;

 signals:
  // A pane was created; it is not yet shown.
  void made(QWidget* pane);
  void shown_changed(bool is_shown);

 private:
  QMainWindow& window_;
  QSettings& settings_;
  std::vector<views::PaneDock*> docks_;
  bool is_shown_ = false;
};

}  // namespace jointer::desktop
