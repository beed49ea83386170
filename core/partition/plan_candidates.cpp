// Lists the values that the user can decide about under a plan: those that the plan saves, and
// those that the backward recomputes. The cost of recomputing a value covers its chain back to
// values that the plan saves, or that would have to be saved because they cannot be recomputed.

#include <algorithm>
#include <utility>

#include "core/partition/plan_state.h"
#include "core/partition/recompute_chains.h"

namespace jointer {

std::optional<PlanAction> action_of(MemoryPolicy policy) {
  switch (policy) {
    case MemoryPolicy::must_save:
    case MemoryPolicy::prefer_save:
      return PlanAction::save;
    case MemoryPolicy::must_recompute:
    case MemoryPolicy::prefer_recompute:
      return PlanAction::recompute;
    case MemoryPolicy::must_cpu_offload:
      return PlanAction::offload;
    case MemoryPolicy::none:
      break;
  }
  return std::nullopt;
}

bool allows(MemoryPolicy tag, PlanAction action) {
  switch (tag) {
    case MemoryPolicy::must_save:
      return action == PlanAction::save;
    case MemoryPolicy::must_cpu_offload:
      return action == PlanAction::offload;
    case MemoryPolicy::must_recompute:
      return action == PlanAction::recompute;
    case MemoryPolicy::none:
    case MemoryPolicy::prefer_save:
    case MemoryPolicy::prefer_recompute:
      break;
  }
  return true;
}

double bytes_per_us(const SaveCandidate& candidate) {
  constexpr double kNsPerUs = 1e3;
  return static_cast<double>(candidate.bytes) /
         (static_cast<double>(std::max<std::int64_t>(candidate.recompute_ns, 1)) / kNsPerUs);
}

bool PlanWhatIf::State::is_available(const SavePlan& plan, const PairOrder& order,
                                     Place place) const {
  const auto is_redrawn = [&] {
    return std::binary_search(plan.redrawn.begin(), plan.redrawn.end(),
                              orders.node(recomputable.source(place)));
  };
  return order.given[place] || orders.has(place, PairOrders::is_placeholder) ||
         (!recomputable(place) && !is_redrawn());
}

Result<std::vector<SaveCandidate>> PlanWhatIf::State::candidates(const SavePlan& plan,
                                                                 const PairOrder& order) const {
  // 1: saved; 2: recomputed.
  std::vector<std::uint8_t> is_candidate(orders.size(), 0), runs_first(orders.size(), 0);
  for (const Place p : order.forward) runs_first[p] = 1;
  for (const Place p : order.saved)
    if (orders.has(p, PairOrders::is_call)) is_candidate[p] = 1;
  for (const Place p : order.backward) {
    const Node& node = graph.node(orders.node(p));
    if (orders.has(p, PairOrders::is_call) && orders.has(p, PairOrders::of_forward) &&
        node.value.kind == Value::Kind::tensor && (runs_first[p] || node.phase == Phase::forward))
      is_candidate[p] = 2;
  }

  std::vector<std::uint8_t> is_there(orders.size(), 0), is_taken(memory.storage_count(), 0);
  std::vector<Place> values;
  for (Place p = 0; p < orders.size(); ++p) {
    is_there[p] = is_available(plan, order, p);
    if (is_candidate[p]) values.push_back(p);
    if (is_candidate[p] == 1)
      for (const std::uint32_t storage : memory.storages(p)) is_taken[storage] = 1;
  }
  const std::vector<RecomputeChain> chains = recompute_chains(orders, time, is_there, values);
  std::vector<std::uint8_t> is_counted(memory.storage_count(), 0);
  std::vector<SaveCandidate> found;
  found.reserve(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Place p = values[i];
    SaveCandidate candidate{.node = orders.node(p)};
    const bool is_saved = is_candidate[p] == 1;
    for (const std::uint32_t storage : memory.storages(p)) {
      if (memory.is_held(storage)) continue;
      if (is_saved ? !std::exchange(is_counted[storage], std::uint8_t{1}) : !is_taken[storage])
        candidate.bytes += memory.bytes(storage);
    }
    if (recomputable.if_asked(p)) {
      candidate.recompute_ns = chains[i].ns;
      candidate.recompute_flops = chains[i].flops;
      candidate.chain = chains[i].calls;
    }
    if (is_saved)
      candidate.action =
          std::binary_search(plan.offloaded.begin(), plan.offloaded.end(), candidate.node)
              ? PlanAction::offload
              : PlanAction::save;
    found.push_back(candidate);
  }
  return found;
}

Result<std::vector<SaveCandidate>> PlanWhatIf::candidates(const SavePlan& plan) const {
  JOINTER_TRY(const PairOrder order, state_->orders.order(plan));
  return state_->candidates(plan, order);
}

Result<std::vector<SaveCandidate>> PlanWhatIf::saved_at(const SavePlan& plan,
                                                        std::size_t point) const {
  const State& s = *state_;
  JOINTER_TRY(const PairOrder order, s.orders.order(plan));
  JOINTER_TRY(const std::vector<SaveCandidate> all, s.candidates(plan, order));
  std::vector<std::uint8_t> is_alive(s.orders.size(), 0);
  for (const PlanMemory::Life& life : s.memory.saved_lives(order))
    if (life.first <= point && point < life.last) is_alive[life.value] = 1;
  std::vector<SaveCandidate> alive;
  for (const SaveCandidate& candidate : all)
    if (is_alive[s.orders.place(candidate.node)]) alive.push_back(candidate);
  std::stable_sort(alive.begin(), alive.end(), [](const SaveCandidate& a, const SaveCandidate& b) {
    // Values that cannot be recomputed come last.
    return std::pair(a.chain > 0, bytes_per_us(a)) > std::pair(b.chain > 0, bytes_per_us(b));
  });
  return alive;
}

}  // namespace jointer
