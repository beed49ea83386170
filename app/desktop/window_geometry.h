#pragma once

#include <QRect>
#include <QWidget>

namespace jointer::desktop {

// Returns `geometry`, moved into `available` and shrunk if it is larger than `available`.
QRect fitted(const QRect& geometry, const QRect& available);

// Restores the geometry that QWidget::saveGeometry returned or, if `saved` is empty or invalid,
// sets the initial size. The window, with its title bar, fits on the screen that it opens on.
void restore_geometry(QWidget& window, const QByteArray& saved);

}  // namespace jointer::desktop
