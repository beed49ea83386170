#pragma once

#include <QHBoxLayout>
#include <QToolButton>
#include <algorithm>

namespace jointer::views {

// Appends a flat button to a pane's bar, which must have a QHBoxLayout. Clicking the button leaves
// the focus in the pane; Tab can move it to the button.
inline QToolButton* add_bar_button(QWidget& bar, const QString& text, const QString& tip) {
  auto* button = new QToolButton(&bar);
  button->setText(text);
  button->setToolTip(tip);
  // A symbol says nothing to a screen reader.
  if (std::none_of(text.begin(), text.end(), [](QChar c) { return c.isLetter(); }))
    button->setAccessibleName(tip);
  button->setAutoRaise(true);
  button->setMinimumSize(24, 22);
  button->setFocusPolicy(Qt::TabFocus);
  static_cast<QHBoxLayout*>(bar.layout())->addWidget(button);
  return button;
}

}  // namespace jointer::views
