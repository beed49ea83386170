#include "views/window/scoreboard.h"

#include <QFileDialog>
#include <QHBoxLayout>
#include <QRegularExpression>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "core/base/units.h"
#include "core/compiled/compiled_step.h"
#include "core/cost/cost_database.h"
#include "core/cost/device.h"
#include "core/cost/measured.h"
#include "core/cost/throughput.h"
#include "core/schedule/device_capacity.h"
#include "views/session/edit/editing.h"
#include "views/session/edit/move_planner.h"
#include "views/session/text/capacity_text.h"
#include "views/session/text/measured_text.h"
#include "views/session/text/number_text.h"
#include "views/theme/theme.h"
#include "views/widgets/controls.h"
#include "views/window/assumptions_dialog.h"
#include "views/window/estimates_dialog.h"
#include "views/window/guess_note.h"

namespace jointer::views {
namespace {

constexpr int kMetricSpacing = 26, kNarrowSpacing = 14, kNarrowestSpacing = 8;
constexpr int kBriefEstimator = 150;  // maximum width of the estimator's short name, in pixels

// Returns true if an entry of the device list names an estimator with measured costs instead of a
// device.
bool is_estimator(const QString& entry) {
  return entry.startsWith(QStringLiteral("measured"));
}

// The estimator's name without its device and topology, which the tooltip shows.
QString brief_estimator(const QString& estimator, const QFontMetrics& metrics) {
  static const QRegularExpression kEnd(QStringLiteral("[,;:]"));
  const qsizetype end = estimator.indexOf(kEnd);
  return metrics.elidedText(estimator.left(end), Qt::ElideRight, kBriefEstimator);
}

// The estimator without the execution, which another control shows.
QString estimator_text(const Snapshot& shown) {
  const Analysis& analysis = shown.analysis;
  QString text = to_qstring(analysis.estimator);
  const QString executed =
      QStringLiteral(", ") + to_qstring(execution_text(shown.graph, analysis.options.execution));
  if (text.endsWith(executed)) text.chop(executed.size());
  return text;
}

QString execution_tip(const Graph& graph, Execution execution) {
  const QString tip = Scoreboard::tr(
      "How the step is executed: operator by operator (Eager), or as kernels that Jointer predicts "
      "for torch's compiler. Regional compiles the marked calls, and Inductor the graph or each "
      "half of a pair; CUDA graph also launches all kernels at once. All numbers, the timeline and "
      "the memory are those of the chosen execution, except for plans of the SAC pane, which are "
      "estimated operator by operator. Previews of moves in a compiled step are approximate; after "
      "a move, the kernels are predicted again.");
  if (execution == Execution::eager) return tip;
  return tip + Scoreboard::tr("\nShown: %1").arg(to_qstring(execution_text(graph, execution)));
}

}  // namespace

Scoreboard::Scoreboard(Document& document, QWidget* parent)
    : QWidget(parent), document_(document), planner_(document.editing().planner()) {
  QHBoxLayout* layout = make_row(this, {12, 6, 12, 6}, kMetricSpacing);
  peak_ = add_figure(tr("Peak memory"),
                     tr("Maximum allocated memory, with a warning if it exceeds what the driver "
                        "and the process's context leave free on the device. Each storage is "
                        "counted once, with its size rounded up as by the device's allocator."));
  reserved_ = add_figure(
      tr("Reserved"),
      tr("Memory that the caching allocator would reserve on the device, estimated with a model of "
         "its block sizes, splitting and reuse. Peak memory is a lower bound. If only the reserved "
         "memory exceeds the available memory, the allocator frees unused blocks and tries again, "
         "which takes time and may fail."));
  step_ = add_figure(
      tr("Step"), tr("Estimated time of this graph on one rank, from a simulation of the CPU, the "
                     "compute stream, one stream per process group and one for copies to and from "
                     "the host: the sum of compute, exposed communication and waiting for the "
                     "CPU."));
  compute_ = add_figure(tr("Compute"),
                        tr("Sum of the estimated times of all kernels on the compute stream."));
  exposed_ =
      add_figure(tr("Exposed"), tr("Time during which the compute stream waits for collectives or "
                                   "for copies to or from the host, or during which these run "
                                   "after the last kernel; and the number of collectives hidden by "
                                   "compute."));
  host_ = add_figure(tr("CPU wait"), tr("Time during which the compute stream waits for the CPU to "
                                        "launch a kernel or to end the step."));
  tokens_ = add_figure(
      tr("Tokens/s"),
      tr("Throughput per device: local tokens per step divided by the step time and by the product "
         "of the tensor, context and pipeline parallel degrees."));
  mfu_ = add_figure(tr("MFU"), tr("Model FLOPs per second divided by the device's dense bf16 peak. "
                                  "Recomputation is not counted."));
  planned_ = new PlanFigure(document.sac(), this);
  layout->addWidget(planned_);
  measured_ = add_figure(tr("Measured"), {});
  layout->addStretch(1);

  make_settings();
  fill_devices();
  refresh();
  connect(device_, &QComboBox::activated, this, &Scoreboard::choose_device);
  connect(optimizer_, &QComboBox::activated, this, &Scoreboard::choose_optimizer);
  connect(execution_, &QComboBox::activated, this, &Scoreboard::choose_execution);
  connect(estimate_, &QToolButton::clicked, this, &Scoreboard::choose_estimates);
  connect(guess_, &GuessNote::clicked, this, &Scoreboard::choose_estimates);
  connect(&document_, &Document::changed, this, &Scoreboard::refresh);
  connect(&document_, &Document::failed, this, &Scoreboard::refresh);
  const auto follow_block = [this] {
    show_figures();
    fit_width();
  };
  connect(&planner_, &MovePlanner::held_changed, this, follow_block);
  connect(&planner_, &MovePlanner::moved, this, follow_block);
  connect(planned_, &PlanFigure::refreshed, this, &Scoreboard::fit_width);
  connect(&document_, &Document::measurement_changed, this, &Scoreboard::show_measurement);
  connect(&document_, &Document::costs_changed, this, [this] {
    fill_devices();
    refresh();
  });
  connect(&document_, &Document::busy_changed, this,
          [this](bool busy) { estimate_->setEnabled(!busy); });
}

// The execution, the optimizer, the device and the sizes in one row, and the estimator below them.
void Scoreboard::make_settings() {
  auto* settings = new QVBoxLayout;
  settings->setSpacing(2);
  devices_ = new QHBoxLayout;
  devices_->setSpacing(6);
  device_ = new QComboBox(this);
  device_->setToolTip(tr("All estimates are for this device: its compute, memory and links"));
  device_->setAccessibleName(tr("Device of the estimates"));
  device_->setObjectName(QStringLiteral("device"));
  device_label_ = new QLabel(tr("Estimates for"), this);
  device_label_->setObjectName(QStringLiteral("device_label"));
  device_label_->setForegroundRole(QPalette::PlaceholderText);
  optimizer_ = new QComboBox(this);
  optimizer_->addItems({tr("No optimizer state"), tr("AdamW fp32 state")});
  optimizer_->setToolTip(tr("Optimizer state, counted as permanent memory"));
  optimizer_->setAccessibleName(tr("Optimizer state"));
  optimizer_->setObjectName(QStringLiteral("optimizer"));
  auto* sizes = new QToolButton(this);
  sizes->setText(tr("Sizes"));
  sizes->setToolTip(tr(
      "Show or change the values assumed for symbolic sizes, such as the number of tokens routed "
      "to an expert"));
  sizes->setVisible(!document_.graph().symbols().empty());
  connect(sizes, &QToolButton::clicked, this, &Scoreboard::show_assumptions);
  execution_ = new QComboBox(this);
  const auto add_execution = [this](const QString& name, Execution execution) {
    execution_->addItem(name, static_cast<int>(execution));
  };
  add_execution(tr("Eager"), Execution::eager);
  add_execution(tr("Regional"), Execution::regional);
  add_execution(tr("Inductor"), Execution::inductor);
  add_execution(tr("CUDA graph"), Execution::cudagraph);
  execution_->setAccessibleName(tr("Execution"));
  execution_->setObjectName(QStringLiteral("execution"));
  devices_->addWidget(execution_);
  devices_->addWidget(optimizer_);
  devices_->addWidget(device_label_);
  devices_->addWidget(device_);
  devices_->addWidget(sizes);
  settings->addLayout(devices_);
  estimates_ = new QHBoxLayout;
  estimates_->setSpacing(6);
  estimates_->addStretch(1);
  estimate_ = new QToolButton(this);
  estimate_->setObjectName(QStringLiteral("estimates"));
  estimate_->setAutoRaise(true);
  estimates_->addWidget(estimate_);
  // The note is shown instead of the estimator's name; both open the settings of the estimates.
  guess_ = new GuessNote(document_, this);
  estimates_->addWidget(guess_);
  connect(guess_, &GuessNote::appeared, this, [this](bool is_shown) {
    estimate_->setHidden(is_shown);
    fit_width();
  });
  settings->addLayout(estimates_);
  static_cast<QHBoxLayout*>(layout())->addLayout(settings);
}

FigureBox* Scoreboard::add_figure(const QString& name, const QString& how) {
  auto* figure = new FigureBox(name, how, this);
  figure->setProperty("how", how);
  static_cast<QHBoxLayout*>(layout())->addWidget(figure);
  return figure;
}

void Scoreboard::fill_devices() {
  device_->clear();
  for (const std::string_view id : device_ids()) {
    const auto device = load_device(id);
    if (device) device_->addItem(to_qstring(device->name), to_qstring(device->id));
  }
  device_->insertSeparator(device_->count());
  // Add the devices with costs measured by benchmarks and traces, if the database can be read.
  if (const auto database = CostDatabase::open(CostDatabase::default_path())) {
    const auto measured = database->devices();
    for (const MeasuredDevice& device : measured ? *measured : std::vector<MeasuredDevice>()) {
      const QString name = to_qstring(device.name);
      device_->addItem(tr("measured on %1").arg(name), to_qstring(measured_on(device.name).name));
    }
    if (measured && !measured->empty()) device_->insertSeparator(device_->count());
  }
  device_->addItem(tr("Other (JSON File)..."));
}

// Shows the measured peak and step time. The tooltip names the measurement and shows the ratios of
// measured to estimated numbers.
void Scoreboard::show_measurement() {
  const MeasuredTimeline* m = document_.measured();
  if (m == nullptr) {
    measured_->hide();
    return fit_width();
  }
  const std::int64_t step = m->measurement().step_ns, peak = m->peak_bytes();
  QStringList figures, lines{measurement_text(m->measurement())};
  if (peak > 0) {
    figures << bytes_text(peak);
    lines << tr("Peak memory: %1")
                 .arg(measured_bytes_text(peak, document_.analysis().memory.peak_bytes()));
  }
  if (step > 0) {
    figures << time_text(step);
    lines << tr("Step: %1").arg(times_text(step, document_.analysis().simulation.step_ns()));
  }
  measured_->value().setText(figures.isEmpty() ? tr("node times only")
                                               : figures.join(QStringLiteral(" · ")));
  measured_->explain(lines.join(u'\n'));
  measured_->show();
  fit_width();
}

void Scoreboard::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  fit_width();
}

void Scoreboard::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  fit_width();
}

void Scoreboard::fit_width() {
  if (!isVisible()) return;  // the width is not known yet
  const bool is_moving = planner_.held() != nullptr || document_.sac().shown_preview();
  int step = is_moving ? static_cast<int>(shortening_) : 0;
  for (; step <= static_cast<int>(Shortening::measured); ++step) {
    shorten(static_cast<Shortening>(step));
    if (needed_width() <= width()) return;
  }
}

// Nested layouts forward changes of their contents only in the next turn of the event loop, so
// activate them first.
int Scoreboard::needed_width() const {
  for (const FigureBox* figure : findChildren<FigureBox*>()) figure->layout()->activate();
  layout()->activate();
  return layout()->minimumSize().width();
}

void Scoreboard::shorten(Shortening shortening) {
  shortening_ = shortening;
  const auto reaches = [shortening](Shortening step) { return shortening >= step; };
  layout()->setSpacing(reaches(Shortening::narrowest_gaps) ? kNarrowestSpacing
                       : reaches(Shortening::narrow_gaps)  ? kNarrowSpacing
                                                           : kMetricSpacing);
  device_label_->setVisible(!reaches(Shortening::device_label));
  const bool has_plan = !planned_->isHidden();
  const bool has_rates = !reaches(has_plan ? Shortening::rates_beside_plan : Shortening::rates);
  tokens_->setVisible(has_rates);
  mfu_->setVisible(has_rates);
  planned_->leave_out(reaches(Shortening::plan_details), reaches(Shortening::plan_change));
  planned_->shorten_terms(reaches(Shortening::plan_terms));
  // The plan's box has a line more than the others; their first lines are level.
  const Qt::Alignment place = has_plan ? Qt::AlignTop : Qt::AlignVCenter;
  for (FigureBox* figure : findChildren<FigureBox*>())
    if (layout()->itemAt(layout()->indexOf(figure))->alignment() != place)
      layout()->setAlignment(figure, place);
  for (FigureBox* figure : {peak_, step_, exposed_})
    figure->leave_out(reaches(Shortening::earlier_values), false);
  const bool is_cuda = document_.graph().main_device() == DeviceType::cuda;
  reserved_->setVisible(is_cuda && !reaches(Shortening::reserved));
  const bool is_measured = document_.measured() != nullptr;
  measured_->setVisible(is_measured && !reaches(Shortening::measured));
  const auto note = [](const FigureBox& figure, const QString& text) {
    return figure.isHidden() ? QStringLiteral("%1: %2").arg(figure.name(), text) : QString();
  };
  QStringList reserved{reserved_->value().text(), reserved_->warning().text()};
  reserved.removeAll(QString());
  peak_->set_note(is_cuda ? note(*reserved_, reserved.join(QStringLiteral(", "))) : QString());
  QStringList lines{note(*tokens_, tokens_->value().text()), note(*mfu_, mfu_->value().text())};
  if (is_measured) lines << note(*measured_, measured_->value().text());
  lines.removeAll(QString());
  step_->set_note(lines.join(u'\n'));
  // The settings are narrower with the optimizer in the second row.
  const bool is_stacked = reaches(Shortening::settings);
  QHBoxLayout* row = is_stacked ? estimates_ : devices_;
  if (row->indexOf(optimizer_) < 0) {
    (is_stacked ? devices_ : estimates_)->removeWidget(optimizer_);
    row->insertWidget(is_stacked ? 0 : 1, optimizer_);
  }
  const QString estimator = estimator_text(document_.snapshot());
  estimate_->setText(is_stacked ? brief_estimator(estimator, estimate_->fontMetrics()) : estimator);
  guess_->set_brief(is_stacked);
}

// The box already shows its current value.
void Scoreboard::show_change(FigureBox& figure, std::int64_t from, std::int64_t to,
                             const QString& was, const QString& change) {
  if (document_.editing().is_edited() || planner_.held() != nullptr)
    figure.show_change(from, to, was == figure.value().text() ? QString() : tr("was %1").arg(was),
                       change);
  else
    figure.hide_change();
}

// Shows the numbers of the graph, with a held block at its current position. Numbers that a preview
// lacks are grayed out until the graph with the block at this position has been analyzed.
void Scoreboard::show_figures() {
  const HeldMove* held = planner_.held();
  const Snapshot& shown = held == nullptr ? document_.snapshot() : *held->shown;
  const Analysis& a = shown.analysis;
  const Metrics now = metrics_of(shown.graph, a);
  const Figures figures = held == nullptr ? figures_of(now) : held->figures();
  const SnapshotPtr opened = document_.baseline();
  const Metrics was = metrics_of(opened->graph, opened->analysis);
  peak_->value().setText(bytes_text(figures.peak_bytes));
  peak_->show_warning(over_capacity_text(figures.peak_bytes, a.device));
  reserved_->value().setText(bytes_text(now.reserved_bytes));
  // A peak that does not fit has the warning already.
  const bool fits = bytes_over_capacity(figures.peak_bytes, a.device) == 0;
  reserved_->show_warning(fits ? over_capacity_text(now.reserved_bytes, a.device) : QString());
  step_->value().setText(time_text(figures.step_ns));
  compute_->value().setText(time_text(now.compute_ns));
  exposed_->value().setText(time_text(figures.exposed_ns));
  // Moves do not change the compute time. The difference can be negative while a compiled step is
  // previewed, since its step time is then approximate.
  host_->value().setText(
      time_text(std::max<std::int64_t>(figures.step_ns - now.compute_ns - figures.exposed_ns, 0)));
  show_change(*peak_, was.peak_bytes, figures.peak_bytes, bytes_text(was.peak_bytes),
              bytes_difference_text(was.peak_bytes, figures.peak_bytes));
  show_change(*step_, was.step_ns, figures.step_ns, time_text(was.step_ns),
              time_difference_text(was.step_ns, figures.step_ns));
  show_change(*exposed_, was.exposed_ns, figures.exposed_ns, time_text(was.exposed_ns),
              time_difference_text(was.exposed_ns, figures.exposed_ns));
  // Without edits, the graph as opened is also the one that is shown.
  const auto hidden_text = [](const Metrics& of) {
    return tr("%1/%2").arg(count_text(of.hidden), count_text(of.collectives));
  };
  const QString hidden = hidden_text(now), hidden_before = hidden_text(was);
  QStringList beside{exposed_->was().text(), tr("hidden %1").arg(hidden)};
  if (hidden != hidden_before) beside.back() += tr(" (was %1)").arg(hidden_before);
  beside.removeAll(QString());
  exposed_->set_was(beside.join(tr(", ")));
  // The numbers of the plan do not follow a held block.
  planned_->setEnabled(held == nullptr || held->gap == held->preview.current());
  const bool is_analyzed = held == nullptr || held->is_shown();
  reserved_->setEnabled(is_analyzed);
  exposed_->was().setEnabled(is_analyzed);
  const Throughput rates = throughput(a.model, a.total_flops.total, figures.step_ns, a.device);
  show_rate(*tokens_, rates.tokens_per_second, format_significant,
            unknown_tokens(shown.graph, a.model, rates));
  show_rate(*mfu_, rates.mfu, format_percent, unknown_mfu(shown.graph, a.model, rates));
}

void Scoreboard::show_rate(FigureBox& figure, std::optional<double> rate,
                           std::string (*format)(double), const UnknownRate& unknown) {
  const QString how = figure.property("how").toString();
  figure.value().setText(rate ? to_qstring(format(*rate)) : QStringLiteral("\u2013"));
  figure.set_was(rate ? QString() : to_qstring(unknown.brief));
  figure.explain(rate ? how : how + u'\n' + to_qstring(unknown.sentence));
}

void Scoreboard::refresh() {
  show_measurement();
  const Analysis& a = document_.analysis();
  show_figures();
  reserved_->setVisible(document_.graph().main_device() == DeviceType::cuda);
  exposed_->setVisible(!a.simulation.collectives().empty());
  estimate_->setText(estimator_text(document_.snapshot()));
  estimate_->setToolTip(
      to_qstring(a.estimator) + u'\n' +
      tr("Choose the estimator, the number of GPUs per node, and the placement of process groups "
         "that the capture does not describe"));
  const QString estimator = to_qstring(a.options.estimator.name);
  int index = device_->findData(is_estimator(estimator) ? estimator : to_qstring(a.device.id));
  if (index < 0 && is_estimator(estimator)) {
    // The database has changed since the estimate was made, so list the estimator under its own
    // name.
    device_->insertItem(0, to_qstring(a.estimator), estimator);
    index = 0;
  } else if (index < 0) {
    // The user's own device is shown by name and stored by path.
    device_->insertItem(0, to_qstring(a.device.name), to_qstring(a.options.estimator.device));
    index = 0;
  }
  device_->setCurrentIndex(index);
  optimizer_->setCurrentIndex(a.memory.options().optimizer == OptimizerState::adamw ? 1 : 0);
  const Execution execution = a.options.execution;
  execution_->setCurrentIndex(execution_->findData(static_cast<int>(execution)));
  execution_->setToolTip(execution_tip(document_.graph(), execution));
  fit_width();
}

void Scoreboard::choose_device(int index) {
  QString device = device_->itemData(index).toString();
  if (device.isEmpty()) {
    device = QFileDialog::getOpenFileName(this, tr("Open Device Description"), {},
                                          tr("Device descriptions (*.json)"));
    if (device.isEmpty()) return refresh();
  }
  AnalysisOptions options = document_.wanted_options();
  if (is_estimator(device)) {
    options.estimator.name = device.toStdString();
    options.estimator.device.clear();
  } else {
    if (is_estimator(to_qstring(options.estimator.name)))
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

void Scoreboard::choose_estimates() {
  auto* dialog = new EstimatesDialog(document_, this);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->open();
}

void Scoreboard::choose_execution(int index) {
  AnalysisOptions options = document_.wanted_options();
  options.execution = static_cast<Execution>(execution_->itemData(index).toInt());
  document_.analyze_with(options);
}

void Scoreboard::choose_optimizer(int index) {
  AnalysisOptions options = document_.wanted_options();
  options.memory.optimizer = index == 1 ? OptimizerState::adamw : OptimizerState::none;
  document_.analyze_with(options);
}

}  // namespace jointer::views
