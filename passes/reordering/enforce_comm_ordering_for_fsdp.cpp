// enforce_comm_ordering_for_fsdp: makes FSDP2's collectives alternate with the calls that consume
// their results, so that only one gathered and one reduced buffer are live at a time.
//
// Terms
//   gather block   fsdp.all_gather_copy_in, its dependencies, and the all-gather that reads it.
//   unpack block   the wait for that all-gather, and the fsdp.split_with_sizes_copy that reads it.
//   reduce block   fsdp.chunk_cat, and the calls that depend on it, up to the reduce-scatter's
//                  wait.
//   result block   that wait, and the later calls that depend on the chunk_cat.
//
// Steps
//   1. Find the blocks. The calls of a block become adjacent, in their original order. A call that
//      fits in two blocks belongs to the first.
//   2. An unpack block runs before the next gather block, and a result block before the next reduce
//      block.
//   3. Put blocks and other calls in a topological order. Among those that are ready, the block or
//      call that begins earliest in the original order comes first.
// Cost: n log n for n calls, plus the number of their dependencies, plus, for each all-gather and
// chunk_cat, the number of calls that it depends on or that depend on it.
//
// Source: torch/_inductor/comms.py up to torch 2.12, for graphs of traceable FSDP2. Later versions
// lack it. Deviations:
//   - If there are no such blocks, upstream fails; here the graph stays unchanged, and a decision
//     says so. If the wait for a collective is missing, upstream fails; here that collective stays.
//     The graph also stays unchanged if the calls of a block cannot be adjacent.
//   - Upstream groups scheduler nodes, which do not include views. Here, views and getitems belong
//     to blocks, and an all-gather may be in-place or functional.
//   - The run's memory limit applies.

#include <fmt/core.h>

#include <algorithm>
#include <queue>

#include "core/graph/users.h"
#include "passes/reordering/list_schedule.h"
#include "passes/reordering/reordering.h"

namespace jointer {
namespace {

using Block = std::vector<Call>;  // in the graph's order

struct Turn {
  Call collective = 0;
  Block start, end;
};

class BlockFinder {
 public:
  BlockFinder(const Graph& graph, const Calls& calls)
      : graph_(graph), calls_(calls), users_(graph), mark_(calls.size(), kNoCall) {}

  void run() {
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      const Call call = static_cast<Call>(i);
      if (is(call, "_c10d_functional.all_gather_into_tensor_out") ||
          is(call, "_c10d_functional.all_gather_into_tensor"))
        find_gather(call);
      else if (is(call, "fsdp.chunk_cat"))
        find_reduce(call);
    }
  }

  std::vector<Turn> gathers, reduces;
  std::vector<Call> without_wait;

 private:
  [[nodiscard]] bool is(Call call, std::string_view packet) const {
    return graph_.op(graph_.node(calls_.node(call))).packet() == packet;
  }
  [[nodiscard]] bool is_plain(Call call) const {
    const OperatorInfo& op = graph_.op(graph_.node(calls_.node(call)));
    return op.is_getitem || op.is_view || calls_.is_wait(call) ||
           is(call, "fsdp.split_with_sizes_copy");
  }

  // Adds the direct and indirect neighbors of `from` (inputs or readers) that `takes` accepts.
  template <class Neighbors, class Takes>
  void spread(Call from, Call mark, Block& found, Neighbors neighbors, Takes takes) {
    std::vector<Call> open{from};
    while (!open.empty()) {
      const Call call = open.back();
      open.pop_back();
      for (const NodeId id : neighbors(calls_.node(call))) {
        const Call other = calls_.of_node(id);
        if (other == kNoCall || mark_[other] == mark || !takes(other)) continue;
        mark_[other] = mark;
        found.push_back(other);
        open.push_back(other);
      }
    }
  }

  void find_gather(Call start) {
    Block found{start};
    mark_[start] = start;
    spread(
        start, start, found, [&](NodeId id) { return graph_.inputs(id); },
        [](Call) { return true; });
    if (std::ranges::none_of(found, [&](Call call) { return is(call, "fsdp.all_gather_copy_in"); }))
      return;
    spread(
        start, start, found, [&](NodeId id) { return users_.of(id); },
        [&](Call call) { return is_plain(call); });
    std::ranges::sort(found);
    // If a layer is used twice, the second gather depends on the results that the first gather
    // unpacked, so stop before the second unpacking.
    std::size_t unpacked = 0;
    const auto second = std::ranges::find_if(
        found, [&](Call call) { return is(call, "fsdp.split_with_sizes_copy") && ++unpacked > 1; });
    found.erase(second, found.end());
    add(start, std::move(found), gathers);
  }

  void find_reduce(Call start) {
    Block found{start};
    mark_[start] = start;
    spread(
        start, start, found, [&](NodeId id) { return users_.of(id); }, [](Call) { return true; });
    std::ranges::sort(found);
    const auto scatter = std::ranges::find_if(found, [&](Call call) {
      return graph_.is_collective_start(graph_.node(calls_.node(call)));
    });
    if (scatter == found.end()) return;
    const Call collective = *scatter;
    add(collective, std::move(found), reduces);
  }

  void add(Call collective, Block found, std::vector<Turn>& turns) {
    const auto wait = std::ranges::find_if(found, [&](Call call) { return calls_.is_wait(call); });
    if (wait == found.end())
      without_wait.push_back(collective);
    else
      turns.push_back({collective, Block(found.begin(), wait), Block(wait, found.end())});
  }

  const Graph& graph_;
  const Calls& calls_;
  Users users_;
  std::vector<Call> mark_;
};

// Computes a topological order of calls and blocks.
class BlockOrder {
 public:
  explicit BlockOrder(const Calls& calls) : calls_(calls), unit_of_(calls.size(), kNoCall) {}

  // Adds a unit with the block's calls that are in no other unit. Returns the unit, or kNoCall if
  // no calls are left.
  Call add(const Block& block) {
    const auto unit = static_cast<Call>(units_.size());
    Block mine;
    for (const Call call : block) {
      if (unit_of_[call] != kNoCall) continue;
      unit_of_[call] = unit;
      mine.push_back(call);
    }
    if (mine.empty()) return kNoCall;
    units_.push_back(std::move(mine));
    return unit;
  }
  void put_before(Call earlier, Call later) {
    if (earlier != kNoCall && later != kNoCall) turns_.emplace_back(earlier, later);
  }

  // Returns an empty order if the constraints form a cycle or a call would leave its stretch.
  std::vector<Call> run() {
    for (std::size_t i = 0; i < calls_.size(); ++i)
      if (unit_of_[i] == kNoCall) add({static_cast<Call>(i)});
    std::vector<std::vector<Call>> after(units_.size());
    std::vector<std::uint32_t> waiting_for(units_.size(), 0);
    const auto connect = [&](Call earlier, Call later) {
      if (earlier == later) return;
      after[earlier].push_back(later);
      ++waiting_for[later];
    };
    for (std::size_t i = 0; i < calls_.size(); ++i)
      for (const Call before : calls_.before(static_cast<Call>(i)))
        connect(unit_of_[before], unit_of_[i]);
    for (const auto& [earlier, later] : turns_) connect(earlier, later);

    using Entry = std::pair<Call, Call>;  // the unit's first call, the unit
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
    for (std::size_t u = 0; u < units_.size(); ++u)
      if (waiting_for[u] == 0) ready.emplace(units_[u].front(), static_cast<Call>(u));
    std::vector<Call> order;
    while (!ready.empty()) {
      const Call unit = ready.top().second;
      ready.pop();
      order.insert(order.end(), units_[unit].begin(), units_[unit].end());
      for (const Call later : after[unit])
        if (--waiting_for[later] == 0) ready.emplace(units_[later].front(), later);
    }
    if (order.size() != calls_.size() || !keeps_stretches(order)) order.clear();
    return order;
  }

 private:
  [[nodiscard]] bool keeps_stretches(std::span<const Call> order) const {
    for (const Stretch stretch : calls_.stretches())
      for (std::size_t i = stretch.first; i < stretch.last; ++i)
        if (order[i] < stretch.first || order[i] >= stretch.last) return false;
    return true;
  }

  const Calls& calls_;
  std::vector<Block> units_;
  std::vector<Call> unit_of_;  // by call
  std::vector<std::pair<Call, Call>> turns_;
};

void alternate(std::span<const Turn> turns, BlockOrder& order) {
  Call previous = kNoCall;
  for (const Turn& turn : turns) {
    const Call start = order.add(turn.start);
    const Call end = order.add(turn.end);
    order.put_before(previous, start);
    previous = end;
  }
}

Result<void> run_enforce_comm_ordering_for_fsdp(Graph& graph, const Arguments&,
                                                PassContext& context) {
  JOINTER_TRY(const Calls calls, Calls::of(graph, context.analysis()));
  JOINTER_CHECK(context.report(0));
  BlockFinder blocks(graph, calls);
  blocks.run();
  for (const Call call : blocks.without_wait)
    context.decide(graph, calls.node(call), "kept", "Nothing waits for this collective.");
  if (blocks.gathers.empty() && blocks.reduces.empty()) {
    if (blocks.without_wait.empty())
      context.decide("kept",
                     "No collective reads an fsdp.all_gather_copy_in or fsdp.chunk_cat, so the "
                     "graph does not come from traceable FSDP2.");
    return {};
  }
  BlockOrder blocked(calls);
  alternate(blocks.gathers, blocked);
  alternate(blocks.reduces, blocked);
  const std::vector<Call> order = blocked.run();
  if (order.empty()) {
    context.decide(
        "kept",
        "The blocks cannot take turns: a block depends on a later block, or its calls cannot be "
        "adjacent.");
    return {};
  }
  if (!keep_within_limit(graph, calls, order, context)) return {};
  for (const auto* turns : {&blocks.gathers, &blocks.reduces})
    for (std::size_t i = 0; i < turns->size(); ++i)
      context.decide(graph, calls.node((*turns)[i].collective), "placed",
                     i == 0 ? std::string("It takes the first turn.")
                            : fmt::format("It takes its turn after {}.",
                                          graph.name(calls.node((*turns)[i - 1].collective))));
  return {};
}

}  // namespace

Pass enforce_comm_ordering_for_fsdp_pass() {
  return {.info = {.name = "enforce_comm_ordering_for_fsdp",
                   .summary = "Makes FSDP2's all-gathers and reduce-scatters take turns with the "
                              "calls that consume their results.",
                   .source = "torch/_inductor/comms.py, up to torch 2.12",
                   .stage = PassStage::reordering,
                   .is_idempotent = true},
          .run = run_enforce_comm_ordering_for_fsdp};
}

}  // namespace jointer
