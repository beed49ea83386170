#include "views/session/sac/pareto_search.h"

#include <algorithm>
#include <iterator>

#include "core/policy/with_fsdp.h"
#include "views/session/sac/step_state.h"

namespace jointer::views {
namespace {

constexpr int kTakeMs = 40;

// Returns true if the user, an operator list or a preset has set policies; the search must respect
// them.
bool has_policy(const SacState& state) {
  return std::any_of(state.tensors.begin(), state.tensors.end(), [](const SacTensor& tensor) {
    return tensor.decider == Decider::person || tensor.decider == Decider::list ||
           tensor.decider == Decider::preset;
  });
}

// The graph without the tags of an earlier search, which bind no later one.
Graph without_search(const SacState& state) {
  Graph graph = state.snapshot->graph;
  const std::vector<MemoryPolicy>& solved = state.base->policies;
  for (const NodeId node : state.searched)
    graph.node(node).policy =
        node.index() < solved.size() ? solved[node.index()] : MemoryPolicy::none;
  return graph;
}

}  // namespace

ParetoSearch::ParetoSearch(QObject* parent) : QObject(parent) {
  timer_.setInterval(kTakeMs);
  connect(&timer_, &QTimer::timeout, this, &ParetoSearch::take);
}

ParetoSearch::~ParetoSearch() = default;

void ParetoSearch::cancel() {
  if (!is_running()) return;
  take();
  end();
  emit changed();
}

void ParetoSearch::clear() {
  cancel();
  searched_.reset();
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
  std::stable_sort(points_.begin(), points_.end(), [](const ParetoPoint& a, const ParetoPoint& b) {
    return a.figures.figures.peak_bytes < b.figures.figures.peak_bytes;
  });
  emit changed();
}

// Searches the graph as shown: the plan as solved, with the ticks made since.
Result<std::unique_ptr<TradeOff>> ParetoSearch::trade_off_of(
    const SacState& state, bool offload, std::vector<ParetoPoint> known, const Cancellation& job,
    std::function<void(const ParetoPoint&)> tell) {
  const Analysis& analysis = state.snapshot->analysis;
  const SolveSettings settings = state.settings();
  TradeOffOptions options{
      .partition = options_of(settings),
      .now = {.budget = -1,
              .name = kNow,
              .plan = state.plan,
              .figures = state.figures,
              .partitioner = settings.partitioner},
      .fsdp = state.base ? state.base->fsdp : fsdp_policy(state.snapshot->graph),
      .has_policy = state.base ? has_policy(state) : state.has_own_policies,
      .offload = offload,
      .known = std::move(known),
      .found = [job, tell = std::move(tell)](const ParetoPoint& point) {
        if (tell) tell(point);
        return !job.is_cancelled();
      }};
  options.partition.watcher.is_cancelled = [job] { return job.is_cancelled(); };
  return TradeOff::make(state.is_step() ? step_with_own_tags(state) : without_search(state),
                        {.costs = analysis.costs,
                         .flops = analysis.flops,
                         .memory = analysis.options.memory,
                         .simulation = analysis.options.simulation,
                         .transfers = analysis.transfers},
                        std::move(options));
}

void ParetoSearch::search(const SacStatePtr& state) {
  points_.clear();
  searched_.reset();
  begin();
  const auto run = [state, offload = offload_,
                    shared = shared_](const Cancellation& job) -> Result<std::vector<ParetoPoint>> {
    const auto tell = [&shared](const ParetoPoint& point) {
      const std::scoped_lock lock(shared->mutex);
      shared->found.push_back(point);
    };
    JOINTER_TRY(const auto trade_off, trade_off_of(*state, offload, {}, job, tell));
    JOINTER_TRY(ParetoCurve curve, trade_off->curve());
    std::vector<ParetoPoint> points = std::move(curve.points);
    // Add the budgets and presets that are not already on the curve.
    for (const ParetoPoint& budget : curve.budgets)
      if (std::none_of(points.begin(), points.end(),
                       [&](const ParetoPoint& point) { return point.budget == budget.budget; }))
        points.push_back(budget);
    for (const ParetoPoint& preset : trade_off->presets())
      if (std::none_of(points.begin(), points.end(),
                       [&](const ParetoPoint& point) { return point.name == preset.name; }))
        points.push_back(preset);
    return points;
  };
  search_.start(run, [this, state](const Result<std::vector<ParetoPoint>>& all) {
    end();
    // The final points replace the intermediate ones.
    if (all) {
      points_ = *all;
      searched_ = state;
      std::stable_sort(points_.begin(), points_.end(),
                       [](const ParetoPoint& a, const ParetoPoint& b) {
                         return a.figures.figures.peak_bytes < b.figures.figures.peak_bytes;
                       });
    } else {
      emit failed(QString::fromStdString(all.error().message));
    }
    emit changed();
  });
  emit changed();
}

template <class Find>
void ParetoSearch::find(const SacStatePtr& state, Find find_one) {
  // The plans of the curve, so that no point of it is better than the answer.
  std::vector<ParetoPoint> known;
  if (state == searched_)
    std::ranges::copy_if(points_, std::back_inserter(known), [this](const ParetoPoint& point) {
      return point.budget < 0 && point.name.empty() && (offload_ || point.plan.offloaded.empty());
    });
  begin();
  const auto run = [state, offload = offload_, known = std::move(known),
                    find_one](const Cancellation& job) -> Result<Fit> {
    JOINTER_TRY(const auto trade_off, trade_off_of(*state, offload, known, job, {}));
    return find_one(*trade_off);
  };
  fit_.start(run, [this](const Result<Fit>& fit) {
    end();
    if (fit)
      emit fitted(*fit);
    else
      emit failed(QString::fromStdString(fit.error().message));
    emit changed();
  });
  emit changed();
}

void ParetoSearch::find_fastest(const SacStatePtr& state, std::int64_t peak_bytes) {
  find(state,
       [peak_bytes](const TradeOff& trade_off) { return trade_off.fastest_within(peak_bytes); });
}

void ParetoSearch::find_smallest(const SacStatePtr& state, double percent) {
  find(state, [percent](const TradeOff& trade_off) { return trade_off.smallest_within(percent); });
}

}  // namespace jointer::views
