#include "views/session/sac/pareto_search.h"

#include <algorithm>
#include <iterator>

#include "core/policy/with_fsdp.h"
#include "passes/built_in.h"
#include "passes/support/communicates.h"
#include "passes/tune/find_order.h"
#include "views/session/sac/step_state.h"

namespace jointer::views {
namespace {

constexpr int kTakeMs = 40;
constexpr int kTrySoonMs = 150;

// Returns true if the user, an operator set or a preset has set policies, which the search must
// respect.
bool has_policy(const SacState& state) {
  return std::any_of(state.tensors.begin(), state.tensors.end(), [](const SacTensor& tensor) {
    return tensor.decider == Decider::user || tensor.decider == Decider::list ||
           tensor.decider == Decider::preset;
  });
}

// The graph without tags set by earlier searches, since those do not constrain later searches.
Graph without_search(const SacState& state) {
  Graph graph = state.snapshot->graph;
  const std::vector<MemoryPolicy>& solved = state.base->policies;
  for (const NodeId node : state.searched)
    graph.node(node).policy =
        node.index() < solved.size() ? solved[node.index()] : MemoryPolicy::none;
  return graph;
}

// Adds the reserved bytes that the search did not compute: those of the plans of budgets and
// presets.
void add_reserved(const TradeOff& trade_off, std::vector<ParetoPoint>& points) {
  for (ParetoPoint& point : points)
    if (!point.reserved_bytes && point.partitioner == Partitioner::min_cut)
      if (const auto bytes = trade_off.what_if().reserved_bytes(point.plan))
        point.reserved_bytes = *bytes;
}

}  // namespace

ParetoSearch::ParetoSearch(QObject* parent) : QObject(parent) {
  timer_.setInterval(kTakeMs);
  connect(&timer_, &QTimer::timeout, this, &ParetoSearch::take);
  soon_.setSingleShot(true);
  soon_.setInterval(kTrySoonMs);
  connect(&soon_, &QTimer::timeout, this, &ParetoSearch::start_trial);
}

void ParetoSearch::cancel() {
  stop_waiting();
  if (!is_running()) return;
  take();
  end();
  emit changed();
}

void ParetoSearch::set_memory(LimitedMemory memory) {
  if (std::exchange(settings_.memory, memory) == memory) return;
  stop_trying();
  emit memory_changed();
}

void ParetoSearch::set_orders(bool orders) {
  if (std::exchange(settings_.orders, orders) == orders) return;
  stop_trying();
  emit orders_changed();
}

void ParetoSearch::set_twin_groups(bool twin_groups) {
  if (std::exchange(settings_.twin_groups, twin_groups) == twin_groups) return;
  stop_trying();
  emit orders_changed();
}

std::shared_ptr<SharedHidden> ParetoSearch::Hidden::of(const SacStatePtr& state,
                                                       const Settings& settings) {
  Settings same = settings;
  same.offload = settings_.offload;  // does not change the shares
  if (shares_ == nullptr || state != state_ || same != settings_)
    shares_ = std::make_shared<SharedHidden>();
  state_ = state;
  settings_ = settings;
  return shares_;
}

FindOrder ParetoSearch::find_order_of(const SacState& state, const Settings& settings,
                                      const Cancellation& job) {
  if (!settings.orders || !communicates(state.snapshot->graph)) return {};
  return order_finder(
      built_in_passes(), state.snapshot->analysis.options,
      {.twin_groups = settings.twin_groups, .is_cancelled = [job] { return job.is_cancelled(); }});
}

void ParetoSearch::clear() {
  cancel();
  searched_.reset();
  is_complete_ = false;
  if (points_.empty()) return;
  points_.clear();
  emit changed();
}

void ParetoSearch::begin() {
  end();
  shared_ = std::make_shared<Shared>();
  timer_.start();
}

void ParetoSearch::end() {
  search_.cancel();
  fit_.cancel();
  limit_.reset();
  is_trial_ = false;
  shared_.reset();
  timer_.stop();
}

void ParetoSearch::take() {
  std::vector<ParetoPoint> found;
  if (shared_) {
    const std::scoped_lock lock(shared_->mutex);
    found.swap(shared_->found);
  }
  if (found.empty()) return;
  points_.insert(points_.end(), found.begin(), found.end());
  std::ranges::stable_sort(points_, {},
                           [](const ParetoPoint& each) { return each.figures.figures.peak_bytes; });
  emit changed();
}

// The search starts from the plan as shown: the plan as solved, with the choices made since.
Result<std::unique_ptr<TradeOff>> ParetoSearch::trade_off_of(
    const SacState& state, const Settings& settings, std::vector<ParetoPoint> known,
    const Cancellation& job, std::function<void(const ParetoPoint&)> tell,
    std::int64_t reference_ns) {
  const Analysis& analysis = state.snapshot->analysis;
  const SolveSettings solved = state.settings();
  TradeOffOptions options{
      .partition = options_of(solved),
      .now = {.budget = -1,
              .name = kNow,
              .plan = state.plan,
              .figures = state.figures,
              .partitioner = solved.partitioner},
      .reference_ns = reference_ns,
      .fsdp = state.base ? state.base->fsdp : fsdp_policy(state.snapshot->graph),
      .has_policy = state.base ? has_policy(state) : state.has_own_policies,
      .offload = settings.offload,
      .memory = settings.memory,
      .known = std::move(known),
      .found = [job, tell = std::move(tell)](const ParetoPoint& point) {
        if (tell) tell(point);
        return !job.is_cancelled();
      }};
  options.partition.watcher.is_cancelled = [job] { return job.is_cancelled(); };
  return TradeOff::make(state.is_step() ? step_with_own_tags(state) : without_search(state),
                        {.costs = analysis.costs_of_operators(),
                         .flops = analysis.flops,
                         .memory = analysis.options.memory,
                         .simulation = analysis.options.simulation,
                         .transfers = analysis.transfers},
                        std::move(options));
}

void ParetoSearch::search(const SacStatePtr& state) {
  points_.clear();
  searched_ = state;
  is_complete_ = false;
  is_ordered_ = settings_.orders && communicates(state->snapshot->graph);
  searched_with_ = settings_;
  latest_.reset();  // the new curve may have better plans
  begin();
  const auto run = [state, settings = settings_, shared = shared_,
                    hidden = hidden_.of(state, settings_)](
                       const Cancellation& job) -> Result<std::vector<ParetoPoint>> {
    const auto tell = [&shared](const ParetoPoint& point) {
      const std::scoped_lock lock(shared->mutex);
      shared->found.push_back(point);
    };
    const FindOrder find_order = find_order_of(*state, settings, job);
    // Withhold searched plans until their order is known, since they would move in the plot.
    const auto tell_placed = [&](const ParetoPoint& point) {
      if (!find_order || !point.is_searched()) tell(point);
    };
    JOINTER_TRY(const auto trade_off, trade_off_of(*state, settings, {}, job, tell_placed));
    JOINTER_TRY(ParetoCurve curve, ordered_curve(*trade_off, find_order, tell, hidden.get()));
    std::vector<ParetoPoint> points = std::move(curve.points);
    // Add the budgets and presets that are not already on the curve.
    const auto add_new = [&points](const auto& more, auto ParetoPoint::*what) {
      for (const ParetoPoint& each : more)
        if (std::ranges::find(points, each.*what, what) == points.end()) points.push_back(each);
    };
    add_new(curve.budgets, &ParetoPoint::budget);
    add_new(trade_off->presets(), &ParetoPoint::name);
    if (has_reserved(*state)) add_reserved(*trade_off, points);
    return points;
  };
  search_.start(run, [this](const Result<std::vector<ParetoPoint>>& all) {
    end();
    // The final points replace the intermediate ones.
    if (all) {
      points_ = *all;
      is_complete_ = true;
      std::ranges::stable_sort(
          points_, {}, [](const ParetoPoint& each) { return each.figures.figures.peak_bytes; });
    } else {
      emit failed(QString::fromStdString(all.error().message));
    }
    emit changed();
    if (to_try_) start_trial();
  });
  emit changed();
}

// Returns true if the points are those of this state, found with the current settings for orders.
bool ParetoSearch::is_known(const SacStatePtr& state) const {
  return state == searched_ && searched_with_.orders == settings_.orders &&
         searched_with_.twin_groups == settings_.twin_groups;
}

// The plans on the curve. The search starts from them, so no point on the curve is better than its
// result.
std::vector<ParetoPoint> ParetoSearch::known_plans(const SacStatePtr& state) const {
  std::vector<ParetoPoint> known;
  if (is_complete_ && is_known(state))
    std::ranges::copy_if(points_, std::back_inserter(known), [this](const ParetoPoint& point) {
      return point.is_searched() && (settings_.offload || point.plan.offloaded.empty());
    });
  return known;
}

template <class Find>
void ParetoSearch::find(const SacStatePtr& state, std::optional<Limit> limit, bool is_trial,
                        Find find_one) {
  begin();
  limit_ = std::move(limit);
  is_trial_ = is_trial;
  const auto run = [state, settings = settings_, find_one](const Cancellation& job) -> Result<Fit> {
    return find_one(*state, settings, job);
  };
  fit_.start(run, [this, state](const Result<Fit>& fit) {
    const bool was_trial = is_trial_;
    if (fit && limit_) latest_ = {*limit_, *fit};
    end();
    if (!fit)
      emit failed(QString::fromStdString(fit.error().message));
    else if (was_trial)
      emit tried(*fit);
    else
      emit fitted(*fit, state);
    emit changed();
  });
  emit changed();
}

void ParetoSearch::find(const Limit& limit, bool is_trial) {
  const auto find_one = [bytes = limit.bytes, known = known_plans(limit.state),
                         hidden = hidden_.of(limit.state, limit.settings)](
                            const SacState& state, const Settings& settings,
                            const Cancellation& job) -> Result<Fit> {
    JOINTER_TRY(const auto trade_off, trade_off_of(state, settings, known, job, {}));
    return fastest_ordered(*trade_off, bytes, find_order_of(state, settings, job), hidden.get());
  };
  find(limit.state, limit, is_trial, find_one);
}

void ParetoSearch::find_fastest(const SacStatePtr& state, std::int64_t limit_bytes) {
  const Limit limit{.state = state, .bytes = limit_bytes, .settings = settings_};
  stop_waiting();
  if (latest_ && latest_->limit == limit) {
    if (is_running()) cancel();
    return emit fitted(latest_->fit, state);
  }
  if (!fit_.is_running() || limit_ != limit) return find(limit, false);
  is_trial_ = false;
  emit changed();
}

void ParetoSearch::try_fastest(const SacStatePtr& state, std::int64_t limit_bytes) {
  if (is_finding()) return;
  const Limit limit{.state = state, .bytes = limit_bytes, .settings = settings_};
  if (fit_.is_running() && limit_ == limit) return stop_waiting();
  to_try_ = limit;
  soon_.start();
}

void ParetoSearch::start_trial() {
  if (!to_try_ || search_.is_running() || is_finding()) return;
  const Limit limit = *std::exchange(to_try_, std::nullopt);
  if (latest_ && latest_->limit == limit) return emit tried(latest_->fit);
  find(limit, true);
}

void ParetoSearch::stop_waiting() {
  to_try_.reset();
  soon_.stop();
}

void ParetoSearch::stop_trying() {
  stop_waiting();
  if (is_trial_) cancel();
}

const ParetoPoint* ParetoSearch::fastest_known(const SacStatePtr& state,
                                               std::int64_t limit_bytes) const {
  const ParetoPoint* best = nullptr;
  if (!is_known(state)) return best;
  for (const ParetoPoint& point : points_) {
    const auto bytes = bytes_of(point, settings_.memory);
    // A search under the user's policies does not start from presets, and the pairs of other
    // partitioners have different estimates.
    const bool is_own = point.name.empty() || point.name == kNow;
    if (!is_own || point.partitioner != Partitioner::min_cut || !bytes || *bytes > limit_bytes ||
        (!settings_.offload && !point.plan.offloaded.empty()))
      continue;
    if (best == nullptr || point.figures.figures.step_ns < best->figures.figures.step_ns)
      best = &point;
  }
  return best;
}

void ParetoSearch::find_smallest(const SacStatePtr& state, double percent,
                                 const std::optional<OrderedFigures>& ordered) {
  stop_waiting();
  std::vector<ParetoPoint> known = known_plans(state);
  const std::int64_t reference_ns = settings_.orders && ordered ? ordered->figures.step_ns : 0;
  if (reference_ns > 0) {
    known.push_back({.budget = -1,
                     .plan = state->plan,
                     .figures = state->figures,
                     .reserved_bytes = ordered->reserved_bytes,
                     .order = state->order});
    known.back().figures.figures = ordered->figures;
  }
  const auto find_one =
      [percent, reference_ns, known = std::move(known), hidden = hidden_.of(state, settings_)](
          const SacState& of, const Settings& settings, const Cancellation& job) -> Result<Fit> {
    JOINTER_TRY(const auto trade_off, trade_off_of(of, settings, known, job, {}, reference_ns));
    return smallest_ordered(*trade_off, percent, find_order_of(of, settings, job), hidden.get());
  };
  find(state, {}, false, find_one);
}

}  // namespace jointer::views
