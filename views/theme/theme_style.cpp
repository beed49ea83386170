#include "views/theme/theme_style.h"

#include <QPainter>
#include <QStyleOption>

#include "views/theme/theme.h"

namespace jointer::views {
namespace {

constexpr double kFieldRadius = 2;  // as in Fusion

// The outline is inside `rect`, as in Fusion.
void draw_outline(QPainter& painter, const QRect& rect, const QColor& color, double radius) {
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing, radius > 0);
  painter.setPen(color);
  painter.setBrush(Qt::NoBrush);
  painter.drawRoundedRect(QRectF(rect).adjusted(0.5, 0.5, -0.5, -0.5), radius, radius);
  painter.restore();
}

}  // namespace

ThemeStyle::ThemeStyle() : QProxyStyle(QStringLiteral("Fusion")) {}

void ThemeStyle::drawPrimitive(PrimitiveElement element, const QStyleOption* option,
                               QPainter* painter, const QWidget* widget) const {
  QProxyStyle::drawPrimitive(element, option, painter, widget);
  if (!Theme::of(option->palette).dark) return;
  // Fusion's outline of a widget with the focus has the accent color.
  const bool has_focus = option->state.testFlag(State_HasFocus);
  const QColor color = option->palette.color(QPalette::Dark);
  switch (element) {
    case PE_FrameLineEdit:
      if (!has_focus) draw_outline(*painter, option->rect, color, kFieldRadius);
      break;
    case PE_IndicatorCheckBox:
      if (!has_focus) draw_outline(*painter, option->rect, color, 0);
      break;
    case PE_PanelMenu:
    case PE_FrameMenu:
      draw_outline(*painter, option->rect, color, 0);
      break;
    case PE_Frame:
      draw_outline(*painter, option->rect, option->palette.color(QPalette::Mid), 0);
      break;
    default:
      break;
  }
}

void ThemeStyle::drawComplexControl(ComplexControl control, const QStyleOptionComplex* option,
                                    QPainter* painter, const QWidget* widget) const {
  QProxyStyle::drawComplexControl(control, option, painter, widget);
  if (!Theme::of(option->palette).dark || option->state.testFlag(State_HasFocus)) return;
  const QColor color = option->palette.color(QPalette::Dark);
  const auto* spin = qstyleoption_cast<const QStyleOptionSpinBox*>(option);
  const auto* combo = qstyleoption_cast<const QStyleOptionComboBox*>(option);
  // Fusion's spin boxes keep a pixel free above and below.
  if (control == CC_SpinBox && spin != nullptr && spin->frame)
    draw_outline(*painter, option->rect.adjusted(0, 1, 0, -1), color, kFieldRadius);
  if (control == CC_ComboBox && combo != nullptr && combo->frame && combo->editable)
    draw_outline(*painter, option->rect, color, kFieldRadius);
}

}  // namespace jointer::views
