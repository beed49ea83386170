#include "views/sac/pareto_page.h"

#include <algorithm>

#include "core/policy/decider.h"
#include "views/session/document/document.h"
#include "views/session/edit/editing.h"
#include "views/session/edit/metrics.h"
#include "views/session/text/number_text.h"
#include "views/theme/spacing.h"
#include "views/widgets/controls.h"
#include "views/widgets/fit_texts.h"
#include "views/widgets/flow_layout.h"

namespace jointer::views {
namespace {

constexpr double kMaxPercent = 1'000, kUsualPercent = 5;

}  // namespace

ParetoPage::ParetoPage(SacSession& session, SacBar& bar, QWidget* parent)
    : QWidget(parent), session_(session), bar_(bar), search_(session.pareto()) {
  QVBoxLayout* column = make_column(this, {}, 0);
  auto* controls = new QWidget(this);
  auto* row = new FlowLayout(controls, kMargin, 4);
  row->setContentsMargins(kMargin, 4, kMargin, 4);
  start_ = add_control(*row, new QPushButton(controls), "start");
  fit_texts(*start_, {tr("Compute Trade-off"), tr("Compute Again"), tr("Cancel")});
  const auto add_label = [&](const QString& text) { row->addWidget(new QLabel(text, controls)); };
  peak_only_ = new QLabel(tr("Peak limit"), controls);
  row->addWidget(peak_only_);
  memory_ = add_control(*row, new QComboBox(controls), "memory",
                        tr("Peak: maximum allocated memory.\n"
                           "Reserved: memory that torch's caching allocator reserves on the "
                           "device.\n"
                           "The plot, the slider, “Fastest” and “Smallest” use this choice."),
                        tr("Memory to limit"));
  memory_->addItem(tr("Peak limit"), static_cast<int>(LimitedMemory::allocated));
  memory_->addItem(tr("Reserved limit"), static_cast<int>(LimitedMemory::reserved));
  limit_ = add_control(*row, new ByteBox(controls), "limit", {}, tr("Limit"));
  fastest_ = add_control(*row, new QPushButton(tr("Fastest"), controls), "fastest",
                         tr("Search for the fastest plan within the limit, and use it"));
  add_label(tr("Step up to"));
  percent_ = add_control(*row, new QDoubleSpinBox(controls), "percent",
                         tr("Maximum slowdown relative to the step time of the current plan"),
                         tr("Maximum slowdown"));
  percent_->setRange(0, kMaxPercent);
  percent_->setDecimals(1);
  percent_->setValue(kUsualPercent);
  percent_->setSuffix(tr("% slower"));
  smallest_ =
      add_control(*row, new QPushButton(tr("Smallest"), controls), "smallest",
                  tr("Search for the plan that needs the least memory with at most this slowdown, "
                     "and use it"));
  offload_ = add_control(*row, new QCheckBox(tr("Offload"), controls), "offload",
                         tr("Allow plans to offload values to the host"));
  offload_->setChecked(true);
  orders_ = add_control(*row, new OrdersBox(search_, controls), "orders", OrdersBox::explanation());
  twin_groups_ = add_control(*row, new TwinGroupsBox(search_, controls), "twin_groups",
                             TwinGroupsBox::explanation());
  tune_ = add_control(*row, new QPushButton(tr("Tune Order and Buckets..."), controls), "tune");
  status_ = add_control(*row, new QLabel(controls), "status");
  status_->setForegroundRole(QPalette::PlaceholderText);
  column->addWidget(controls);
  plot_ = new ParetoPlot(this);
  column->addWidget(plot_, 1);
  setFocusProxy(plot_);

  connect(start_, &QPushButton::clicked, this, &ParetoPage::start_or_cancel);
  connect(fastest_, &QPushButton::clicked, this, [this] {
    if (const SacStatePtr state = session_.state()) search_.find_fastest(state, limit_->bytes());
  });
  connect(smallest_, &QPushButton::clicked, this, [this] {
    if (const SacStatePtr state = session_.state())
      search_.find_smallest(state, percent_->value(), session_.ordered().figures());
  });
  connect(memory_, &QComboBox::currentIndexChanged, this, [this] {
    search_.set_memory(static_cast<LimitedMemory>(memory_->currentData().toInt()));
  });
  connect(&search_, &ParetoSearch::memory_changed, this, &ParetoPage::show_memory);
  connect(&session_.reserved(), &PlanReserved::changed, this, &ParetoPage::refresh_marks);
  connect(offload_, &QCheckBox::toggled, &search_, &ParetoSearch::set_offload);
  connect(&session_.ordered(), &PlanOrdered::changed, this, &ParetoPage::refresh_marks);
  connect(tune_, &QPushButton::clicked, this, &ParetoPage::tune);
  connect(&session_, &SacSession::tuned_changed, this, &ParetoPage::refresh_marks);
  connect(plot_, &ParetoPlot::chosen, this, &ParetoPage::choose);
  connect(&search_, &ParetoSearch::changed, this, &ParetoPage::refresh);
  connect(&search_, &ParetoSearch::fitted, this, &ParetoPage::use_fit);
  connect(&search_, &ParetoSearch::failed, this, &ParetoPage::message);
  connect(&session_, &SacSession::changed, this, &ParetoPage::refresh);
  connect(&session_.editing(), &Editing::changed, this, &ParetoPage::follow_named);
  connect(&session_, &SacSession::changed, this, &ParetoPage::retry_named);
  connect(&search_, &ParetoSearch::memory_changed, this, &ParetoPage::retry_named);
  connect(&search_, &ParetoSearch::orders_changed, this, &ParetoPage::retry_named);
  connect(offload_, &QCheckBox::toggled, this, &ParetoPage::retry_named);
  const auto forget = [this] { forget_shortfall(); };
  connect(limit_, &QDoubleSpinBox::valueChanged, this, forget);
  connect(percent_, &QDoubleSpinBox::valueChanged, this, forget);
  connect(offload_, &QCheckBox::toggled, this, forget);
  connect(&search_, &ParetoSearch::memory_changed, this, forget);
  connect(&search_, &ParetoSearch::orders_changed, this, forget);
  connect(&bar_.budget(), &BudgetControl::tried, this, forget);
  connect(&bar_.budget(), &BudgetControl::unit_changed, this, forget);
  show_memory();
  follow_named();
  refresh();
}

void ParetoPage::start_or_cancel() {
  if (search_.is_running()) return search_.cancel();
  const SacStatePtr state = session_.state();
  if (!state || !state->can_change()) return;
  searched_ = state;
  searched_ordered_.reset();
  search_.search(state);
}

void ParetoPage::tune() {
  const SacStatePtr state = session_.state();
  if (!state || !state->can_change()) return;
  // A search for pipelines can limit only the peak of allocated memory.
  emit tune_wanted(search_.memory() == LimitedMemory::allocated
                       ? limit_->bytes()
                       : state->figures.figures.peak_bytes);
}

void ParetoPage::highlight(const ParetoPoint& plan) {
  const std::vector<ParetoPoint>& points = search_.points();
  const auto is_it = [&](const Meaning& meaning) {
    if (meaning.point < 0) return false;
    const ParetoPoint& point = points[static_cast<std::size_t>(meaning.point)];
    return point.name == plan.name && point.budget == plan.budget && point.plan == plan.plan;
  };
  const auto at = std::ranges::find_if(meanings_, is_it);
  if (at == meanings_.end()) return;
  plot_->set_current(static_cast<std::size_t>(at - meanings_.begin()));
  plot_->setFocus();
}

void ParetoPage::refresh() {
  const SacStatePtr state = session_.state();
  if (short_ && short_ != state &&
      (!state || !state->has_graph_of(*short_) || state->plan != short_->plan))
    forget_shortfall();
  if (search_.is_finding()) forget_shortfall();
  const bool can = state && state->can_change();
  // A search for a plan to use is cancelled with the bar's button, not with this one.
  const bool is_finding = search_.is_finding();
  start_->setText(search_.is_running() && !is_finding ? tr("Cancel")
                  : search_.points().empty()          ? tr("Compute Trade-off")
                                                      : tr("Compute Again"));
  start_->setEnabled(can && !is_finding);
  tune_->setEnabled(can);
  fastest_->setEnabled(can && !search_.is_running());
  smallest_->setEnabled(can && !search_.is_running());
  const bool has_choice = can && has_reserved(*state);
  memory_->setVisible(has_choice);
  orders_->show_for(state);
  twin_groups_->show_for(state);
  peak_only_->setVisible(!has_choice);
  // Start with the current peak as the limit.
  if (can && limit_->bytes() == 0) limit_->set_bytes(state->figures.figures.peak_bytes);
  plot_->set_hint(
      can ? tr("Compute the trade-off to compare torch's activation budgets, torchtitan's policies "
               "and the shortest step found for each amount of memory.")
          : tr("Only the plan for a joint graph or a flat training step can change."));
  refresh_marks();
}

QString ParetoPage::status_text() const {
  const SacStatePtr state = session_.state();
  const std::size_t count = search_.points().size();
  QStringList parts;
  if (search_.is_running())
    parts << (count == 1 ? tr("1 point") : tr("%1 points").arg(count));
  else if (count > 0 && searched_ && state && !searched_->has_graph_of(*state))
    parts << tr("computed for an earlier plan");
  if (search_.memory() == LimitedMemory::reserved && session_.tuned() &&
      !session_.tuned()->reserved_bytes)
    parts << tr("the reserved memory of the tuned pipeline is not known yet");
  for (const NamedFigures& named : named_)
    if (!named.problem.isEmpty())
      parts << tr("“%1” cannot be estimated: %2").arg(named.name, named.problem);
  return parts.join(QStringLiteral(", "));
}

void ParetoPage::show_memory() {
  const bool is_reserved = search_.memory() == LimitedMemory::reserved;
  memory_->setCurrentIndex(memory_->findData(static_cast<int>(search_.memory())));
  tune_->setToolTip(is_reserved
                        ? tr("Use the Tune pane to search for the policies, order and buckets with "
                             "the shortest step within the peak of the current plan")
                        : tr("Use the Tune pane to search for the policies, order and buckets with "
                             "the shortest step within this limit"));
  refresh_marks();
}

// If the plot shows reserved memory, plans with unknown reserved bytes have no marks.
void ParetoPage::refresh_marks() {
  std::vector<ParetoMark> marks;
  meanings_.clear();
  const bool is_reserved = search_.memory() == LimitedMemory::reserved;
  const bool has_reserved = session_.state() && views::has_reserved(*session_.state());
  const std::vector<ParetoPoint>& points = search_.points();
  const auto add = [&](ParetoMark mark, Meaning meaning) {
    if (!has_reserved) mark.reserved_bytes.reset();
    if (is_reserved && !mark.reserved_bytes) return;
    // The bound holds only for the peak, not for reserved memory.
    if (meaning.point >= 0 && !is_reserved) {
      mark.bound_ns = points[static_cast<std::size_t>(meaning.point)].bound_ns;
      mark.is_bound_of_any_order = search_.is_ordered();
    }
    marks.push_back(std::move(mark));
    meanings_.push_back(meaning);
  };
  const auto add_figures = [&](ParetoKind kind, const QString& name, const Figures& figures,
                               std::optional<std::int64_t> reserved, Meaning meaning) {
    add({.kind = kind,
         .name = name,
         .peak_bytes = figures.peak_bytes,
         .step_ns = figures.step_ns,
         .reserved_bytes = reserved},
        meaning);
  };
  // The plan of a state, in the order found for it if that is known.
  const auto add_plan = [&](ParetoKind kind, const QString& name, const SacState& state,
                            const std::optional<OrderedFigures>& ordered,
                            std::optional<std::int64_t> own_reserved, Meaning meaning) {
    if (!ordered) return add_figures(kind, name, state.figures.figures, own_reserved, meaning);
    add({.kind = kind,
         .name = name,
         .peak_bytes = ordered->figures.peak_bytes,
         .step_ns = ordered->figures.step_ns,
         .reserved_bytes = ordered->reserved_bytes,
         .order = to_qstring(state.order)},
        meaning);
  };
  std::optional<std::int64_t> reserved_at_start;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const ParetoPoint& point = points[i];
    if (point.name == ParetoSearch::kNow) {  // added below with its current numbers
      reserved_at_start = point.reserved_bytes;
      continue;
    }
    add(mark_of(point), {.point = static_cast<int>(i)});
  }
  if (!points.empty())
    for (std::size_t i = 0; i < named_.size(); ++i)
      if (named_[i].figures)
        add_figures(ParetoKind::named, named_[i].name, *named_[i].figures, named_[i].reserved_bytes,
                    {.named = static_cast<int>(i)});
  const auto& tuned = session_.tuned();
  if (tuned)
    add_figures(ParetoKind::tuned, tr("tuned"), tuned->figures, tuned->reserved_bytes,
                {.is_tuned = true});
  if (const SacStatePtr state = session_.state(); state && (!points.empty() || tuned)) {
    const auto& ordered = session_.ordered().figures();
    if (searched_ && (searched_->figures != state->figures || searched_->order != state->order))
      add_plan(ParetoKind::start, tr("start"), *searched_, searched_ordered_, reserved_at_start,
               {.is_start = true});
    else if (searched_ && ordered)
      searched_ordered_ = ordered;
    add_plan(ParetoKind::now, tr("now"), *state, ordered, session_.reserved().bytes(), {});
  }
  plot_->set_marks(std::move(marks), search_.memory());
  status_->setText(status_text());
}

void ParetoPage::follow_named() {
  ++asked_;
  named_.clear();
  for (const NamedState& state : session_.editing().named())
    named_.push_back({.name = state.name, .history = state.history});
  request_named();
  refresh_marks();
}

// Requests the estimates of named states that have not been requested yet. The plot shows their
// reserved memory only if reserved memory is limited.
void ParetoPage::request_named() {
  const SacStatePtr state = session_.state();
  const bool needs_reserved =
      search_.memory() == LimitedMemory::reserved && state && has_reserved(*state);
  for (std::size_t i = 0; i < named_.size(); ++i) {
    if (!std::exchange(named_[i].is_asked, true)) request_named_figures(i);
    if (needs_reserved && named_[i].figures && !named_[i].reserved_bytes &&
        !std::exchange(named_[i].is_reserved_asked, true))
      request_named_reserved(i);
  }
}

void ParetoPage::request_named_figures(std::size_t index) {
  session_.find_ordered(named_[index].history, this,
                        [this, asked = asked_, index](const Result<OrderedFigures>& found) {
                          if (asked != asked_) return;
                          NamedFigures& named = named_[index];
                          if (found) {
                            named.figures = found->figures;
                            named.reserved_bytes = found->reserved_bytes;
                            request_named();
                          } else {
                            named.problem = to_qstring(found.error().message);
                          }
                          refresh_marks();
                        });
}

void ParetoPage::request_named_reserved(std::size_t index) {
  session_.find_reserved(named_[index].history, this,
                         [this, asked = asked_, index](const Result<std::int64_t>& found) {
                           if (asked != asked_) return;
                           if (found)
                             named_[index].reserved_bytes = *found;
                           else
                             named_[index].problem = to_qstring(found.error().message);
                           refresh_marks();
                         });
}

// Requests again what could not be computed, since the plan or the settings have changed.
void ParetoPage::retry_named() {
  for (NamedFigures& named : named_) {
    if (named.problem.isEmpty()) continue;
    named.problem.clear();
    named.is_asked = named.figures.has_value();
    named.is_reserved_asked = false;
  }
  request_named();
  refresh_marks();
}

void ParetoPage::choose(std::size_t mark) {
  const Meaning meaning = meanings_[mark];
  if (meaning.named >= 0)
    return session_.editing().go_to_state(static_cast<std::size_t>(meaning.named));
  if (meaning.is_tuned) return emit session_.tuned_wanted();
  if (meaning.is_start && searched_)
    return use_plan(searched_->plan, searched_->figures.figures, searched_->order);
  if (meaning.point >= 0 && searched_)
    take(search_.points()[static_cast<std::size_t>(meaning.point)], searched_->settings());
}

// Uses min_cut, as the search did, regardless of the current settings.
void ParetoPage::take(const ParetoPoint& point, SolveSettings settings) {
  const SacStatePtr state = session_.state();
  if (!state || !state->can_change()) return;
  if (!point.order.empty()) return use_plan(point.plan, point.figures.figures, point.order);
  if (point.name == ParetoSearch::kNow) return;
  settings.partitioner = Partitioner::min_cut;
  settings.activation_budget = point.budget >= 0 ? point.budget : SolveSettings().activation_budget;
  if (point.budget >= 0 && state->base) return session_.solve(settings);
  if (!point.name.empty()) return bar_.apply_preset(to_qstring(point.name), settings);
  use_plan(point.plan, point.figures.figures, {});
}

void ParetoPage::use_plan(const SavePlan& plan, const Figures& figures, const std::string& order) {
  session_.apply_plan(plan,
                      tr("Use the plan with a peak of %1").arg(bytes_text(figures.peak_bytes)),
                      searched_with(order));
}

void ParetoPage::forget_shortfall() {
  if (!short_) return;
  short_.reset();
  emit none_fits({});
}

void ParetoPage::use_fit(const Fit& fit, const SacStatePtr& of) {
  const SacStatePtr state = session_.state();
  if (!state || !state->has_graph_of(*of) || state->plan != of->plan)
    return emit message(tr("The plan has changed since the search started; search again."));
  const Figures& figures = fit.point.figures.figures;
  QString what =
      plan_text(figures.peak_bytes, has_reserved(*state) ? fit.point.reserved_bytes : std::nullopt,
                figures.step_ns);
  if (!fit.point.order.empty()) what += tr(", ordered by %1").arg(to_qstring(fit.point.order));
  if (!fit.fits) {
    const QString text = tr("No plan found meets the limit. The closest one: %1.").arg(what);
    short_ = state;
    emit none_fits(text);
    return emit message(text);
  }
  const bool is_now = fit.point.order == state->order &&
                      (fit.point.name == ParetoSearch::kNow || fit.point.plan == state->plan);
  if (is_now) return emit message(tr("The current plan is the best one found: %1.").arg(what));
  emit message(tr("Found: %1.").arg(what));
  take(fit.point, state->settings());
}

}  // namespace jointer::views
