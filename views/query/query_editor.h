#pragma once

#include <QPlainTextEdit>

namespace jointer::views {

// An editor for a query. Ctrl+Enter emits `run_requested`. Shows only whole lines.
class QueryEditor : public QPlainTextEdit {
  Q_OBJECT
 public:
  explicit QueryEditor(QWidget* parent = nullptr);

 signals:
  void run_requested();

 protected:
  bool event(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  [[nodiscard]] int edges() const;
};

}  // namespace jointer::views
