#pragma once

#include <QAction>
#include <QComboBox>
#include <QToolButton>
#include <QWidget>

#include "views/session/document/document.h"

namespace jointer::views {

// Controls to choose which kernels the pane shows, to ask Inductor, and to open and close the
// artifacts of a compilation. When Inductor answers, or artifacts are opened, their kernels are
// shown.
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
  QAction* close_ = nullptr;
  QString last_folder_;
  bool is_awaited_ = false;  // the user asked here, and there is no answer yet
};

}  // namespace jointer::views
