#include "views/tune/tune_pane.h"

#include <QClipboard>
#include <QFileDialog>
#include <QGuiApplication>
#include <QHeaderView>
#include <QSplitter>
#include <limits>

#include "passes/built_in.h"
#include "passes/tune/auto_tune.h"
#include "views/session/document/document.h"
#include "views/session/edit/metrics.h"
#include "views/session/sac/sac_session.h"
#include "views/session/text/number_text.h"
#include "views/theme/spacing.h"
#include "views/widgets/controls.h"
#include "views/widgets/elided_label.h"
#include "views/widgets/fit_texts.h"
#include "views/widgets/flow_layout.h"

namespace jointer::views {
namespace {

constexpr int kDefaultSeconds = 30, kMaxSeconds = 86'400;
constexpr int kDefaultEvaluations = 200;
constexpr int kMinStepsHeight = 48;  // the header and one row

// The increase in step time and peak memory without this pipeline step.
QString loss_text(const TuneStep& step) {
  if (!step.ns_more) return QStringLiteral("–");
  QStringList parts;
  if (*step.ns_more != 0) parts << time_difference_text(0, *step.ns_more);
  if (*step.bytes_more != 0) parts << bytes_difference_text(0, *step.bytes_more);
  return parts.join(QStringLiteral(", "));
}

// A step's settings in one line.
QString settings_text(const StepFlags& step) {
  if (!step.reason.empty()) return TunePane::tr("none");
  if (step.settings.empty()) return TunePane::tr("default");
  QStringList settings;
  for (const std::string& setting : step.settings) settings << to_qstring(setting);
  return settings.join(QStringLiteral("; "));
}

QString form_text(TrainingForm form) {
  switch (form) {
    case TrainingForm::recipe:
      return TunePane::tr("Save Recipe...");
    case TrainingForm::pipeline:
      return TunePane::tr("Save Pipeline...");
    case TrainingForm::flags:
      break;
  }
  return TunePane::tr("Save Flags...");
}

// The names of the passes, without parameters: "raise_comms, sink_waits".
QString pass_names(const Pipeline& pipeline) {
  QStringList names;
  for (const PipelineStep& step : pipeline) names << to_qstring(step.pass);
  return names.join(QStringLiteral(", "));
}

}  // namespace

TunePane::TunePane(TuneSession& session, QWidget* parent) : QWidget(parent), session_(session) {
  QVBoxLayout* column = make_column(this, {}, 0);
  make_controls();
  hint_ =
      add_control(*column,
                  make_hint(tr("Tune searches for the pipeline of passes with the shortest step "
                               "time within the peak limit. Set the limit and press Start."),
                            this),
                  "hint");
  hint_->setContentsMargins(kMargin, 0, kMargin, kMargin);
  auto* halves = new QSplitter(Qt::Vertical, this);
  halves->setChildrenCollapsible(false);
  plot_ = new ParetoPlot(halves);
  plot_->set_hint(
      tr("The search tries orders, buckets and policies; each point shows the step time and peak "
         "memory of one pipeline."));
  plot_->set_plan_action(tr("Click to show this plan in the SAC pane."));
  make_steps();
  halves->addWidget(plot_);
  halves->addWidget(steps_);
  halves->setStretchFactor(0, 3);
  halves->setStretchFactor(1, 1);
  column->addWidget(halves, 1);
  setFocusProxy(start_);
  setAccessibleName(tr("Tune"));
  budget_->set_bytes(session_.limit());

  connect(start_, &QPushButton::clicked, this, &TunePane::start_or_stop);
  connect(apply_, &QPushButton::clicked, &session_, &TuneSession::apply_winner);
  connect(&session_, &TuneSession::limit_changed, this,
          [this] { budget_->set_bytes(session_.limit()); });
  connect(copy_, &QPushButton::clicked, this, [this] {
    if (const TuneResult* result = session_.result(); result != nullptr && result->winner)
      QGuiApplication::clipboard()->setText(to_qstring(to_text(result->winner->pipeline)));
  });
  connect(copy_flags_, &QPushButton::clicked, this, [this] {
    if (const TuneResult* result = session_.result(); result != nullptr && result->winner)
      QGuiApplication::clipboard()->setText(to_qstring(session_.flags().text()));
  });
  connect(plot_, &ParetoPlot::chosen, this, &TunePane::choose);
  connect(&session_.document().sac().pareto(), &ParetoSearch::changed, this,
          &TunePane::refresh_marks);
  connect(&session_, &TuneSession::changed, this, &TunePane::refresh);
  connect(&session_, &TuneSession::message, this, &TunePane::message);
  connect(&session_, &TuneSession::failed, this,
          [this](const QString& title, const QString& why) { show_warning(title, why, this); });
  refresh();
}

void TunePane::make_controls() {
  auto* controls = new QWidget(this);
  auto* row = new FlowLayout(controls, kMargin, 4);
  row->setContentsMargins(kMargin, 4, kMargin, 4);
  const auto add = [&](const QString& label, QWidget* control, const QString& tip) {
    row->addWidget(make_field(label, control, tip, controls));
  };
  const auto number = [&](const char* name, int min, int max, int value) {
    auto* box = new QSpinBox(controls);
    box->setObjectName(QLatin1String(name));
    box->setRange(min, max);
    box->setValue(value);
    return box;
  };
  start_ = add_control(*row, new QPushButton(controls), "start");
  fit_texts(*start_, {tr("Start"), tr("Stop")});
  budget_ = new ByteBox(controls);
  budget_->setObjectName(QStringLiteral("budget"));
  add(tr("Peak limit"), budget_, tr("Maximum peak memory of the result"));
  evaluations_ = number("evaluations", 1, std::numeric_limits<int>::max(), kDefaultEvaluations);
  add(tr("Candidates"), evaluations_, tr("Maximum number of pipelines to try"));
  seconds_ = number("seconds", 0, kMaxSeconds, kDefaultSeconds);
  seconds_->setSpecialValueText(tr("no limit"));
  seconds_->setSuffix(tr(" s"));
  add(tr("Time limit"), seconds_,
      tr("Maximum duration of the search. If time runs out, the result depends on how many "
         "candidates have been evaluated by then."));
  seed_ = number(nullptr, 0, std::numeric_limits<int>::max(), 0);
  add(tr("Seed"), seed_, tr("Seed for the random choice of candidates"));
  twin_groups_ = add_control(
      *row, new QCheckBox(tr("Twin Groups"), controls), "twin_groups",
      tr("Allow pipelines in which FSDP's all-gathers run in a twin of their process group "
         "(reassign_to_pg). Every rank must create the twin, and the estimates do not count the "
         "memory of its communicator. The SAC pane's searches allow this only if its own box is "
         "checked."));
  twin_groups_->setChecked(true);
  apply_ = add_control(*row, new QPushButton(tr("Apply Best"), controls), "apply");
  copy_ =
      add_control(*row, new QPushButton(tr("Copy as Pipeline"), controls), "copy",
                  tr("Copy the best pipeline in the form that `jointer apply --passes` accepts"));
  copy_flags_ = add_control(
      *row, new QPushButton(tr("Copy as Flags"), controls), "copy_flags",
      tr("Copy the settings with which torch and torchtitan run the passes of the best pipeline "
         "themselves. Steps that have none are listed with the reason."));
  save_ = add_control(*row, new QPushButton(controls), "save");
  fit_texts(*save_, {form_text(TrainingForm::recipe), form_text(TrainingForm::pipeline),
                     form_text(TrainingForm::flags)});
  connect(save_, &QPushButton::clicked, this, &TunePane::save_winner);
  status_ = add_control(*row, new QLabel(controls), "status");
  status_->setForegroundRole(QPalette::PlaceholderText);
  layout()->addWidget(controls);
  effect_ = make_text_label(this, kMargin, Qt::PlainText);
  effect_->setObjectName(QStringLiteral("effect"));
  layout()->addWidget(effect_);
  training_ = add_control(*layout(), new ElidedLabel(this), "training");
  training_->setContentsMargins(kMargin, 0, kMargin, 0);
}

void TunePane::make_steps() {
  steps_ = new QTreeWidget(this);
  steps_->setHeaderLabels(
      {tr("step of the best pipeline"), tr("without the step"), tr("setting in training")});
  steps_->setRootIsDecorated(false);
  steps_->setUniformRowHeights(true);
  steps_->setAccessibleName(tr("Steps of the best pipeline"));
  steps_->header()->setStretchLastSection(false);
  steps_->header()->setSectionResizeMode(0, QHeaderView::Stretch);
  steps_->header()->setSectionResizeMode(1, QHeaderView::ResizeToContents);
  steps_->header()->setSectionResizeMode(2, QHeaderView::Stretch);
  steps_->setMinimumHeight(kMinStepsHeight);
}

void TunePane::save_winner() {
  QString title, suffix;
  switch (session_.form(session_.flags())) {
    case TrainingForm::recipe:
      title = tr("Save Recipe");
      suffix = QStringLiteral(".recipe.json");
      break;
    case TrainingForm::pipeline:
      title = tr("Save Pipeline");
      suffix = QStringLiteral(".jointer-passes");
      break;
    case TrainingForm::flags:
      title = tr("Save Flags");
      suffix = QStringLiteral(".flags.txt");
      break;
  }
  const QString path = QFileDialog::getSaveFileName(
      this, title, session_.document().title() + suffix, QStringLiteral("*%1").arg(suffix));
  if (!path.isEmpty()) session_.write_winner(path);
}

TuneSettings TunePane::settings() const {
  TuneSettings settings;
  settings.budget = budget_->bytes();
  settings.evaluations = static_cast<std::size_t>(evaluations_->value());
  if (seconds_->value() > 0) settings.seconds = seconds_->value();
  settings.seed = static_cast<std::uint64_t>(seed_->value());
  settings.twin_groups = twin_groups_->isChecked();
  return settings;
}

void TunePane::start_or_stop() {
  if (session_.is_running()) return session_.stop();
  session_.start(settings());
}

QString TunePane::status_text() const {
  const TuneResult* result = session_.result();
  if (result == nullptr) return session_.is_running() ? tr("evaluating the graph...") : QString();
  QStringList parts{counted_text(result->evaluated, tr("1 candidate"), tr("%1 candidates"))};
  if (!result->winner) parts << tr("none fits within %1").arg(bytes_text(*result->budget));
  if (!session_.is_running() && session_.is_outdated())
    parts << tr("the graph has changed; search again");
  return parts.join(QStringLiteral(", "));
}

QString TunePane::effect_text() const {
  const TuneResult* result = session_.result();
  if (result == nullptr || !result->winner || session_.is_outdated()) return {};
  const TunePoint& best = *result->winner;
  if (best.pipeline.empty())
    return session_.is_running() ? tr("No faster pipeline has been found within the limit yet.")
                                 : tr("No faster pipeline was found within the limit.");
  const Figures &from = result->unedited.figures.figures, &to = best.figures.figures;
  const QString change = tr("step time %1 → %2, peak %3 → %4")
                             .arg(time_text(from.step_ns), time_text(to.step_ns),
                                  bytes_text(from.peak_bytes), bytes_text(to.peak_bytes));
  if (session_.is_winner_applied())
    return tr("The best pipeline is applied: %1. The History pane lists its edits; Undo reverts "
              "them one by one.")
        .arg(change);
  const QString what = session_.makes_a_pair()
                           ? tr("“Apply Best” runs %1 and opens the pair in a new tab: %2.")
                           : tr("“Apply Best” runs %1: %2.");
  return what.arg(pass_names(best.pipeline), change);
}

void TunePane::refresh() {
  const TuneResult* result = session_.result();
  const bool has_winner = result != nullptr && result->winner.has_value();
  start_->setText(session_.is_running() ? tr("Stop") : tr("Start"));
  apply_->setEnabled(has_winner && session_.can_apply() && !session_.is_winner_applied());
  const bool makes_a_pair = session_.makes_a_pair();
  apply_->setToolTip(makes_a_pair
                         ? tr("Open the pair in a new tab. The steps before the partitioner become "
                              "edits of this graph; those after it become edits of the pair.")
                         : tr("Add one edit per pipeline step; each can be undone"));
  copy_->setEnabled(has_winner);
  refresh_training();
  for (QWidget* control : {static_cast<QWidget*>(budget_), static_cast<QWidget*>(evaluations_),
                           static_cast<QWidget*>(seconds_), static_cast<QWidget*>(seed_),
                           static_cast<QWidget*>(twin_groups_)})
    control->setEnabled(!session_.is_running());
  hint_->setVisible(result == nullptr && !session_.is_running());
  steps_->setVisible(result != nullptr);
  status_->setText(status_text());
  effect_->setText(effect_text());
  effect_->setVisible(!effect_->text().isEmpty());
  status_->setToolTip(result == nullptr ? QString() : to_qstring(result->out_of_reach));
  refresh_marks();
  refresh_steps();
}

void TunePane::refresh_training() {
  const TuneResult* result = session_.result();
  const bool has_winner = result != nullptr && result->winner.has_value();
  copy_flags_->setEnabled(has_winner && !result->winner->pipeline.empty());
  save_->setEnabled(has_winner);
  training_->setVisible(has_winner);
  if (!has_winner) {
    save_->setText(
        form_text(session_.makes_a_pair() ? TrainingForm::pipeline : TrainingForm::recipe));
    save_->setToolTip(tr("Save the best pipeline for training"));
    return;
  }
  const TrainingFlags flags = session_.flags();
  const TrainingForm form = session_.form(flags);
  const QString why = session_.why(form, flags);
  QString how =
      tr("Save the edits that lead from the graph as opened to the best pipeline's "
         "result, for training code to apply.");
  if (form == TrainingForm::pipeline)
    how = tr("Save the pipeline. Run it with `jointer apply --passes`.");
  if (form == TrainingForm::flags) how = tr("Save the settings as text.");
  save_->setText(form_text(form));
  save_->setToolTip(how + u'\n' + why);
  training_->setText(why);
}

void TunePane::refresh_marks() {
  std::vector<ParetoMark> marks;
  plans_.clear();
  pipelines_.clear();
  const std::vector<ParetoPoint>& plans = session_.document().sac().pareto().points();
  for (std::size_t i = 0; i < plans.size(); ++i) {
    if (plans[i].name == ParetoSearch::kNow) continue;
    marks.push_back(mark_of(plans[i]));
    plans_.push_back(i);
  }
  if (const TuneResult* result = session_.result()) {
    const auto add = [&](ParetoKind kind, const QString& name, const TunePoint& point) {
      const Figures& f = point.figures.figures;
      marks.push_back({kind, name, f.peak_bytes, f.step_ns});
      pipelines_.push_back(point.pipeline);
    };
    for (const TunePoint& point : result->frontier)
      add(ParetoKind::pipeline, pass_names(point.pipeline), point);
    for (const TunePoint& preset : result->presets)
      add(ParetoKind::pipeline_preset, to_qstring(preset.name), preset);
    add(ParetoKind::now, tr("no pipeline"), result->unedited);
    if (result->winner) add(ParetoKind::tuned, tr("best"), *result->winner);
  }
  plot_->set_marks(std::move(marks));
}

void TunePane::choose(std::size_t mark) {
  if (mark >= plans_.size()) return session_.apply(pipelines_[mark - plans_.size()]);
  emit plan_wanted(session_.document().sac().pareto().points()[plans_[mark]]);
}

void TunePane::refresh_steps() {
  const TuneResult* result = session_.result();
  steps_->clear();
  if (result == nullptr) return;
  const PassRegistry registry = built_in_passes();
  const TrainingFlags flags = result->winner ? session_.flags() : TrainingFlags();
  for (std::size_t i = 0; i < result->steps.size(); ++i) {
    const TuneStep& step = result->steps[i];
    auto* item = new QTreeWidgetItem(steps_, {to_qstring(to_text(step.step)), loss_text(step)});
    if (i < flags.steps.size() && flags.steps[i].step == step.step) {
      const StepFlags& own = flags.steps[i];
      const QString text = settings_text(own);
      item->setText(2, text);
      item->setToolTip(2, own.reason.empty() ? text : to_qstring(own.reason));
    }
    item->setToolTip(1, to_qstring(gain_text(step)));
    if (const Pass* pass = registry.find(step.step.pass))
      item->setToolTip(0,
                       to_qstring(fmt::format("{}\n{}", to_text(step.step), pass->info.summary)));
  }
}

}  // namespace jointer::views
