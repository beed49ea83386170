#pragma once

#include <QRect>
#include <QWidget>

namespace jointer::desktop {

// `geometry` moved into `available`, and made smaller if it is larger than that.
QRect fitted(const QRect& geometry, const QRect& available);

// Restores the geometry that QWidget::saveGeometry returned, or, if `saved` is empty, gives the
// window its first size. The window, with its frame, fits on the screen that it opens on.
void restore_geometry(QWidget& window, const QByteArray& saved);

}  // namespace jointer::desktop
