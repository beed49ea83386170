#include "views/pipeline/step_delegate.h"

#include <QMouseEvent>
#include <QPainter>
#include <algorithm>

#include "views/pipeline/step_model.h"
#include "views/theme/fonts.h"
#include "views/theme/spacing.h"
#include "views/theme/theme.h"

namespace jointer::views {
namespace {

constexpr int kBox = 20, kSign = 12, kGap = 6, kPadding = 5;

QColor status_color(StepStatus status, const Theme& theme) {
  switch (status) {
    case StepStatus::done:
    case StepStatus::running:
      return theme.accent;
    case StepStatus::wrong:
    case StepStatus::failed:
      return theme.error;
    case StepStatus::outdated:
      return theme.warning;
    default:
      return theme.muted_text;
  }
}

// The check box is painted here, since the style's outline is barely visible on a dark background.
void paint_box(QPainter& painter, const QRectF& square, bool is_ticked, const Theme& theme) {
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(theme.muted_text, 1));
  painter.setBrush(theme.raised);
  painter.drawRoundedRect(square, 2, 2);
  if (is_ticked) {
    painter.setPen(QPen(theme.text, 2, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    painter.setBrush(Qt::NoBrush);
    const auto at = [&](double x, double y) {
      return QPointF(square.left() + x * square.width(), square.top() + y * square.height());
    };
    painter.drawPolyline(QPolygonF({at(0.22, 0.52), at(0.42, 0.75), at(0.78, 0.25)}));
  }
  painter.restore();
}

}  // namespace

void paint_status(QPainter& painter, const QRectF& square, StepStatus status, double progress,
                  const QColor& color) {
  const QRectF r = square.adjusted(1, 1, -1, -1);
  const auto at = [&](double x, double y) {
    return QPointF(r.left() + x * r.width(), r.top() + y * r.height());
  };
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(color, 1.6, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
  painter.setBrush(Qt::NoBrush);
  switch (status) {
    case StepStatus::done:  // a check mark
      painter.drawPolyline(QPolygonF({at(0.05, 0.55), at(0.38, 0.9), at(0.95, 0.12)}));
      break;
    case StepStatus::failed:  // a cross
      painter.drawLine(at(0.1, 0.1), at(0.9, 0.9));
      painter.drawLine(at(0.9, 0.1), at(0.1, 0.9));
      break;
    case StepStatus::wrong:  // a triangle with an exclamation mark
      painter.drawPolygon(QPolygonF({at(0.5, 0.0), at(1.0, 0.95), at(0.0, 0.95)}));
      painter.drawLine(at(0.5, 0.38), at(0.5, 0.6));
      painter.drawPoint(at(0.5, 0.78));
      break;
    case StepStatus::running:  // a pie chart
      painter.drawEllipse(r);
      painter.setBrush(color);
      painter.drawPie(r, 90 * 16, static_cast<int>(-std::max(progress, 0.04) * 360 * 16));
      break;
    case StepStatus::waiting:  // three dots
      painter.setPen(Qt::NoPen);
      painter.setBrush(color);
      for (const double x : {0.15, 0.5, 0.85}) painter.drawEllipse(at(x, 0.5), 1.4, 1.4);
      break;
    case StepStatus::outdated:  // half a disk
      painter.drawEllipse(r);
      painter.setBrush(color);
      painter.drawPie(r, 90 * 16, 180 * 16);
      break;
    case StepStatus::undone:  // a back arrow
      painter.drawPolyline(QPolygonF({at(0.35, 0.15), at(0.05, 0.45), at(0.35, 0.75)}));
      painter.drawLine(at(0.05, 0.45), at(0.95, 0.45));
      break;
    case StepStatus::disabled:  // a bar
      painter.drawLine(at(0.15, 0.5), at(0.85, 0.5));
      break;
    case StepStatus::idle:  // a circle
      painter.drawEllipse(r.adjusted(1, 1, -1, -1));
      break;
  }
  painter.restore();
}

QRect StepDelegate::box_rect(const QRect& row) {
  return {row.left() + kMargin - 2, row.top() + kPadding - 2, kBox, kBox};
}

QSize StepDelegate::sizeHint(const QStyleOptionViewItem& option,
                             const QModelIndex& /*index*/) const {
  const int lines = option.fontMetrics.height() + QFontMetrics(small_font(option.font)).height();
  return {120, lines + 2 * kPadding + 2};
}

void StepDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option,
                         const QModelIndex& index) const {
  const Theme& theme = Theme::of(option.palette);
  const auto status = static_cast<StepStatus>(index.data(StepModel::status_role).toInt());
  const bool is_selected = (option.state & QStyle::State_Selected) != 0;
  const bool is_off = status == StepStatus::disabled;
  const QColor text = is_selected ? theme.accent_text : is_off ? theme.muted_text : theme.text;
  const QColor muted = is_selected ? theme.accent_text : theme.muted_text;
  painter->save();
  if (is_selected) painter->fillRect(option.rect, theme.accent);

  paint_box(*painter, QRectF(box_rect(option.rect)).adjusted(3.5, 3.5, -3.5, -3.5),
            index.data(Qt::CheckStateRole).toInt() == Qt::Checked, theme);

  const QFont bold = bold_font(option.font);
  const QFont small = small_font(option.font);
  const int left = option.rect.left() + kMargin + kBox + kGap - 2;
  QRect line(left, option.rect.top() + kPadding, option.rect.right() - kMargin - left,
             option.fontMetrics.height());

  // The status sign is on the right; the name of the pass and its parameters get the remaining
  // space.
  const QColor standing = is_selected ? theme.accent_text : status_color(status, theme);
  const int sign_left = line.right() - kSign;
  paint_status(*painter, QRectF(sign_left, line.center().y() - kSign / 2.0, kSign, kSign), status,
               index.data(StepModel::progress_role).toDouble(), standing);

  const int room = sign_left - kGap - left;
  painter->setFont(bold);
  painter->setPen(text);
  const QFontMetrics bold_metrics(bold);
  const QString name =
      bold_metrics.elidedText(index.data(Qt::DisplayRole).toString(), Qt::ElideMiddle, room);
  painter->drawText(QRect(left, line.top(), room, line.height()), Qt::AlignLeft | Qt::AlignVCenter,
                    name);
  const int name_width = bold_metrics.horizontalAdvance(name) + kGap + 2;
  if (room - name_width > 3 * kGap) {
    painter->setFont(option.font);
    painter->setPen(muted);
    painter->drawText(
        QRect(left + name_width, line.top(), room - name_width, line.height()),
        Qt::AlignLeft | Qt::AlignVCenter,
        option.fontMetrics.elidedText(index.data(StepModel::arguments_role).toString(),
                                      Qt::ElideRight, room - name_width));
  }

  // The status as text, if there is space next to the details.
  const QFontMetrics small_metrics(small);
  const QRect second(left, line.bottom() + 3, line.width(), small_metrics.height());
  const QString detail = index.data(StepModel::detail_role).toString();
  const QString said = index.data(StepModel::status_text_role).toString();
  painter->setFont(small);
  painter->setPen(index.data(StepModel::alarm_role).toBool() && !is_selected ? theme.error : muted);
  painter->drawText(second, Qt::AlignLeft | Qt::AlignVCenter,
                    small_metrics.elidedText(detail, Qt::ElideRight, second.width()));
  if (small_metrics.horizontalAdvance(detail) + 2 * kGap + small_metrics.horizontalAdvance(said) <=
      second.width()) {
    painter->setPen(standing);
    painter->drawText(second, Qt::AlignRight | Qt::AlignVCenter, said);
  }
  if (!is_selected) {
    painter->setPen(theme.grid);
    painter->drawLine(option.rect.bottomLeft(), option.rect.bottomRight());
  }
  painter->restore();
}

bool StepDelegate::editorEvent(QEvent* event, QAbstractItemModel* model,
                               const QStyleOptionViewItem& option, const QModelIndex& index) {
  if (event->type() != QEvent::MouseButtonRelease) return false;
  const auto* mouse = static_cast<QMouseEvent*>(event);
  if (mouse->button() != Qt::LeftButton || !box_rect(option.rect).contains(mouse->pos()))
    return false;
  const bool is_on = index.data(Qt::CheckStateRole).toInt() == Qt::Checked;
  return model->setData(index, is_on ? Qt::Unchecked : Qt::Checked, Qt::CheckStateRole);
}

}  // namespace jointer::views
