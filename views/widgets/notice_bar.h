#pragma once

#include <QFrame>
#include <QPushButton>
#include <QString>
#include <cstdint>

#include "views/widgets/wrapped_text.h"

namespace jointer::views {

// A bar with a message and buttons for possible responses. The message is shown in full, and can be
// selected.
class NoticeBar : public QFrame {
  Q_OBJECT
 public:
  enum class Tone : std::uint8_t { warning, hint };

  explicit NoticeBar(QWidget* parent = nullptr, Tone tone = Tone::warning);

  void set_text(const QString& text);
  [[nodiscard]] QString text() const { return text_->toPlainText(); }
  // Adds a button to the right of the existing ones. `name`: the button's object name.
  QPushButton* add_button(const QString& text, const char* name);

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  Tone tone_;
  WrappedText* text_ = nullptr;
};

}  // namespace jointer::views
