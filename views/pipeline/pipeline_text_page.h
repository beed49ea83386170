#pragma once

#include <QLabel>
#include <QPlainTextEdit>
#include <QTimer>
#include <QWidget>
#include <optional>

#include "views/session/pipeline/pipeline_session.h"

namespace jointer::views {

// The pipeline as editable text. Valid text changes the pipeline immediately. If the text is
// invalid, the error is marked in the text and explained below it, and the pipeline stays
// unchanged.
class PipelineTextPage : public QWidget {
  Q_OBJECT
 public:
  explicit PipelineTextPage(PipelineSession& session, QWidget* parent = nullptr);

  [[nodiscard]] QPlainTextEdit& edit() { return *edit_; }

 protected:
  void changeEvent(QEvent* event) override;

 private:
  void show_draft();
  void parse_text();
  void mark(std::optional<int> at, const QString& sentence);

  PipelineSession& session_;
  QPlainTextEdit* edit_ = nullptr;
  QLabel* said_ = nullptr;
  QString mistake_;
  std::optional<int> mistake_at_;
  bool is_showing_ = false;
};

}  // namespace jointer::views
