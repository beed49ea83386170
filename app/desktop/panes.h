#pragma once

#include <QString>
#include <QWidget>
#include <cstdint>
#include <functional>
#include <span>

#include "views/session/session.h"

namespace jointer::desktop {

// The columns of the default layout.
enum class PaneColumn : std::uint8_t { left, middle, right };
inline constexpr std::size_t kPaneColumns = 3;

// The functions of the window that panes use.
struct PaneHost {
  std::function<void(const QString& sentence)> say;
  std::function<void(const QString& sentence)> warn;  // reports a failure
  // Opens a graph made from the current document, with the options of that document.
  std::function<void(const OpenRequest& request, const AnalysisOptions& analysis)> open;
};

// A kind of pane. It has a dock, a menu entry, and a name for `--pane`.
struct PaneKind {
  const char* name;   // object name of the dock
  const char* title;  // translated in the context "MainWindow"
  PaneColumn column;
  int tab;  // position among the tabs of the column; the first one is shown
  QWidget* (*make)(views::Session& session, const PaneHost& host);
};

// All kinds, in menu order.
std::span<const PaneKind> pane_kinds();

}  // namespace jointer::desktop
