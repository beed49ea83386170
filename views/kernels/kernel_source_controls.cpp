#include "views/kernels/kernel_source_controls.h"

#include <QFileDialog>
#include <QFileInfo>
#include <QMenu>
#include <utility>

#include "views/session/kernels/asked_kernels.h"
#include "views/session/kernels/opened_kernels.h"
#include "views/session/kernels/shown_kernels.h"
#include "views/session/kernels/traced_kernels.h"
#include "views/widgets/controls.h"

namespace jointer::views {
namespace {

constexpr int kMinSourceLetters = 8;

}  // namespace

KernelSourceControls::KernelSourceControls(Document& document, QWidget* parent)
    : QWidget(parent), document_(document) {
  QHBoxLayout* row = make_row(this, {}, 4);
  source_ = add_control(*row, new QComboBox(this), "source",
                        tr("Show the predicted kernels, those of Inductor's scheduler, those of an "
                           "open compilation, or those measured in an open trace"),
                        tr("Source of the kernels"));
  source_->addItem(tr("Predicted"), static_cast<int>(ShownKernels::Source::predicted));
  source_->addItem(tr("Inductor Scheduler"), static_cast<int>(ShownKernels::Source::asked));
  source_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  source_->setMinimumContentsLength(kMinSourceLetters);
  ask_ = add_control(*row, new QToolButton(this), "ask_inductor",
                     tr("Ask Inductor's scheduler in the installed torch which kernels it "
                        "generates for the current graph. No GPU is needed. Large graphs take a "
                        "minute or more; answers are cached."));
  ask_->setText(tr("Ask Inductor"));
  open_ =
      add_control(*row, new QToolButton(this), "open_compiled",
                  tr("Show the kernels of a compilation, read from its logs, its output code or "
                     "its package (.pt2), or their measured times, read from a profiler trace"));
  open_->setText(tr("Open") + kMenuArrow);
  auto* menu = new QMenu(open_);
  open_menu(*open_, menu);
  menu->addAction(tr("Open Compiled Kernels (Folder)..."), this, [this] { open_artifacts(true); });
  menu->addAction(tr("Open Compiled Kernels (File)..."), this, [this] { open_artifacts(false); });
  menu->addAction(tr("Open Measured Kernels (Trace)..."), this, &KernelSourceControls::open_trace);
  menu->addSeparator();
  close_compiled_ = menu->addAction(tr("Close Compiled Kernels"), &document_.opened_kernels(),
                                    &OpenedKernels::close);
  close_measured_ = menu->addAction(tr("Close Measured Kernels"), &document_.traced_kernels(),
                                    &TracedKernels::close);
  // Refresh the menu when it opens: Close also cancels a read, and no signal announces that one has
  // started.
  connect(menu, &QMenu::aboutToShow, this, &KernelSourceControls::refresh);
  connect(source_, &QComboBox::activated, this, [this](int index) {
    document_.shown_kernels().set_source(
        static_cast<ShownKernels::Source>(source_->itemData(index).toInt()));
  });
  connect(ask_, &QToolButton::clicked, this, &KernelSourceControls::ask);
  connect(&document_.asked_kernels(), &AskedKernels::changed, this, &KernelSourceControls::refresh);
  connect(&document_.opened_kernels(), &OpenedKernels::changed, this,
          &KernelSourceControls::refresh);
  connect(&document_.traced_kernels(), &TracedKernels::changed, this,
          &KernelSourceControls::refresh);
  connect(&document_.shown_kernels(), &ShownKernels::changed, this, &KernelSourceControls::refresh);
  refresh();
}

void KernelSourceControls::ask() {
  is_awaited_ = true;
  document_.asked_kernels().ask();
}

// Lets the user choose a folder, such as the one that TORCH_TRACE names, or a file: a log in such a
// folder, a wrapper in Inductor's cache, or an AOTInductor package.
void KernelSourceControls::open_artifacts(bool is_folder) {
  const QString title = tr("Open Compiled Kernels");
  const QString path =
      is_folder
          ? QFileDialog::getExistingDirectory(this, title, last_folder_)
          : QFileDialog::getOpenFileName(
                this, title, last_folder_,
                tr("TORCH_TRACE logs, Inductor's output code and packages (*.log *.py *.pt2);;"
                   "All files (*)"));
  if (path.isEmpty()) return;
  last_folder_ = is_folder ? path : QFileInfo(path).absolutePath();
  document_.opened_kernels().read(path);
}

// Lets the user choose a trace of compiled steps.
void KernelSourceControls::open_trace() {
  const QString path = QFileDialog::getOpenFileName(
      this, tr("Open Measured Kernels"), last_folder_,
      tr("torch.profiler traces (*.json *.json.gz *.json.zst);;All files (*)"));
  if (path.isEmpty()) return;
  last_folder_ = QFileInfo(path).absolutePath();
  document_.traced_kernels().read(path);
}

// Offers a source only while its files are open.
void KernelSourceControls::offer(ShownKernels::Source source, const QString& name, bool is_open) {
  const int item = source_->findData(static_cast<int>(source));
  if (is_open && item < 0)
    source_->addItem(name, static_cast<int>(source));
  else if (!is_open && item >= 0)
    source_->removeItem(item);
}

void KernelSourceControls::refresh() {
  const OpenedKernels& compiled = document_.opened_kernels();
  const TracedKernels& measured = document_.traced_kernels();
  offer(ShownKernels::Source::compiled, tr("Compiled"), compiled.shown() != nullptr);
  offer(ShownKernels::Source::measured, tr("Measured"), measured.shown() != nullptr);
  close_compiled_->setEnabled(compiled.shown() || compiled.is_reading());
  close_measured_->setEnabled(measured.shown() || measured.is_reading());
  const AskedKernels& asked = document_.asked_kernels();
  ask_->setEnabled(!asked.is_running());
  if (!asked.is_running() && std::exchange(is_awaited_, false) && asked.has_answered())
    document_.shown_kernels().set_source(ShownKernels::Source::asked);
  source_->setCurrentIndex(source_->findData(static_cast<int>(document_.shown_kernels().source())));
}

}  // namespace jointer::views
