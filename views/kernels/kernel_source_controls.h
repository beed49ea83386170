#pragma once

#include <QComboBox>
#include <QToolButton>
#include <QWidget>

#include "views/session/document/document.h"

namespace jointer::views {

// Chooses which kernels the pane shows, asks Inductor, and opens the artifacts of a compilation.
// Once Inductor has answered, or artifacts are open, these kernels are shown.
class KernelSourceControls : public QWidget {
  Q_OBJECT
 public:
  // `document` must outlive this object.
  explicit KernelSourceControls(Document& document, QWidget* parent = nullptr);

 private:
  void ask();
  void open_artifacts(bool is_folder);
  void refresh();

  Document& document_;
  QComboBox* source_ = nullptr;
  QToolButton* ask_ = nullptr;
  QToolButton* open_ = nullptr;
  QString last_folder_;
  bool is_awaited_ = false;  // the user asked here, and there is no answer yet
};

}  // namespace jointer::views
