#include "app/desktop/pane_docks.h"

#include <QChildEvent>
#include <QCoreApplication>
#include <QTabBar>
#include <algorithm>
#include <array>
#include <map>

namespace jointer::desktop {
namespace {

using namespace views;

constexpr int kStateVersion = 9;
const QString kState = QStringLiteral("window/state");

}  // namespace

PaneDocks::PaneDocks(QMainWindow& window, QSettings& settings, const PaneHost& host)
    : window_(window), settings_(settings) {
  for (const PaneKind& kind : pane_kinds())
    docks_.push_back(new PaneDock(
        QCoreApplication::translate("MainWindow", kind.title), QString::fromLatin1(kind.name),
        [this, host, make = kind.make](Session& session) {
          QWidget* pane = make(session, host);
          emit made(pane);
          return pane;
        },
        &window_));
  window_.installEventFilter(this);
}

// The window creates a tab bar for each group of docks, and elides the titles on it. Other tab bars
// are not direct children of the window.
bool PaneDocks::eventFilter(QObject* watched, QEvent* event) {
  if (watched == &window_ && event->type() == QEvent::ChildPolished)
    if (auto* tabs = qobject_cast<QTabBar*>(static_cast<QChildEvent*>(event)->child())) {
      tabs->setElideMode(Qt::ElideNone);
      tabs->setUsesScrollButtons(true);
    }
  return QObject::eventFilter(watched, event);
}

QStringList PaneDocks::names() {
  QStringList names;
  for (const PaneKind& kind : pane_kinds()) names << QString::fromLatin1(kind.name);
  return names;
}

PaneDock* PaneDocks::dock(const QString& name) const {
  const auto found = std::ranges::find(docks_, name, &PaneDock::objectName);
  return found == docks_.end() ? nullptr : *found;
}

void PaneDocks::bring_up(const QString& name) {
  PaneDock* pane = dock(name);
  pane->show();
  pane->raise();
}

void PaneDocks::add_actions(QMenu& menu) const {
  for (PaneDock* dock : docks_) menu.addAction(dock->seen_action());
}

void PaneDocks::show_session(Session* session) {
  for (PaneDock* dock : docks_) dock->show_session(session);
}

void PaneDocks::set_shown(bool is_shown) {
  if (is_shown == is_shown_ && window_.isVisible()) return;
  is_shown_ = is_shown;
  if (is_shown) {
    if (!restore_layout()) place();
  } else {
    if (window_.isVisible()) settings_.setValue(kState, window_.saveState(kStateVersion));
    for (PaneDock* dock : docks_) dock->hide();
  }
  emit shown_changed(is_shown);
}

void PaneDocks::place() {
  std::array<std::map<int, PaneDock*>, kPaneColumns> columns;
  for (const PaneKind& kind : pane_kinds()) {
    PaneDock* pane = dock(QString::fromLatin1(kind.name));
    pane->setFloating(false);
    window_.addDockWidget(Qt::TopDockWidgetArea, pane);
    columns[static_cast<std::size_t>(kind.column)].emplace(kind.tab, pane);
  }
  QList<QDockWidget*> fronts;
  for (const auto& column : columns) fronts << column.begin()->second;
  for (int i = 1; i < fronts.size(); ++i)
    window_.splitDockWidget(fronts[i - 1], fronts[i], Qt::Horizontal);
  for (const auto& column : columns) {
    PaneDock* before = nullptr;
    for (const auto& [tab, pane] : column) {
      if (before != nullptr) window_.tabifyDockWidget(before, pane);
      before = pane;
    }
  }
  for (PaneDock* dock : docks_) dock->show();
  for (QDockWidget* front : fronts) front->raise();
  const int share = window_.width() / 20;
  window_.resizeDocks(fronts, {share * 5, share * 10, share * 5}, Qt::Horizontal);
  window_.resizeDocks({fronts[1]}, {window_.height() * 2 / 5}, Qt::Vertical);
}

bool PaneDocks::restore_layout() {
  return window_.restoreState(settings_.value(kState).toByteArray(), kStateVersion);
}

void PaneDocks::save_layout() const {
  if (is_shown_) settings_.setValue(kState, window_.saveState(kStateVersion));
}

}  // namespace jointer::desktop
