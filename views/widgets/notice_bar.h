#pragma once

#include <QFrame>
#include <QPushButton>
#include <QString>

#include "views/widgets/wrapped_text.h"

namespace jointer::views {

// A bar with a message that needs attention, and buttons for what to do about it. It is shown
// whole, and can be selected.
class NoticeBar : public QFrame {
  Q_OBJECT
 public:
  explicit NoticeBar(QWidget* parent = nullptr);

  void set_text(const QString& text);
  [[nodiscard]] QString text() const { return text_->toPlainText(); }
  // Adds a button to the right of those that it already has. `name`: its object name.
  QPushButton* add_button(const QString& text, const QString& name);

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  WrappedText* text_ = nullptr;
};

}  // namespace jointer::views
