#pragma once

#include <QTextEdit>

namespace jointer::views {

// Plain text that is shown in full: it wraps, even within words that are too long for a line, such
// as paths, and the widget is as high as the text. If its parent is too low for that, the tooltip
// shows the whole text. The text can be selected and copied.
class WrappedText : public QTextEdit {
  Q_OBJECT
 public:
  explicit WrappedText(const QString& text, QWidget* parent = nullptr);

  void set_text(const QString& text);
  [[nodiscard]] bool hasHeightForWidth() const override { return true; }
  [[nodiscard]] int heightForWidth(int width) const override;
  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override { return {1, fontMetrics().height()}; }

 protected:
  bool viewportEvent(QEvent* event) override;
};

}  // namespace jointer::views
