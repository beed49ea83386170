#include "views/sac/pareto_search.h"

#include <QtConcurrentRun>
#include <algorithm>

#include "core/edit/edit.h"
#include "core/policy/tagging.h"

namespace jointer::views {
namespace {

constexpr int kTakeMs = 40;

ParetoRequest request_of(const SacState& state) {
  ParetoRequest request;
  request.partition = options_of(state.base->settings);
  // Budgets are min_cut's.
  request.partition.partitioner = Partitioner::min_cut;
  return request;
}

// The graph that budgets are tried on: as it was solved, with what was ticked since.
Graph graph_of(const SacState& state) {
  Graph graph = state.base->partition.joint;
  for (const NodeId id : graph.order())
    graph.node(id).policy = state.snapshot->graph.node(id).policy;
  return graph;
}

}  // namespace

ParetoSearch::ParetoSearch(QObject* parent) : QObject(parent) {
  timer_.setInterval(kTakeMs);
  connect(&timer_, &QTimer::timeout, this, &ParetoSearch::take);
}

ParetoSearch::~ParetoSearch() {
  if (shared_) shared_->cancel = true;
}

void ParetoSearch::cancel() {
  if (!shared_) return;
  take();
  shared_->cancel = true;
  shared_.reset();
  timer_.stop();
  emit changed();
}

void ParetoSearch::clear() {
  cancel();
  if (points_.empty()) return;
  points_.clear();
  emit changed();
}

ParetoSearch::SharedPtr ParetoSearch::begin() {
  if (shared_) shared_->cancel = true;
  shared_ = std::make_shared<Shared>();
  timer_.start();
  return shared_;
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

// Upstream's policies as tags, solved under them, on the same estimates.
std::vector<ParetoPoint> ParetoSearch::presets_of(const SacState& state, const Shared& shared) {
  std::vector<ParetoPoint> points;
  for (const MemoryPolicyPreset& preset : memory_policy_presets()) {
    if (shared.cancel) break;
    Graph graph = state.base->snapshot->graph;
    const auto edit = tag_with_memory_policy(graph, preset.name);
    if (!edit || !apply(graph, *edit)) continue;
    const auto solved = partition(graph);
    if (!solved) continue;
    const auto figures = state.base->what_if->figures(solved->plan);
    if (!figures) continue;
    points.push_back(
        {.budget = -1, .name = preset.name, .plan = solved->plan, .figures = *figures});
  }
  return points;
}

void ParetoSearch::search(const SacStatePtr& state) {
  points_.clear();
  const SharedPtr shared = begin();
  emit changed();
  const auto run = [state, shared]() -> Result<std::vector<ParetoPoint>> {
    const auto tell = [&shared](const ParetoPoint& point) {
      const std::scoped_lock lock(shared->mutex);
      shared->found.push_back(point);
    };
    const std::vector<ParetoPoint> presets = presets_of(*state, *shared);
    ParetoRequest request = request_of(*state);
    // The curve passes through those that no budget is better than.
    request.given = presets;
    request.found = [&](const ParetoPoint& point) {
      tell(point);
      return !shared->cancel;
    };
    const Graph graph = graph_of(*state);
    JOINTER_TRY(std::vector<ParetoPoint> points, pareto(graph, *state->base->what_if, request));
    for (const ParetoPoint& preset : presets)
      if (std::none_of(points.begin(), points.end(),
                       [&](const ParetoPoint& point) { return point.name == preset.name; }))
        points.push_back(preset);
    return points;
  };
  QtConcurrent::run(run).then(this, [this, shared](const Result<std::vector<ParetoPoint>>& all) {
    if (shared != shared_) return;
    shared_.reset();
    timer_.stop();
    // Only those that none is better than: others were found on the way.
    if (all) {
      points_ = *all;
      std::stable_sort(points_.begin(), points_.end(),
                       [](const ParetoPoint& a, const ParetoPoint& b) {
                         return a.figures.figures.peak_bytes < b.figures.figures.peak_bytes;
                       });
    } else {
      emit failed(QString::fromStdString(all.error().message));
    }
    emit changed();
  });
}

template <class Find>
void ParetoSearch::find(const SacStatePtr& state, Find find_one) {
  const SharedPtr shared = begin();
  emit changed();
  const auto run = [state, shared, find_one]() -> Result<Fit> {
    ParetoRequest request = request_of(*state);
    request.found = [&shared](const ParetoPoint&) { return !shared->cancel; };
    const Graph graph = graph_of(*state);
    return find_one(graph, *state->base->what_if, request);
  };
  QtConcurrent::run(run).then(this, [this, shared](const Result<Fit>& fit) {
    if (shared != shared_) return;
    shared_.reset();
    timer_.stop();
    if (fit)
      emit fitted(*fit);
    else
      emit failed(QString::fromStdString(fit.error().message));
    emit changed();
  });
}

void ParetoSearch::find_fastest(const SacStatePtr& state, std::int64_t peak_bytes) {
  find(state,
       [peak_bytes](const Graph& graph, const PlanWhatIf& what_if, const ParetoRequest& request) {
         return fastest_within(graph, what_if, peak_bytes, request);
       });
}

void ParetoSearch::find_smallest(const SacStatePtr& state, std::int64_t step_ns) {
  find(state,
       [step_ns](const Graph& graph, const PlanWhatIf& what_if, const ParetoRequest& request) {
         return smallest_within(graph, what_if, step_ns, request);
       });
}

}  // namespace jointer::views
