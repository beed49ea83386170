#include "views/sac/sac_bar.h"

#include <QAbstractItemView>
#include <algorithm>

#include "core/policy/check_tags.h"
#include "core/policy/with_fsdp.h"
#include "views/sac/policy_exchange.h"
#include "views/session/open/open_graph.h"
#include "views/session/text/node_text.h"
#include "views/session/text/number_text.h"
#include "views/theme/spacing.h"
#include "views/widgets/controls.h"
#include "views/widgets/flow_layout.h"

namespace jointer::views {
namespace {

constexpr int kSolverLetters = 6;
constexpr int kBarMargin = 4, kCompactBarMargin = 1;  // above and below the controls

}  // namespace

SacBar::SacBar(SacSession& session, QWidget* parent) : QWidget(parent), session_(session) {
  auto* row = new FlowLayout(this, kNarrowMargin, 4);
  row->setContentsMargins(kMargin, kBarMargin, kMargin, kBarMargin);
  partitioner_ = add_control(
      *row, new QComboBox(this), "partitioner",
      tr("min_cut: torch's min_cut_rematerialization_partition, which recomputes cheap values.\n"
         "default: torch's default_partition, which saves all values that the backward reads, "
         "unless tagged otherwise."),
      tr("Partitioner"));
  partitioner_->addItem(tr("min_cut"), static_cast<int>(Partitioner::min_cut));
  partitioner_->addItem(tr("default"), static_cast<int>(Partitioner::default_partition));
  ignore_tags_ = new QToolButton(this);
  ignore_tags_->setText(tr("Ignore Tags"));
  ignore_tags_->setCheckable(true);
  ignore_tags_->setToolTip(tr("Solve without tags and without your choices"));
  row->addWidget(ignore_tags_);
  connect(ignore_tags_, &QToolButton::toggled, this, &SacBar::try_settings);
  solver_ = add_control(
      *row, new QComboBox(this), "solver",
      tr("torch's activation_memory_budget_solver: decides, for budgets between 0 and 1, which "
         "values are worth saving"),
      tr("Knapsack solver"));
  const auto add_solver = [this](KnapsackSolver solver, const QString& what) {
    solver_->addItem(to_qstring(to_string(solver)), static_cast<int>(solver));
    solver_->setItemData(solver_->count() - 1, what, Qt::ToolTipRole);
  };
  add_solver(KnapsackSolver::dp, tr("exact except for rounding; torch's default"));
  add_solver(KnapsackSolver::greedy, tr("most FLOPs per byte first"));
  add_solver(KnapsackSolver::sliding_hirschberg,
             tr("like dp, but the solver itself uses less memory: torch's "
                "dp_knapsack_sliding_hirschberg"));
  add_solver(
      KnapsackSolver::knee_point,
      tr("stops where more memory would avoid only a little recomputation, so it may use less "
         "than the budget: torch's dynamic_memory_budget_dp"));
  solver_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  solver_->setMinimumContentsLength(kSolverLetters);
  solver_->view()->setMinimumWidth(solver_->view()->sizeHintForColumn(0) + kMargin);
  budget_ = new BudgetControl(this);
  row->addWidget(budget_);
  solve_ = add_control(
      *row, new QPushButton(tr("Solve"), this), "solve",
      tr("Partition again with these settings, using your choices as tags. For a flat training "
         "step, set the tags of the plan for this budget.\n"
         "With a limit, search for the fastest plan within it, and use it."));
  solve_->setFixedWidth(std::max(fontMetrics().horizontalAdvance(solve_->text()),
                                 fontMetrics().horizontalAdvance(tr("Cancel"))) +
                        3 * kMargin);
  of_partitioner_ = {partitioner_, ignore_tags_};
  apply_tags_ = add_control(
      *row, new QPushButton(tr("Apply Tags"), this), "apply_tags",
      tr("Edit the graph to match the training step shown: offload and recompute values as tagged, "
         "and run the passes of the plan's order, if it has one. Each edit becomes one history "
         "entry."));
  connect(apply_tags_, &QPushButton::clicked, &session_, &SacSession::apply_tags);
  more_ = new QWidget(this);
  QHBoxLayout* more = make_row(more_, {0, 0, 4, 0}, 2);
  const auto add_button = [&](const QString& text, const QString& tip) {
    auto* button = new QToolButton(more_);
    button->setText(text);
    button->setToolTip(tip);
    button->setAutoRaise(true);
    more->addWidget(button);
    return button;
  };
  const auto add_menu = [&](const QString& text, const QString& tip, QMenu* menu) {
    QToolButton* button = add_button(text + kMenuArrow, tip);
    open_menu(*button, menu);
    return button;
  };
  presets_ =
      add_menu(tr("Presets"), tr("Tag nodes according to torchtitan's operator set or policies"),
               make_presets());
  exchange_ = add_menu(tr("Exchange"), tr("Export or import policies, or open the plan as a pair"),
                       make_exchange());
  connect(partitioner_, &QComboBox::currentIndexChanged, this, &SacBar::try_settings);
  connect(solver_, &QComboBox::currentIndexChanged, this, &SacBar::try_settings);
  connect(budget_, &BudgetControl::unit_changed, this, [this] {
    session_.pareto().stop_trying();
    session_.clear_preview();
    if (budget_->limit()) session_.pareto().set_memory(budget_->memory());
    enable_controls();
    fit_slider();  // the field for a limit has another width
  });
  connect(&session_.pareto(), &ParetoSearch::memory_changed, this,
          [this] { budget_->set_memory(session_.pareto().memory()); });
  connect(budget_, &BudgetControl::tried, this, &SacBar::try_settings);
  connect(budget_, &BudgetControl::chosen, this, &SacBar::solve);
  connect(solve_, &QPushButton::clicked, this, &SacBar::solve_or_cancel);
  connect(&session_.pareto(), &ParetoSearch::changed, this, &SacBar::show_search);
  connect(&session_.pareto(), &ParetoSearch::tried, this, [this](const Fit& fit) {
    if (limit()) session_.preview_fit(fit);
  });
  connect(&session_, &SacSession::changed, this, &SacBar::refresh);
  connect(&session_.reserved(), &PlanReserved::changed, this, &SacBar::show_bytes);
  refresh();
}

void SacBar::set_compact(bool compact) {
  const int margin = compact ? kCompactBarMargin : kBarMargin;
  layout()->setContentsMargins(kMargin, margin, kMargin, margin);
}

void SacBar::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  fit_slider();
}

void SacBar::fit_slider() {
  int others = 2 * kMargin;
  for (int i = 0; i < layout()->count(); ++i) {
    const QWidget* control = layout()->itemAt(i)->widget();
    if (control != budget_ && !control->isHidden())
      others += control->sizeHint().width() + kNarrowMargin;
  }
  budget_->fit(width(), width() - others);
}

SolveSettings SacBar::settings() const {
  return {.partitioner = static_cast<Partitioner>(partitioner_->currentData().toInt()),
          .ignore_tags = ignore_tags_->isChecked(),
          .activation_budget = budget_->budget(),
          .solver = static_cast<KnapsackSolver>(solver_->currentData().toInt())};
}

// If the plan was solved again, shows its settings in the controls.
void SacBar::refresh() {
  const SacStatePtr state = session_.state();
  setVisible(state && state->can_change());
  more_->setVisible(state && state->can_change());
  if (state) show_kind(*state);
  show_bytes();
  fit_slider();
  if (state && state->is_step() && state->step != shown_step_) show_step(*state);
  if (!state || state->base == shown_ || !state->base) return;
  shown_ = state->base;
  const SolveSettings& settings = shown_->settings;
  is_refreshing_ = true;
  partitioner_->setCurrentIndex(partitioner_->findData(static_cast<int>(settings.partitioner)));
  ignore_tags_->setChecked(settings.ignore_tags);
  solver_->setCurrentIndex(solver_->findData(static_cast<int>(settings.solver)));
  budget_->show_budget(settings.activation_budget);
  is_refreshing_ = false;
  enable_controls();
}

// Resets the controls: the plan of a flat training step is a set of tags, without settings.
void SacBar::show_step(const SacState& state) {
  shown_step_ = state.step;
  is_refreshing_ = true;
  partitioner_->setCurrentIndex(partitioner_->findData(static_cast<int>(Partitioner::min_cut)));
  ignore_tags_->setChecked(false);
  budget_->show_budget(SolveSettings().activation_budget);
  is_refreshing_ = false;
  enable_controls();
}

// Also called if the plan has changed without being solved again. Limits range up to the memory of
// the joint graph, or of the training step without tags, unless the plan uses more.
void SacBar::show_bytes() {
  const SacStatePtr state = session_.state();
  if (!state || !state->can_change()) return;
  const Analysis& analysis =
      state->is_step() ? state->step->snapshot->analysis : state->snapshot->analysis;
  const auto range = [&](std::int64_t plan, std::int64_t max) {
    return BudgetControl::Bytes{
        .plan = plan, .min = analysis.memory.static_bytes(), .max = std::max(plan, max)};
  };
  std::optional<BudgetControl::Bytes> reserved;
  // Until the plan's reserved bytes are known, use its peak, since no plan reserves less than it
  // allocates.
  const std::int64_t peak = state->figures.figures.peak_bytes;
  if (has_reserved(*state))
    reserved = range(session_.reserved().bytes().value_or(peak), analysis.reserved.peak_bytes);
  budget_->show_bytes(range(peak, analysis.memory.peak_bytes()), reserved);
}

void SacBar::show_kind(const SacState& state) {
  for (QWidget* control : of_partitioner_) control->setVisible(!state.is_step());
  pair_->setVisible(!state.is_step());
  apply_tags_->setVisible(state.is_step());
  apply_tags_->setEnabled(state.applied_tags.any || !state.applied_tags.refusal.empty() ||
                          !state.order.empty());
}

// Budgets apply only to min_cut. A search within a limit respects tags and uses no solver.
void SacBar::enable_controls() {
  const bool is_min_cut = settings().partitioner == Partitioner::min_cut;
  solver_->setEnabled(is_min_cut && !limit());
  ignore_tags_->setEnabled(!limit());
  budget_->setEnabled(is_min_cut);
}

std::optional<std::int64_t> SacBar::limit() const {
  return settings().partitioner == Partitioner::min_cut ? budget_->limit() : std::nullopt;
}

// Previews the plan for the settings. If there is a limit, previews the fastest known plan within
// it immediately, then the plan that the search finds.
void SacBar::try_settings() {
  if (is_refreshing_) return;
  enable_controls();
  ParetoSearch& search = session_.pareto();
  const auto limit = this->limit();
  const SacStatePtr state = session_.state();
  if (!limit || !state) {
    search.stop_trying();
    return session_.preview_solving(settings());
  }
  if (const ParetoPoint* known = search.fastest_known(state, *limit))
    session_.preview_fit({.point = *known, .fits = true});
  search.try_fastest(state, *limit);
}

// If there is a limit, starts a search; ParetoPage applies the plan that it finds.
void SacBar::solve() {
  const auto limit = this->limit();
  if (!limit) return session_.solve(settings());
  const SacStatePtr state = session_.state();
  if (!state || !state->can_change()) return;
  emit message(tr("Searching for the fastest plan within %1...").arg(bytes_text(*limit)));
  session_.pareto().find_fastest(state, *limit);
}

void SacBar::solve_or_cancel() {
  if (session_.pareto().is_finding()) return session_.pareto().cancel();
  solve();
}

void SacBar::show_search() {
  solve_->setText(session_.pareto().is_finding() ? tr("Cancel") : tr("Solve"));
}

// --- Presets ---

QMenu* SacBar::make_presets() {
  auto* menu = new QMenu(this);
  menu->setToolTipsVisible(true);
  const auto add = [&](const QString& text, const QString& tip, auto make) {
    QAction* entry = menu->addAction(text, this, [this, make] {
      apply(make(session_.open_graph().graph(), session_.open_graph().baseline()->graph));
    });
    entry->setToolTip(tip);
    preset_list_.push_back({entry, tip, make});
  };
  const auto named = [](std::string name) {
    return [name = std::move(name)](const Graph& now, const Graph& opened) {
      return preset_with_fsdp(now, name, fsdp_policy(opened));
    };
  };
  const auto gathered = [](bool reshard) {
    return
        [reshard](const Graph& now, const Graph&) { return fsdp_reshard_after_fwd(now, reshard); };
  };
  add(tr("apply_sac"), tr("torchtitan's list: saves expensive results and every second matmul"),
      named(kApplySac));
  menu->addSeparator();
  for (const MemoryPolicyPreset& preset : memory_policy_presets())
    add(tr("Policy “%1”").arg(to_qstring(preset.name)), to_qstring(preset.summary),
        named(preset.name));
  menu->addSeparator();
  add(tr("Recompute Gathered Parameters"), tr("fsdp_reshard_after_fwd: always"), gathered(true));
  add(tr("Save Gathered Parameters"), tr("fsdp_reshard_after_fwd: never"), gathered(false));
  add(tr("Remove All Tags"), tr("Remove the tags from all nodes"),
      [](const Graph& now, const Graph&) { return remove_tags(now); });
  connect(menu, &QMenu::aboutToShow, this, &SacBar::check_presets);
  return menu;
}

void SacBar::check_presets() {
  const SnapshotPtr now = session_.open_graph().shared_snapshot();
  if (std::exchange(checked_, now) == now) return;
  for (const Preset& preset : preset_list_) {
    preset.action->setEnabled(true);
    preset.action->setToolTip(preset.tip);
  }
  std::vector<MakeTags> makes;
  for (const Preset& preset : preset_list_) makes.push_back(preset.make);
  const auto check = [now, opened = session_.open_graph().baseline(),
                      makes = std::move(makes)](const Cancellation& job) {
    std::vector<QString> reasons;
    for (const MakeTags& make : makes) {
      if (job.is_cancelled()) break;
      const Result<void> checked = make(now->graph, opened->graph).and_then([&](const Edit& edit) {
        return check_tags(now->graph, edit);
      });
      reasons.push_back(checked ? QString() : to_qstring(checked.error().message));
    }
    return reasons;
  };
  checking_.start(check, [this](const Result<std::vector<QString>>& reasons) {
    for (std::size_t i = 0; reasons && i < reasons->size(); ++i) {
      if ((*reasons)[i].isEmpty()) continue;
      preset_list_[i].action->setEnabled(false);
      preset_list_[i].action->setToolTip(tr("Cannot be applied: %1.").arg((*reasons)[i]));
    }
  });
}

void SacBar::apply_preset(const QString& name, const SolveSettings& settings) {
  const OpenGraph& document = session_.open_graph();
  apply(preset_with_fsdp(document.graph(), name.toStdString(),
                         fsdp_policy(document.baseline()->graph)),
        settings);
}

// Solves without `ignore_tags`, which would ignore the tags of the preset, too.
void SacBar::apply(const Result<Edit>& edit, SolveSettings settings) {
  if (!edit) return emit message(to_qstring(edit.error().message));
  settings.ignore_tags = false;
  session_.apply_and_solve(*edit, settings);
}

QMenu* SacBar::make_exchange() {
  auto* exchange = new PolicyExchange(session_, this);
  connect(exchange, &PolicyExchange::message, this, &SacBar::message);
  QMenu* menu = exchange->menu();
  menu->setToolTipsVisible(true);
  pair_ = menu->addAction(tr("Open as Pair"), this, &SacBar::pair_wanted);
  pair_->setToolTip(tr(
      "Open the forward and backward graphs for this plan in a new tab, to run, compare, edit or "
      "export them. If a search found an order for the plan, they are in that order."));
  return menu;
}

}  // namespace jointer::views
