#include "app/desktop/window_geometry.h"

#include <QScreen>
#include <algorithm>

namespace jointer::desktop {
namespace {

constexpr QSize kFirstSize(1600, 1000);
// The usual height of a title bar, in pixels. The actual one is unknown until the window is shown.
constexpr int kTitleBar = 32;

}  // namespace

QRect fitted(const QRect& geometry, const QRect& available) {
  const QSize size = geometry.size().boundedTo(available.size());
  return {
      QPoint(std::clamp(geometry.left(), available.left(), available.right() + 1 - size.width()),
             std::clamp(geometry.top(), available.top(), available.bottom() + 1 - size.height())),
      size};
}

void restore_geometry(QWidget& window, const QByteArray& saved) {
  const bool is_restored = window.restoreGeometry(saved);
  const QRect available = window.screen()->availableGeometry().adjusted(0, kTitleBar, 0, 0);
  // Without a saved geometry, the window manager chooses the position.
  if (!is_restored)
    window.resize(kFirstSize.boundedTo(available.size()));
  else if (!window.isMaximized() && !window.isFullScreen())
    window.setGeometry(fitted(window.geometry(), available));
}

}  // namespace jointer::desktop
