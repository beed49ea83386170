#include "views/benchmark/benchmark_form.h"

#include <QLineEdit>
#include <QScopedValueRollback>
#include <QStandardItemModel>
#include <algorithm>
#include <limits>

#include "views/session/text/node_text.h"
#include "views/theme/spacing.h"
#include "views/theme/theme.h"
#include "views/widgets/controls.h"
#include "views/widgets/flow_layout.h"

namespace jointer::views {
namespace {

constexpr int kFieldSpacing = 12, kRowSpacing = 6;
constexpr int kMaxIterations = 100'000;

const std::vector kBackends{Backend::interpret, Backend::cudagraph, Backend::inductor,
                            Backend::regional, Backend::python};
const std::vector kPlaces{RunOn::automatic, RunOn::cpu, RunOn::cuda};
const std::vector kKernels{AttentionKernel::automatic, AttentionKernel::flash,
                           AttentionKernel::efficient, AttentionKernel::cudnn,
                           AttentionKernel::math};
const std::vector kTf32Choices{Tf32::automatic, Tf32::allow, Tf32::forbid};

QString backend_tip(Backend backend) {
  switch (backend) {
    case Backend::interpret:
      return BenchmarkForm::tr("Operator by operator through LibTorch's dispatcher");
    case Backend::cudagraph:
      return BenchmarkForm::tr("Captured as a CUDA graph while it is interpreted, then replayed");
    case Backend::inductor:
      return BenchmarkForm::tr("Compiled by Inductor; numerics may change");
    case Backend::regional:
      return BenchmarkForm::tr(
          "Marked regions compiled by Inductor, the rest interpreted; numerics may change");
    case Backend::python:
      return BenchmarkForm::tr(
          "torch.fx in a Python process, for operators without a native implementation");
  }
  return {};
}

// Enables the entry if `why_not` is empty. Otherwise, disables it, with `why_not` as its tooltip.
void set_possible(QComboBox& box, int index, const QString& why_not, const QString& tip) {
  auto* model = qobject_cast<QStandardItemModel*>(box.model());
  model->item(index)->setEnabled(why_not.isEmpty());
  model->item(index)->setToolTip(why_not.isEmpty() ? tip : why_not);
}

}  // namespace

BenchmarkForm::BenchmarkForm(Benchmarks& benchmarks, QWidget* parent)
    : QWidget(parent), benchmarks_(benchmarks) {
  QVBoxLayout* column = make_column(this, {kMargin, 0, kMargin, 0}, kRowSpacing);
  auto* fields = new QWidget(this);
  new FlowLayout(fields, kFieldSpacing, kRowSpacing);
  fields->layout()->setContentsMargins(0, 0, 0, 0);
  fields->setObjectName(QStringLiteral("fields"));
  column->addWidget(fields);
  make_buttons();
  make_fields();
  show_settings();
  refresh();
  connect(&benchmarks_, &Benchmarks::settings_changed, this, &BenchmarkForm::show_settings);
  connect(&benchmarks_, &Benchmarks::running_changed, this, &BenchmarkForm::refresh);
  connect(&benchmarks_.service(), &BenchmarkService::running_changed, this,
          &BenchmarkForm::refresh);
}

void BenchmarkForm::make_buttons() {
  auto* buttons = new QWidget(this);
  QHBoxLayout* row = make_row(buttons, {}, 4);
  run_ = add_control(*row, new QPushButton(tr("Run"), buttons), nullptr);
  cancel_ = add_control(*row, new QPushButton(tr("Cancel"), buttons), "cancel");
  findChild<QWidget*>(QStringLiteral("fields"))->layout()->addWidget(buttons);
  connect(run_, &QPushButton::clicked, &benchmarks_, &Benchmarks::run);
  connect(cancel_, &QPushButton::clicked, &benchmarks_, &Benchmarks::cancel);
}

QWidget* BenchmarkForm::add_field(const QString& label, QWidget* control, const QString& tip) {
  QWidget* field = make_field(label, control, tip, this);
  findChild<QWidget*>(QStringLiteral("fields"))->layout()->addWidget(field);
  return field;
}

template <class Choice>
QComboBox* BenchmarkForm::make_choices(const std::vector<Choice>& choices) {
  auto* box = new QComboBox(this);
  for (const Choice choice : choices)
    box->addItem(to_qstring(to_string(choice)), static_cast<int>(choice));
  connect(box, &QComboBox::activated, this, &BenchmarkForm::read_settings);
  return box;
}

QSpinBox* BenchmarkForm::make_number(int min, int max) {
  auto* box = new QSpinBox(this);
  box->setRange(min, max);
  box->setAlignment(Qt::AlignRight);
  // The field is sized for typical values rather than for the maximum.
  box->setFixedWidth(box->fontMetrics().horizontalAdvance(QStringLiteral("00000")) + 34);
  connect(box, &QSpinBox::valueChanged, this, &BenchmarkForm::read_settings);
  return box;
}

QCheckBox* BenchmarkForm::add_check(const QString& label, const QString& tip) {
  auto* box = new QCheckBox(label, this);
  box->setToolTip(tip);
  findChild<QWidget*>(QStringLiteral("fields"))->layout()->addWidget(box);
  connect(box, &QCheckBox::toggled, this, &BenchmarkForm::read_settings);
  return box;
}

void BenchmarkForm::make_fields() {
  add_field(tr("Backend"), backend_ = make_choices(kBackends), tr("Backend that runs the graph"));
  backend_->setObjectName(QStringLiteral("backend"));
  marked_ = new QLineEdit(this);
  marked_->setObjectName(QStringLiteral("marked"));
  marked_->setPlaceholderText(QStringLiteral("layers.*.feed_forward::*"));
  marked_->setMinimumWidth(marked_->fontMetrics().horizontalAdvance(QLatin1Char('m')) * 22);
  connect(marked_, &QLineEdit::textEdited, this, &BenchmarkForm::read_settings);
  marked_field_ = add_field(tr("Regions"), marked_,
                            tr("Regions to compile in addition to those marked in the graph: names "
                               "of nodes or FQN_PATTERN::operator, separated by semicolons"));
  ranks_ = new QComboBox(this);
  const int world = benchmarks_.world_size();
  ranks_->addItem(world == 1   ? tr("1 rank")
                  : world == 2 ? tr("Both ranks")
                               : tr("All %1 ranks").arg(world));
  if (world > 1) ranks_->addItem(tr("Single rank"));
  connect(ranks_, &QComboBox::activated, this, &BenchmarkForm::read_settings);
  add_field(tr("Ranks"), ranks_,
            tr("One process per rank. With a single rank, local copies replace collectives: memory "
               "use is realistic, but communication time is not."));
  solo_field_ =
      add_field(tr("Rank"), solo_ = make_number(0, std::max(world - 1, 0)), tr("Rank to run"));
  add_field(tr("Device"), on_ = make_choices(kPlaces), tr("Device to run on"));
  add_field(tr("Iterations"), iterations_ = make_number(1, kMaxIterations),
            tr("Number of steps to measure; the median is reported"));
  iterations_->setObjectName(QStringLiteral("iterations"));
  add_field(tr("Warm-up"), warmup_ = make_number(0, kMaxIterations),
            tr("Number of steps to run before measuring"));
  add_field(
      tr("Attention"), attention_ = make_choices(kKernels),
      tr("Kernel for scaled dot-product attention. “auto” uses the kernel in the graph or its "
         "equivalent for the device."));
  add_field(tr("TF32"), tf32_ = make_choices(kTf32Choices),
            tr("TF32 for float32 matrix products and convolutions on a GPU. “auto” is torch's "
               "default, and the only choice on devices without TF32, such as the CPU."));
  tf32_->setObjectName(QStringLiteral("tf32"));
  add_field(tr("Seed"), seed_ = make_number(0, std::numeric_limits<int>::max()),
            tr("Seed for the generated inputs"));
  verify_ = add_check(
      tr("Verify"), tr("Compare all outputs with those of the unedited graph on the same inputs"));
  profile_ = add_check(tr("Profile"), tr("Run additional steps that time each node and trace "
                                         "memory; the timeline shows the result"));
}

void BenchmarkForm::show_settings() {
  const QScopedValueRollback showing(is_showing_, true);
  const BenchmarkRequest& r = benchmarks_.settings().request;
  backend_->setCurrentIndex(backend_->findData(static_cast<int>(r.backend)));
  ranks_->setCurrentIndex(r.solo && ranks_->count() > 1 ? 1 : 0);
  solo_->setValue(r.solo.value_or(0));
  solo_field_->setVisible(ranks_->currentIndex() == 1);
  // The settings do not contain the spaces at the ends of the text, which the user may be typing.
  if (const QString text = to_qstring(r.marked);
      r.backend == Backend::regional && marked_->text().trimmed() != text)
    marked_->setText(text);
  marked_field_->setVisible(r.backend == Backend::regional);
  on_->setCurrentIndex(on_->findData(static_cast<int>(r.on)));
  iterations_->setValue(r.iterations);
  warmup_->setValue(r.warmup);
  attention_->setCurrentIndex(attention_->findData(static_cast<int>(r.attention)));
  tf32_->setCurrentIndex(tf32_->findData(static_cast<int>(r.tf32)));
  seed_->setValue(static_cast<int>(r.seed));
  verify_->setChecked(benchmarks_.settings().verify);
  profile_->setChecked(r.profile);
  refresh();
}

void BenchmarkForm::read_settings() {
  if (is_showing_) return;
  BenchmarkSettings settings = benchmarks_.settings();
  BenchmarkRequest& r = settings.request;
  r.backend = static_cast<Backend>(backend_->currentData().toInt());
  r.marked = r.backend == Backend::regional ? marked_->text().trimmed().toStdString() : "";
  r.solo = ranks_->currentIndex() == 1 ? std::optional(solo_->value()) : std::nullopt;
  r.on = static_cast<RunOn>(on_->currentData().toInt());
  r.iterations = iterations_->value();
  r.warmup = warmup_->value();
  r.attention = static_cast<AttentionKernel>(attention_->currentData().toInt());
  r.tf32 = static_cast<Tf32>(tf32_->currentData().toInt());
  r.seed = static_cast<std::uint64_t>(seed_->value());
  r.profile = profile_->isChecked();
  settings.verify = verify_->isChecked();
  benchmarks_.set_settings(settings);
}

void BenchmarkForm::refresh() {
  const BenchmarkService& service = benchmarks_.service();
  for (int i = 0; i < backend_->count(); ++i) {
    const Backend backend = kBackends[static_cast<std::size_t>(i)];
    set_possible(*backend_, i, service.why_not(backend), backend_tip(backend));
  }
  for (int i = 0; i < on_->count(); ++i)
    set_possible(*on_, i, service.why_not(kPlaces[static_cast<std::size_t>(i)]), {});
  const bool running = benchmarks_.is_running();
  const QString why_not = benchmarks_.why_not();
  run_->setVisible(!running);
  run_->setEnabled(why_not.isEmpty());
  run_->setToolTip(why_not.isEmpty() ? tr("Measure this graph on this machine (Ctrl+R)") : why_not);
  cancel_->setVisible(running);
  cancel_->setEnabled(!benchmarks_.is_cancelling());
  cancel_->setText(benchmarks_.is_cancelling() ? tr("Cancelling...") : tr("Cancel"));
  hint_ = running || why_not.isEmpty()
              ? tr("This machine: %1").arg(service.devices().join(QStringLiteral(" · ")))
              : why_not;
  emit hint_changed();
}

}  // namespace jointer::views
