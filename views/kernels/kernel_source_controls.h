#pragma once

#include <QAction>
#include <QComboBox>
#include <QToolButton>
#include <QWidget>

#include "views/session/document/document.h"
#include "views/session/kernels/shown_kernels.h"

namespace jointer::views {

// Controls to choose which kernels the pane shows, to ask Inductor, and to open and close the
// artifacts of a compilation and a trace of compiled steps. The pane then shows the kernels of
// Inductor's answer or of the opened files.
class KernelSourceControls : public QWidget {
  Q_OBJECT
 public:
  // `document` must outlive this object.
  explicit KernelSourceControls(Document& document, QWidget* parent = nullptr);

 private:
  void ask();
  void open_artifacts(bool is_folder);
  void open_trace();
  void offer(ShownKernels::Source source, const QString& name, bool is_open);
  void refresh();

  Document& document_;
  QComboBox* source_ = nullptr;
  QToolButton* ask_ = nullptr;
  QToolButton* open_ = nullptr;
  QAction *close_compiled_ = nullptr, *close_measured_ = nullptr;
  QString last_folder_;
  bool is_awaited_ = false;  // the user asked here, and there is no answer yet
};

}  // namespace jointer::views
