#pragma once

#include <QAbstractButton>
#include <QStringList>
#include <algorithm>

namespace jointer::views {

// Makes a button wide enough for each of these texts, so that the controls next to it do not move
// when its text changes.
inline void fit_texts(QAbstractButton& button, const QStringList& texts) {
  const QString now = button.text();
  int width = 0;
  for (const QString& text : texts) {
    button.setText(text);
    width = std::max(width, button.sizeHint().width());
  }
  button.setText(now);
  button.setMinimumWidth(width);
}

}  // namespace jointer::views
