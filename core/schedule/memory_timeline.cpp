#include "core/schedule/memory_timeline.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/schedule/memory_walk.h"
#include "core/schedule/optimizer_states.h"

namespace jointer {
namespace {

void sum_up(std::vector<std::int64_t>& profile) {
  std::partial_sum(profile.begin(), profile.end(), profile.begin());
}

}  // namespace

MemoryTimeline::MemoryTimeline(const Graph& graph, const MemoryOptions& options)
    : options_(options), device_(options.runs_on.value_or(graph.main_device())) {
  steps_.reserve(graph.node_count());
  for (const NodeId id : graph.order())
    if (graph.node(id).kind == NodeKind::call) steps_.push_back(id);
  number_steps(graph);
  lifetimes_ = find_lifetimes(graph, options.rules, device_, options.rounds_sizes);
  find_storages(graph);
  const auto copies =
      find_collective_copies(graph, options.collectives, device_, options.rounds_sizes);
  lifetimes_.insert(lifetimes_.end(), copies.begin(), copies.end());
  if (options.optimizer != OptimizerState::none) add_optimizer_state(graph);
  build_profile();
}

MemoryTimeline::MemoryTimeline(const Graph& graph, const MemoryOptions& options,
                               std::vector<NodeId> steps, std::vector<Lifetime> lifetimes)
    : options_(options),
      device_(options.runs_on.value_or(graph.main_device())),
      steps_(std::move(steps)),
      lifetimes_(std::move(lifetimes)) {
  number_steps(graph);
  find_storages(graph);
  build_profile();
}

std::optional<std::size_t> MemoryTimeline::step_of(NodeId node) const {
  const std::int32_t step = step_by_node_[node.index()];
  return step < 0 ? std::nullopt : std::optional(static_cast<std::size_t>(step));
}

std::optional<std::size_t> MemoryTimeline::point_of(NodeId node, bool after_frees) const {
  const auto step = step_of(node);
  return step ? std::optional(point_of_step(*step) + (after_frees ? 1 : 0)) : std::nullopt;
}

std::optional<std::size_t> MemoryTimeline::lifetime_of(StorageId storage) const {
  const std::int32_t index = lifetime_by_storage_[storage.index()];
  return index < 0 ? std::nullopt : std::optional(static_cast<std::size_t>(index));
}

void MemoryTimeline::number_steps(const Graph& graph) {
  step_by_node_.assign(graph.node_count(), kBeforeStart);
  for (std::size_t step = steps_.size(); step-- > 0;)
    step_by_node_[steps_[step].index()] = static_cast<std::int32_t>(step);
}

// If a storage has several lifetimes, the first one counts.
void MemoryTimeline::find_storages(const Graph& graph) {
  lifetime_by_storage_.assign(graph.storage_count(), -1);
  for (std::size_t i = lifetimes_.size(); i-- > 0;)
    if (const StorageId storage = lifetimes_[i].storage)
      lifetime_by_storage_[storage.index()] = static_cast<std::int32_t>(i);
}

void MemoryTimeline::add_optimizer_state(const Graph& graph) {
  const auto end = static_cast<std::int32_t>(steps_.size());
  for (const ParameterState& state : optimizer_states(graph, device_, options_.rounds_sizes))
    lifetimes_.push_back({.storage = {},
                          .producer = state.parameter,
                          .bytes = state.bytes,
                          .first = kBeforeStart,
                          .last = end,
                          .category = MemoryCategory::optimizer_state});
}

void MemoryTimeline::build_profile() {
  // Collect the changes at each point, then replace them by their prefix sums.
  profile_.assign(1 + 2 * steps_.size(), 0);
  for (const Lifetime& l : lifetimes_) {
    add_lifetime(profile_, l.first, l.last, l.bytes);
    if (l.first == kBeforeStart && end_point(l.last) >= profile_.size()) static_bytes_ += l.bytes;
  }
  sum_up(profile_);
  peak_index_ = static_cast<std::size_t>(std::ranges::max_element(profile_) - profile_.begin());
}

bool MemoryTimeline::is_alive(const Lifetime& lifetime, std::size_t index) {
  return begin_point(lifetime.first) <= index && index < end_point(lifetime.last);
}

BytesByCategory MemoryTimeline::at(std::size_t index) const {
  BytesByCategory sums{};
  for (const Lifetime& l : lifetimes_)
    if (is_alive(l, index)) sums[static_cast<std::size_t>(l.category)] += l.bytes;
  return sums;
}

std::vector<std::size_t> MemoryTimeline::alive_at(std::size_t index) const {
  std::vector<std::size_t> alive;
  for (std::size_t i = 0; i < lifetimes_.size(); ++i)
    if (is_alive(lifetimes_[i], index)) alive.push_back(i);
  std::stable_sort(alive.begin(), alive.end(), [&](std::size_t a, std::size_t b) {
    return lifetimes_[a].bytes > lifetimes_[b].bytes;
  });
  return alive;
}

std::array<std::vector<std::int64_t>, kMemoryCategories> MemoryTimeline::by_category() const {
  std::array<std::vector<std::int64_t>, kMemoryCategories> profiles;
  for (auto& profile : profiles) profile.assign(profile_.size(), 0);
  for (const Lifetime& l : lifetimes_)
    add_lifetime(profiles[static_cast<std::size_t>(l.category)], l.first, l.last, l.bytes);
  for (auto& profile : profiles) sum_up(profile);
  return profiles;
}

}  // namespace jointer
