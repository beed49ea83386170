#pragma once

#include <QLabel>
#include <QPlainTextEdit>
#include <QTimer>
#include <QWidget>
#include <optional>

#include "views/pipeline/pipeline_session.h"

namespace jointer::views {

// The pipeline as text that can be edited: what is right is the pipeline at once, what is wrong is
// marked at its place and said below, and the pipeline stays as it was.
class PipelineTextPage : public QWidget {
  Q_OBJECT
 public:
  explicit PipelineTextPage(PipelineSession& session, QWidget* parent = nullptr);

  [[nodiscard]] QPlainTextEdit& edit() { return *edit_; }
  // Why the text is no pipeline; empty if it is one.
  [[nodiscard]] QString mistake() const { return mistake_; }
  // Where, in characters; nothing without a mistake.
  [[nodiscard]] std::optional<int> mistake_at() const { return mistake_at_; }

 protected:
  void changeEvent(QEvent* event) override;

 private:
  void show_draft();
  void take_text();
  void mark(std::optional<int> at, const QString& sentence);

  PipelineSession& session_;
  QPlainTextEdit* edit_ = nullptr;
  QLabel* said_ = nullptr;
  QString mistake_;
  std::optional<int> mistake_at_;
  bool is_showing_ = false;
};

}  // namespace jointer::views
