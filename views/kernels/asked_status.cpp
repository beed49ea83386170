#include "views/kernels/asked_status.h"

#include "core/base/index.h"
#include "views/session/kernels/asked_kernels.h"
#include "views/session/text/number_text.h"
#include "views/theme/spacing.h"
#include "views/widgets/controls.h"

namespace jointer::views {
namespace {

constexpr int kSteps = 1000, kMaxBarWidth = 240;

QString asked_stage_text(const AskedProgress& progress) {
  QString text;
  switch (progress.asked.stage) {
    case AskStage::load_torch:
      text = tr("loading torch");
      break;
    case AskStage::decompose:
      text = tr("decomposing");
      break;
    case AskStage::lower:
      text = tr("lowering");
      break;
    case AskStage::fuse:
      text = tr("fusing kernels");
      break;
    case AskStage::reorder:
      text = tr("reordering for low memory");
      break;
  }
  if (progress.asked.of > 0)
    text = tr("%1: %2 of %3")
               .arg(text, count_text(progress.asked.done), nodes_text(as_index(progress.asked.of)));
  if (progress.parts == 1) return text;
  return progress.part == 0 ? tr("forward: %1").arg(text) : tr("backward: %1").arg(text);
}

}  // namespace

AskedStatus::AskedStatus(Document& document, QWidget* parent)
    : QWidget(parent), document_(document) {
  QVBoxLayout* column = make_column(this, {}, 2);
  running_ = new QWidget(this);
  QHBoxLayout* row = make_row(running_, {kNarrowMargin, 0, kNarrowMargin, 0}, kNarrowMargin);
  bar_ = add_control(*row, new QProgressBar(running_), "asking", {},
                     tr("Progress of the request to Inductor"));
  bar_->setTextVisible(false);
  bar_->setRange(0, kSteps);
  bar_->setMaximumWidth(kMaxBarWidth);
  stage_ = add_control(*row, new ElidedLabel(running_), "stage");
  row->setStretchFactor(stage_, 1);
  QToolButton* cancel = add_control(*row, new QToolButton(running_), "cancel_asking",
                                    tr("Cancel the request to Inductor, and end its processes"));
  cancel->setText(tr("Cancel"));
  column->addWidget(running_);
  problem_ = new NoticeBar(this);
  problem_->setObjectName(QStringLiteral("asked_problem"));
  column->addWidget(problem_);
  connect(cancel, &QToolButton::clicked, &document_.asked_kernels(), &AskedKernels::cancel);
  connect(&document_.asked_kernels(), &AskedKernels::changed, this, &AskedStatus::refresh);
  connect(&document_.asked_kernels(), &AskedKernels::progressed, this, &AskedStatus::show_progress);
  refresh();
}

void AskedStatus::refresh() {
  const AskedKernels& asked = document_.asked_kernels();
  running_->setVisible(asked.is_running());
  problem_->setVisible(!asked.problem().isEmpty());
  if (!asked.problem().isEmpty())
    problem_->set_text(tr("The request to Inductor failed: %1").arg(asked.problem()));
  setVisible(asked.is_running() || !asked.problem().isEmpty());
  show_progress();
}

void AskedStatus::show_progress() {
  const AskedProgress& progress = document_.asked_kernels().progress();
  bar_->setValue(static_cast<int>(progress.fraction() * kSteps));
  stage_->setText(asked_stage_text(progress));
}

}  // namespace jointer::views
