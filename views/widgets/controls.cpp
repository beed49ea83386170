#include "views/widgets/controls.h"

#include <QMessageBox>
#include <QTextDocument>

namespace jointer::views {

QWidget* make_field(const QString& label, QWidget* control, const QString& tip, QWidget* parent) {
  auto* field = new QWidget(parent);
  QHBoxLayout* row = make_row(field, {0, 0, 0, 0}, 5);
  auto* name = new QLabel(label, field);
  name->setForegroundRole(QPalette::PlaceholderText);
  name->setBuddy(control);
  row->addWidget(name);
  row->addWidget(control);
  control->setAccessibleName(label);
  field->setToolTip(tip);
  return field;
}

void open_menu(QToolButton& button, QMenu* menu) {
  button.setMenu(menu);
  button.setPopupMode(QToolButton::InstantPopup);
  button.setToolButtonStyle(Qt::ToolButtonTextOnly);
  button.setStyleSheet(QStringLiteral("QToolButton::menu-indicator { image: none; }"));
}

QTextBrowser* make_text_page(const QString& accessible_name, int margin, QWidget* parent) {
  auto* page = new QTextBrowser(parent);
  page->setFrameShape(QFrame::NoFrame);
  page->setOpenLinks(false);
  page->document()->setDocumentMargin(margin);
  page->setAccessibleName(accessible_name);
  return page;
}

QLabel* make_text_label(QWidget* parent, int margin, Qt::TextFormat format) {
  auto* label = new QLabel(parent);
  label->setWordWrap(true);
  label->setContentsMargins(margin, 0, margin, 0);
  label->setTextFormat(format);
  label->setTextInteractionFlags(Qt::TextSelectableByMouse);
  return label;
}

void set_color(QLabel& label, const QColor& color) {
  const QString style = QStringLiteral("color: ") + color.name();
  if (label.styleSheet() != style) label.setStyleSheet(style);
}

QLabel* make_hint(const QString& text, QWidget* parent) {
  auto* label = new QLabel(text, parent);
  label->setAlignment(Qt::AlignCenter);
  label->setWordWrap(true);
  label->setForegroundRole(QPalette::PlaceholderText);
  return label;
}

void use_base_background(QWidget& widget) {
  widget.setAutoFillBackground(true);
  widget.setBackgroundRole(QPalette::Base);
}

void show_warning(const QString& title, const QString& text, QWidget* parent) {
  auto* box = new QMessageBox(QMessageBox::Warning, title, text, QMessageBox::Ok, parent);
  box->setTextFormat(Qt::PlainText);  // the text may quote names such as <lambda>
  box->setAttribute(Qt::WA_DeleteOnClose);
  box->setTextFormat(Qt::PlainText);
  box->open();
}

}  // namespace jointer::views
