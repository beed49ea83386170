#include "views/kernels/kernel_table.h"

#include <QFileDialog>
#include <QFileInfo>
#include <QHeaderView>
#include <QMenu>

#include "views/session/kernels/predicted_kernels.h"
#include "views/widgets/controls.h"

namespace jointer::views {

KernelTable::KernelTable(Document& document, QWidget* parent)
    : TablePaneOf(document, tr("Kernels"), tr("Filter kernels by operator, kind, node"), parent),
      opened_(document) {
  view().set_flat();
  // Fit the widths only to the rows on screen: large graphs have thousands of kernels.
  view().header()->setResizeContentsPrecision(0);
  QToolButton* all = add_control(controls(), new QToolButton(this), "show_all",
                                 tr("Also list views, waits and results, which launch no kernel"));
  all->setText(tr("Show All"));
  all->setCheckable(true);
  connect(all, &QToolButton::toggled, this, [this](bool shows_all) {
    model_->set_show_all(shows_all);
    request_refresh();
  });
  add_source_menu();
  const auto show_kernels = [this] {
    request_refresh();
    emit kernels_changed();
  };
  connect(&document.kernels(), &PredictedKernels::changed, this, show_kernels);
  connect(&opened_, &OpenedKernels::changed, this, show_kernels);
  connect(&opened_, &OpenedKernels::failed, &document, &Document::failed);
}

void KernelTable::add_source_menu() {
  source_ = add_control(controls(), new QToolButton(this), "source",
                        tr("Kernels that are listed: predicted, or read from what a compilation "
                           "has written"));
  auto* menu = new QMenu(source_);
  open_menu(*source_, menu);
  QAction* predicted = menu->addAction(tr("Predicted Kernels"), this, [this] { opened_.close(); });
  menu->addAction(tr("Open Compiled Kernels (Folder)..."), this, [this] { open_artifacts(true); });
  menu->addAction(tr("Open Compiled Kernels (File)..."), this, [this] { open_artifacts(false); });
  const auto show_source = [this, predicted] {
    predicted->setEnabled(opened_.shown() != nullptr);
    source_->setText((opened_.shown() ? tr("Compiled") : tr("Predicted")) + kMenuArrow);
  };
  connect(&opened_, &OpenedKernels::changed, source_, show_source);
  show_source();
}

// The folder that TORCH_TRACE named, one of its logs, or a wrapper in Inductor's cache.
void KernelTable::open_artifacts(bool is_folder) {
  const QString title = tr("Open Compiled Kernels");
  const QString path =
      is_folder
          ? QFileDialog::getExistingDirectory(this, title, last_folder_)
          : QFileDialog::getOpenFileName(
                this, title, last_folder_,
                tr("TORCH_TRACE logs and Inductor's output code (*.log *.py);;All files (*)"));
  if (path.isEmpty()) return;
  last_folder_ = is_folder ? path : QFileInfo(path).absolutePath();
  opened_.read(path);
}

const SnapshotKernelsPtr& KernelTable::shown() {
  return opened_.shown() ? opened_.shown() : document().kernels().shown();
}

int KernelTable::selected_row() {
  const std::vector<int> rows = view().selected_rows();
  return rows.size() == 1 ? rows.front() : -1;
}

void KernelTable::refresh() {
  const PredictedKernels& predicted = document().kernels();
  if (model_->kernels() != shown()) {
    const bool is_first = model_->row_count() == 0;
    model_->set_kernels(shown());
    if (is_first && model_->row_count() > 0) view().fit_columns();
  }
  // A node that was selected before its kernel was known.
  const auto nodes = document().selection().nodes();
  if (nodes.size() == 1 && view().selected_rows().empty())
    view().show_row(view().exposed_row(model_->row_of(nodes.front())));
  if (!predicted.problem().isEmpty())
    set_empty_text(tr("The kernels cannot be predicted: %1").arg(predicted.problem()));
  else
    set_empty_text(predicted.is_current() ? tr("No kernels run in this graph.")
                                          : tr("Predicting the kernels..."));
}

}  // namespace jointer::views
