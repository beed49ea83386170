#include "core/kernels/kernels.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>

#include "core/base/index.h"
#include "core/kernels/cancellation_poll.h"
#include "core/kernels/fusion.h"
#include "core/kernels/fusion_rules.h"
#include "core/kernels/kernel_bytes.h"
#include "core/kernels/memory_order.h"
#include "core/kernels/scheduling.h"
#include "core/kernels/simple_overlap.h"

namespace jointer::kernels {

namespace {

// Torch 2.11 has no `enable_simple_overlap`; versions between 2.11 and 2.15 are assumed to have it.
constexpr TorchVersion kFirstWithOverlap{2, 12};

Kernel::Kind kind_of(const Scheduling& s, const SchedulerNode& node) {
  if (node.is_mix_order()) return Kernel::Kind::mix_order_reduction;
  if (node.is_foreach()) return Kernel::Kind::foreach_;
  switch (s.op(node.ops.front()).kind) {
    case Op::Kind::template_:
      return Kernel::Kind::template_;
    case Op::Kind::extern_:
      return Kernel::Kind::external;
    case Op::Kind::multi_output:
      return Kernel::Kind::multi_output;
    case Op::Kind::view:
      return Kernel::Kind::view;
    case Op::Kind::collective:
      return Kernel::Kind::collective;
    case Op::Kind::wait:
      return Kernel::Kind::wait;
    case Op::Kind::nop:
      return Kernel::Kind::nop;
    case Op::Kind::pointwise:
    case Op::Kind::reduction:
    case Op::Kind::scan:
    case Op::Kind::sort:
      break;
  }
  return node.is_reduction ? Kernel::Kind::reduction : Kernel::Kind::pointwise;
}

Kernel make_kernel(Scheduling& s, NodeIndex id) {
  const SchedulerNode& node = s.node(id);
  Kernel kernel;
  kernel.kind = kind_of(s, node);
  kernel.ops.assign(node.ops.begin(), node.ops.end());
  kernel.numel = node.numel;
  kernel.rnumel = node.rnumel;
  kernel.is_on_gpu = node.is_on_gpu;
  kernel.product = s.op(node.ops.front()).product;
  const bool is_of_loops =
      kernel.kind == Kernel::Kind::pointwise || kernel.kind == Kernel::Kind::reduction;
  if (is_of_loops && node.ops.size() == 1) kernel.call = s.op(node.ops.front()).call;
  for (const OpId op : node.ops)
    for (const NodeId computed : s.op(op).nodes)
      if (std::find(kernel.nodes.begin(), kernel.nodes.end(), computed) == kernel.nodes.end())
        kernel.nodes.push_back(computed);
  count_bytes(s, id, kernel);
  return kernel;
}

// The last refusal of each pair whose ops are in different kernels, by the first op, then by the
// second. Fusion asks about most pairs several times, so they are put in lists by their first op
// before anything is sorted.
std::vector<RefusedPair> final_refusals(std::span<const RefusedPair> refused,
                                        std::span<const std::int32_t> kernel_of) {
  const auto is_apart = [&](const RefusedPair& pair) {
    return kernel_of[as_index(pair.first)] != kernel_of[as_index(pair.second)];
  };
  std::vector<std::size_t> start(kernel_of.size() + 1, 0);  // of the list of each op
  for (const RefusedPair& pair : refused)
    if (is_apart(pair)) ++start[as_index(pair.first) + 1];
  for (std::size_t op = 1; op < start.size(); ++op) start[op] += start[op - 1];
  std::vector<RefusedPair> lists(start.back());
  std::vector<std::size_t> next(start.begin(), start.end() - 1);
  for (auto pair = refused.rbegin(); pair != refused.rend(); ++pair)
    if (is_apart(*pair)) lists[next[as_index(pair->first)]++] = *pair;
  std::vector<RefusedPair> result;
  std::vector<OpId> seen_with(kernel_of.size(), -1);  // by second op: the first op of the list
  for (std::size_t op = 0; op < kernel_of.size(); ++op) {
    const std::size_t first = result.size();
    for (std::size_t i = start[op]; i < start[op + 1]; ++i)
      if (std::exchange(seen_with[as_index(lists[i].second)], lists[i].first) != lists[i].first)
        result.push_back(lists[i]);
    std::sort(result.begin() + static_cast<std::ptrdiff_t>(first), result.end(),
              [](const RefusedPair& a, const RefusedPair& b) { return a.second < b.second; });
  }
  return result;
}

// Returns the nodes in the order that Inductor chooses for a low peak.
std::vector<NodeIndex> sort_for_memory(const MemoryPlan& plan, const std::vector<NodeIndex>& nodes,
                                       Kernels& result) {
  std::vector<Place> best = plan.order(MemoryOrder::as_fused);
  std::int64_t min_peak = result.order_peaks[0] = plan.simple_peak(best);
  result.fused_peak = plan.peak(best).peak;
  for (const MemoryOrder method :
       {MemoryOrder::least_peak_first, MemoryOrder::breadth_first, MemoryOrder::depth_first}) {
    std::vector<Place> order = plan.order(method);
    if (order.size() != nodes.size()) continue;  // a cycle; Inductor raises an error
    const std::int64_t peak = plan.simple_peak(order);
    result.order_peaks[static_cast<std::size_t>(method)] = peak;
    if (peak >= min_peak) continue;
    min_peak = peak;
    best = std::move(order);
    result.order = method;
  }
  std::vector<NodeIndex> sorted;
  sorted.reserve(nodes.size());
  for (const Place place : best) sorted.push_back(nodes[as_index(place)]);
  return sorted;
}

}  // namespace

std::string_view to_string(Kernel::Kind kind) {
  return name_in(kKernelKinds, kind);
}

bool is_launch(Kernel::Kind kind) {
  using enum Kernel::Kind;
  return kind == pointwise || kind == reduction || kind == mix_order_reduction ||
         kind == foreach_ || kind == template_ || kind == external || kind == collective;
}

bool is_memory_bound(const Kernel& kernel, bool has_flops) {
  using enum Kernel::Kind;
  const bool is_of_call = kernel.kind == external || kernel.kind == template_ || kernel.call;
  return is_launch(kernel.kind) && kernel.kind != collective && !(is_of_call && has_flops);
}

Kernels schedule(const Ir& ir, TorchVersion torch, const Reorder& reorder) {
  return schedule(ir, torch, reorder, {}).value();
}

Result<Kernels> schedule(const Ir& ir, TorchVersion torch, const Reorder& reorder,
                         const std::function<bool()>& is_cancelled) {
  CancellationPoll poll(is_cancelled);
  const auto cancelled = [] { return fail(Error::Kind::cancelled, "cancelled"); };
  Scheduling scheduling(ir, torch);
  FusionRules rules(scheduling);
  Kernels result;
  const std::vector<NodeIndex> fused = fuse_nodes(scheduling, rules, poll);
  if (poll.is_cancelled()) return cancelled();
  // If another order wins, it gets a new plan, as in Inductor: the last read decides how much of an
  // input is freed.
  std::optional<MemoryPlan> plan(std::in_place, scheduling, fused);
  std::vector<NodeIndex> nodes = sort_for_memory(*plan, fused, result);
  if (poll.is_cancelled()) return cancelled();
  if (result.order != MemoryOrder::as_fused) plan.emplace(scheduling, nodes);
  const auto set_order = [&](std::vector<NodeIndex> moved) {
    if (moved == nodes) return;
    nodes = std::move(moved);
    plan.emplace(scheduling, nodes);
  };
  if (reorder) set_order(reorder(scheduling, nodes));
  if (scheduling.has(kFirstWithOverlap)) {
    std::vector<NodeIndex> moved;
    moved.reserve(nodes.size());
    for (const Place place : overlap_order(*plan)) moved.push_back(nodes[as_index(place)]);
    set_order(std::move(moved));
  }
  MemoryPlan::Peak peak = plan->peak(plan->order(MemoryOrder::as_fused));
  result.peak = peak.peak;
  result.lives = std::move(peak.lives);
  result.users.ends.reserve(result.lives.size());
  for (const BufferLife& life : result.lives) {
    const std::span<const Place> users = plan->users(life.buffer);
    result.users.kernels.insert(result.users.kernels.end(), users.begin(), users.end());
    result.users.ends.push_back(static_cast<std::int32_t>(result.users.kernels.size()));
  }
  result.after_allocation = std::move(peak.after_allocation);
  result.after_release = std::move(peak.after_release);
  result.kernel_of.assign(ir.ops.size(), -1);
  result.kernels.reserve(nodes.size());
  for (const NodeIndex id : nodes) {
    const auto kernel = static_cast<std::int32_t>(result.kernels.size());
    result.kernels.push_back(make_kernel(scheduling, id));
    for (const OpId op : result.kernels.back().ops) result.kernel_of[as_index(op)] = kernel;
  }
  result.fused_order.reserve(fused.size());
  for (const NodeIndex id : fused)
    result.fused_order.push_back(result.kernel_of[as_index(scheduling.node(id).ops.front())]);
  result.refused = final_refusals(rules.refused(), result.kernel_of);
  result.refusals = rules.counts();
  return result;
}

std::optional<std::pair<std::int32_t, std::int32_t>> Kernels::kernels_of(
    const RefusedPair& pair) const {
  if (pair.first < 0 || pair.second < 0) return std::nullopt;
  const std::int32_t first = kernel_of[as_index(pair.first)];
  const std::int32_t second = kernel_of[as_index(pair.second)];
  if (first < 0 || second < 0 || first == second) return std::nullopt;
  return std::pair(first, second);
}

std::set<std::pair<std::int32_t, Refusal>> Kernels::refusals_of(std::int32_t kernel) const {
  std::set<std::pair<std::int32_t, Refusal>> found;
  for (const RefusedPair& pair : refused) {
    const auto both = kernels_of(pair);
    if (!both || (both->first != kernel && both->second != kernel)) continue;
    found.emplace(both->first == kernel ? both->second : both->first, pair.refusal);
  }
  return found;
}

}  // namespace jointer::kernels
