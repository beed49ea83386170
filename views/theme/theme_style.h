#pragma once

#include <QProxyStyle>

namespace jointer::views {

// Qt's Fusion style, except that the outlines of fields, check boxes, menus and frames are also
// visible in the dark theme. Fusion draws them in a darker shade of the window's color.
class ThemeStyle : public QProxyStyle {
  Q_OBJECT
 public:
  ThemeStyle();

  void drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
                     const QWidget* widget = nullptr) const override;
  void drawComplexControl(ComplexControl control, const QStyleOptionComplex* option,
                          QPainter* painter, const QWidget* widget = nullptr) const override;
};

}  // namespace jointer::views
