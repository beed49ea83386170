#pragma once

#include <QAbstractScrollArea>
#include <QPainter>
#include <QPixmap>

namespace jointer::views {

// Caches the last frame of a view until `forget` is called, so that anything that follows the
// pointer can be painted over it.
class CachedFrame {
 public:
  void forget() { is_current_ = false; }

  // The frame of the view's viewport in device pixels. Calls `paint(QPainter&)` if the cached frame
  // is outdated or has a different size.
  template <class Paint>
  const QPixmap& of(const QAbstractScrollArea& view, Paint paint) {
    const qreal ratio = view.devicePixelRatioF();
    const QSize size = view.viewport()->size() * ratio;
    if (is_current_ && frame_.size() == size) return frame_;
    if (frame_.size() != size) frame_ = QPixmap(size);
    frame_.setDevicePixelRatio(ratio);
    QPainter painter(&frame_);
    painter.setFont(view.font());
    paint(painter);
    is_current_ = true;
    return frame_;
  }

 private:
  QPixmap frame_;
  bool is_current_ = false;
};

}  // namespace jointer::views
