#include "views/window/scoreboard.h"

#include <QFileDialog>
#include <QHBoxLayout>
#include <QToolButton>
#include <QVBoxLayout>

#include "core/base/units.h"
#include "core/cost/cost_database.h"
#include "core/cost/device.h"
#include "core/cost/measured.h"
#include "views/document/measured_text.h"
#include "views/document/number_text.h"
#include "views/edit/editing.h"
#include "views/edit/move_planner.h"
#include "views/theme/theme.h"
#include "views/window/assumptions_dialog.h"

namespace jointer::views {
namespace {

constexpr int kMetricSpacing = 26;

// In the list of devices: the name of an estimator of measured costs, not the id of a device.
bool is_estimator(const QString& entry) {
  return entry.startsWith(QStringLiteral("measured"));
}

}  // namespace

Scoreboard::Scoreboard(Document& document, QWidget* parent)
    : QWidget(parent), document_(document), planner_(document.editing().planner()) {
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(12, 6, 12, 6);
  layout->setSpacing(kMetricSpacing);
  peak_ = add_metric(tr("Peak memory"),
                     tr("The most bytes alive at once, counted by storage and rounded as the "
                        "device's allocator rounds."));
  reserved_ = add_metric(
      tr("Reserved"), tr("What the caching allocator would take from the device: a model of "
                         "its block sizes, splitting and reuse. Peak memory is its lower bound."));
  step_ =
      add_metric(tr("Step"), tr("Estimated time of one step on one rank: a simulation of the "
                                "CPU, the compute stream and a stream for each process group."));
  compute_ = add_metric(tr("Compute"), tr("Estimated time of all kernels together."));
  exposed_ = add_metric(tr("Exposed"),
                        tr("Time in which the compute stream waits for communication, and how "
                           "many collectives are hidden behind compute."));
  tokens_ =
      add_metric(tr("Tokens/s"), tr("Local tokens of one step over its time, of one device."));
  mfu_ = add_metric(tr("MFU"), tr("Model FLOPs a second over the device's dense bf16 peak. "
                                  "Recomputation does not count."));
  measured_ = add_metric(tr("Measured"), {});
  layout->addStretch(1);

  auto* settings = new QVBoxLayout;
  settings->setSpacing(2);
  auto* row = new QHBoxLayout;
  row->setSpacing(6);
  device_ = new QComboBox(this);
  device_->setToolTip(tr("What the estimates are for"));
  device_->setAccessibleName(tr("Device"));
  device_->setObjectName(QStringLiteral("device"));
  optimizer_ = new QComboBox(this);
  optimizer_->addItems({tr("no optimizer state"), tr("AdamW fp32 state")});
  optimizer_->setToolTip(tr("Optimizer state counted as memory that is always there"));
  optimizer_->setAccessibleName(tr("Optimizer state"));
  auto* sizes = new QToolButton(this);
  sizes->setText(tr("Sizes"));
  sizes->setToolTip(tr("Numbers assumed for symbolic sizes, such as the tokens an expert gets"));
  sizes->setVisible(!document.graph().symbols().empty());
  row->addWidget(optimizer_);
  row->addWidget(device_);
  row->addWidget(sizes);
  settings->addLayout(row);
  estimate_ = new QLabel(this);
  estimate_->setAlignment(Qt::AlignRight);
  estimate_->setForegroundRole(QPalette::PlaceholderText);
  settings->addWidget(estimate_);
  layout->addLayout(settings);

  fill_devices();
  refresh();
  connect(device_, &QComboBox::activated, this, &Scoreboard::choose_device);
  connect(optimizer_, &QComboBox::activated, this, &Scoreboard::choose_optimizer);
  connect(sizes, &QToolButton::clicked, this, &Scoreboard::show_assumptions);
  connect(&document_, &Document::changed, this, &Scoreboard::refresh);
  connect(&planner_, &MovePlanner::held_changed, this, &Scoreboard::show_figures);
  connect(&planner_, &MovePlanner::moved, this, &Scoreboard::show_figures);
  connect(&document_, &Document::measurement_changed, this, &Scoreboard::show_measurement);
  connect(&document_, &Document::costs_changed, this, [this] {
    fill_devices();
    refresh();
  });
  connect(&document_, &Document::busy_changed, this,
          [this](bool busy) { estimate_->setEnabled(!busy); });
}

Scoreboard::Metric Scoreboard::add_metric(const QString& name, const QString& how) {
  Metric metric;
  metric.box = new QWidget(this);
  metric.box->setToolTip(how);
  auto* column = new QVBoxLayout(metric.box);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  auto* label = new QLabel(name, metric.box);
  QFont small = label->font();
  small.setPixelSize(std::max(11, QFontInfo(small).pixelSize() - 2));
  label->setFont(small);
  label->setForegroundRole(QPalette::PlaceholderText);
  metric.value = new QLabel(metric.box);
  QFont large = metric.value->font();
  large.setPixelSize(QFontInfo(large).pixelSize() + 4);
  large.setBold(true);
  metric.value->setFont(large);
  metric.value->setTextInteractionFlags(Qt::TextSelectableByMouse);
  metric.value->setAccessibleName(name);
  const auto add_row = [&](QLabel* first, QLabel* second) {
    auto* row = new QHBoxLayout;
    row->setSpacing(6);
    row->addWidget(first);
    row->addWidget(second);
    row->addStretch(1);
    column->addLayout(row);
    second->hide();
  };
  metric.was = new QLabel(metric.box);
  metric.was->setFont(small);
  metric.was->setForegroundRole(QPalette::PlaceholderText);
  metric.change = new QLabel(metric.box);
  metric.change->setAccessibleName(tr("Change of %1").arg(name));
  add_row(label, metric.was);
  add_row(metric.value, metric.change);
  static_cast<QHBoxLayout*>(layout())->addWidget(metric.box);
  return metric;
}

void Scoreboard::fill_devices() {
  device_->clear();
  for (const std::string_view id : device_ids()) {
    const auto device = load_device(id);
    if (device)
      device_->addItem(QString::fromStdString(device->name), QString::fromStdString(device->id));
  }
  device_->insertSeparator(device_->count());
  // What benchmarks and traces have told of, for as long as it can be read.
  if (const auto database = CostDatabase::open(CostDatabase::default_path())) {
    const auto measured = database->devices();
    for (const MeasuredDevice& device : measured ? *measured : std::vector<MeasuredDevice>()) {
      const QString name = QString::fromStdString(device.name);
      device_->addItem(tr("measured on %1").arg(name),
                       QString::fromStdString(measured_on(device.name).name));
    }
    if (measured && !measured->empty()) device_->insertSeparator(device_->count());
  }
  device_->addItem(tr("Other (a JSON file)..."));
}

// Peak and step as they were measured; resting the pointer says where, and how far the estimate is
// off.
void Scoreboard::show_measurement() {
  const MeasuredTimeline* m = document_.measured();
  if (m == nullptr) return measured_.box->hide();
  const std::int64_t step = m->measurement().step_ns, peak = m->peak_bytes();
  QStringList figures, lines{measurement_text(m->measurement())};
  if (peak > 0) {
    figures << bytes_text(peak);
    lines << tr("Peak memory: %1")
                 .arg(bytes_text_beside(peak, document_.analysis().memory.peak_bytes()));
  }
  if (step > 0) {
    figures << time_text(step);
    lines << tr("Step: %1").arg(times_text(step, document_.analysis().simulation.step_ns()));
  }
  measured_.value->setText(figures.isEmpty() ? tr("times of nodes")
                                             : figures.join(QStringLiteral(" · ")));
  measured_.box->setToolTip(lines.join(u'\n'));
  measured_.box->show();
}

void Scoreboard::show_change(const Metric& metric, std::int64_t from, std::int64_t to,
                             const QString& was, const QString& change) {
  const bool is_edited = document_.editing().is_edited() || planner_.held() != nullptr;
  metric.was->setVisible(is_edited);
  metric.change->setVisible(is_edited && from != to);
  if (!is_edited) return;
  metric.was->setText(tr("was %1").arg(was));
  const Theme& theme = Theme::of(palette());
  metric.change->setStyleSheet(QStringLiteral("color: ") +
                               (to < from ? theme.accent : theme.warning).name());
  metric.change->setText(change);
  const QString share = share_difference_text(from, to);
  metric.change->setToolTip(share.isEmpty() ? QString() : tr("%1 of the baseline").arg(share));
}

// Peak, step and exposed time: as they are, or with what is held where it is now.
void Scoreboard::show_figures() {
  const HeldMove* held = planner_.held();
  const Snapshot& shown = held == nullptr ? document_.snapshot() : *held->shown;
  const Metrics now = metrics_of(shown.graph, shown.analysis);
  const Figures figures = held == nullptr ? figures_of(now) : held->figures();
  const SnapshotPtr opened = document_.baseline();
  const Metrics was = metrics_of(opened->graph, opened->analysis);
  peak_.value->setText(bytes_text(figures.peak_bytes));
  step_.value->setText(time_text(figures.step_ns));
  exposed_.value->setText(time_text(figures.exposed_ns));
  show_change(peak_, was.peak_bytes, figures.peak_bytes, bytes_text(was.peak_bytes),
              bytes_difference_text(was.peak_bytes, figures.peak_bytes));
  show_change(step_, was.step_ns, figures.step_ns, time_text(was.step_ns),
              time_difference_text(was.step_ns, figures.step_ns));
  show_change(exposed_, was.exposed_ns, figures.exposed_ns, time_text(was.exposed_ns),
              time_difference_text(was.exposed_ns, figures.exposed_ns));
  const QString hidden = tr("hidden %1/%2").arg(now.hidden).arg(now.collectives);
  const bool is_edited = document_.editing().is_edited() || held != nullptr;
  exposed_.was->setText(
      is_edited ? tr("%1, was %2 (%3)").arg(hidden, time_text(was.exposed_ns)).arg(was.hidden)
                : hidden);
  exposed_.was->show();
}

void Scoreboard::refresh() {
  show_measurement();
  const Analysis& a = document_.analysis();
  const Simulation& s = a.simulation;
  show_figures();
  reserved_.box->setVisible(document_.graph().main_device() == DeviceType::cuda);
  reserved_.value->setText(bytes_text(a.reserved.peak_bytes));
  compute_.value->setText(time_text(s.compute_ns()));
  exposed_.box->setVisible(!s.collectives().empty());
  tokens_.box->setVisible(a.throughput.tokens_per_second.has_value());
  if (a.throughput.tokens_per_second)
    tokens_.value->setText(
        QString::fromStdString(format_significant(*a.throughput.tokens_per_second)));
  mfu_.box->setVisible(a.throughput.mfu.has_value());
  if (a.throughput.mfu)
    mfu_.value->setText(QString::fromStdString(format_percent(*a.throughput.mfu)));
  estimate_->setText(QString::fromStdString(a.estimator));
  const QString estimator = QString::fromStdString(a.options.estimator.name);
  int index =
      device_->findData(is_estimator(estimator) ? estimator : QString::fromStdString(a.device.id));
  if (index < 0 && is_estimator(estimator)) {
    // Measured, and the database is another one now: under what the estimate says of itself.
    device_->insertItem(0, QString::fromStdString(a.estimator), estimator);
    index = 0;
  } else if (index < 0) {
    // A device of one's own: shown under its name, remembered by its path.
    device_->insertItem(0, QString::fromStdString(a.device.name),
                        QString::fromStdString(a.options.estimator.device));
    index = 0;
  }
  device_->setCurrentIndex(index);
  optimizer_->setCurrentIndex(a.memory.options().optimizer == OptimizerState::adamw ? 1 : 0);
}

void Scoreboard::choose_device(int index) {
  QString device = device_->itemData(index).toString();
  if (device.isEmpty()) {
    device = QFileDialog::getOpenFileName(this, tr("Device description"), {},
                                          tr("Device descriptions (*.json)"));
    if (device.isEmpty()) return refresh();
  }
  AnalysisOptions options = document_.analysis().options;
  if (is_estimator(device)) {
    options.estimator.name = device.toStdString();
    options.estimator.device.clear();
  } else {
    if (is_estimator(QString::fromStdString(options.estimator.name)))
      options.estimator.name = EstimatorRequest().name;
    options.estimator.device = device.toStdString();
  }
  document_.analyze_with(options);
}

void Scoreboard::show_assumptions() {
  auto* dialog = new AssumptionsDialog(document_, this);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->open();
}

void Scoreboard::choose_optimizer(int index) {
  AnalysisOptions options = document_.analysis().options;
  options.memory.optimizer = index == 1 ? OptimizerState::adamw : OptimizerState::none;
  document_.analyze_with(options);
}

}  // namespace jointer::views
