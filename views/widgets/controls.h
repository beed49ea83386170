#pragma once

// Functions that build the parts of panes and bars.

#include <QBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QString>
#include <QTextBrowser>
#include <QToolButton>

namespace jointer::views {

// A layout of a widget or, if `widget` is null, one to be added to another layout. Spacing -1 is
// that of the style.
inline QVBoxLayout* make_column(QWidget* widget, const QMargins& margins, int spacing = -1) {
  auto* column = new QVBoxLayout(widget);
  column->setContentsMargins(margins);
  column->setSpacing(spacing);
  return column;
}
inline QHBoxLayout* make_row(QWidget* widget, const QMargins& margins, int spacing = -1) {
  auto* row = new QHBoxLayout(widget);
  row->setContentsMargins(margins);
  row->setSpacing(spacing);
  return row;
}

// Appends a control to a layout and returns it. `name`: its object name, or null. `accessible_name`
// is needed if the control has neither text nor a label, and does not name itself.
template <class Control>
Control* add_control(QLayout& layout, Control* control, const char* name, const QString& tip = {},
                     const QString& accessible_name = {}) {
  control->setObjectName(QLatin1String(name));
  control->setToolTip(tip);
  if (!accessible_name.isEmpty()) control->setAccessibleName(accessible_name);
  layout.addWidget(control);
  return control;
}

// A widget that shows a label and, to its right, its control. `label` becomes the control's
// accessible name.
QWidget* make_field(const QString& label, QWidget* control, const QString& tip, QWidget* parent);

// Makes a click on a button open a menu. The caller ends the button's text with kMenuArrow, since
// the style's indicator would overlap the text.
void open_menu(QToolButton& button, QMenu* menu);
inline const QString kMenuArrow = QStringLiteral("  ▾");

// A page of rich text without a frame. Following its links is up to the caller.
QTextBrowser* make_text_page(const QString& accessible_name, int margin, QWidget* parent);

// A label that wraps its text, which can be selected. `margin`: on its left and right.
QLabel* make_text_label(QWidget* parent, int margin = 0, Qt::TextFormat format = Qt::AutoText);

// Sets a label's text color; labels with selectable text ignore the palette.
void set_color(QLabel& label, const QColor& color);

// A muted, centered text in place of content.
QLabel* make_hint(const QString& text, QWidget* parent);

// Paints the background of a pane like that of a table.
void use_base_background(QWidget& widget);

// Shows a failure in a dialog that does not block the caller. `text` is plain text.
void show_warning(const QString& title, const QString& text, QWidget* parent);

}  // namespace jointer::views
