// Finds the values that the backward may not recompute: tagged values, and those that the
// heuristics of torch._functorch.partitioners.solve_min_cut ban. The first rule that applies is the
// reason.
//
// A forward call is banned if
//   1. it is tagged MUST_SAVE or MUST_CPU_OFFLOAD;
//   2. its operator is not on torch's allowlist; or, without the allowlist, it draws random numbers
//      or is compute-intensive (operators that torch does not know are neither, unless
//      is_non_builtin_to_include is set, which is off by default);
//   3. it is in memory anyway: a reader outside the forward, such as the graph's output, does not
//      fuse with it, directly or through views. Views themselves are exempt;
//   4. it is a reduction: its result has less than a quarter of the bytes of its inputs (the values
//      among its positional arguments; lists do not count).
// getitem is exempt from these rules; lift_fresh and calls that return a device are exempt from 2
// to 4.
//
// Used far apart: a reader that fuses with its input is banned if it comes, in the forward's
// program order, after the first call that does not fuse with its input. The search for that call
// starts from the readers of the same value and ends at the last of them. Calls that far apart are
// unlikely to end up in one kernel.
//
// Long chains: from every forward node that no chain has reached yet, in program order, follow
// fusible calls that are not banned, always the earliest first. If the only remaining end of the
// chain is more than 100 positions after the start, it is banned.
//
// Inputs of the forward and random seeds are banned too. Never banned, whatever the rules say:
// views (cheap_view), values tagged for recomputation, symbolic floats, and values that the caller
// allows, except collectives.
//
// Deviation: a tag that came with the graph is honored on every other value that does not depend on
// a tangent. torch ignores MUST_SAVE on a getitem and on values that only the backward needs, and
// ignores MUST_CPU_OFFLOAD.
//
// torch's limit on the distance from the backward (max_dist_from_bw) can never apply: it requires a
// distance that is both below and above 1000.
//
// Cost: linear in the edges, except for (3) through views, and for used-far-apart, which searches
// from each value as far as fusible calls reach.

#include "core/partition/ban_rules.h"

#include <algorithm>
#include <functional>
#include <queue>

#include "core/base/checked.h"
#include "core/partition/recompute_tags.h"

namespace jointer {
namespace {

constexpr std::uint32_t kLongestChain = 100;
constexpr std::int64_t kReduction = 4;

class Finder {
 public:
  Finder(const BanContext& context, const BanOptions& options, const std::vector<bool>& allowed)
      : in_(context), options_(options), allowed_(allowed) {
    bans_.by_node.resize(in_.graph.node_count());
  }

  Bans run() {
    for (const NodeId id : in_.graph.order()) ban_by_itself(id);
    if (options_.used_far_apart) ban_used_far_apart();
    if (options_.long_fusible_chains) ban_long_chains();
    return std::move(bans_);
  }

 private:
  void ban(NodeId id, BanReason reason, NodeId by = {}) {
    const Node& node = in_.graph.node(id);
    Ban& ban = bans_.by_node[id.index()];
    if (ban.reason != BanReason::none || in_.fusion.has(id, OperatorTag::cheap_view)) return;
    const bool is_collective =
        node.kind == NodeKind::call && in_.graph.op(node).space() == "_c10d_functional";
    if (!allowed_.empty() && allowed_[id.index()] && !is_collective) return;
    if (must_recompute(node) || is_symbolic_float(in_.graph, node)) return;
    ban = {reason, by};
    bans_.banned.push_back(id);
  }

  void ban_by_itself(NodeId id) {
    const Node& node = in_.graph.node(id);
    if (in_.parts.depends_on_tangent[id.index()] || must_recompute(node)) return;
    if (node.kind == NodeKind::placeholder) {
      if (!in_.parts.is_forward(id)) return;
      const bool is_seed = in_.graph.target(node).find("fwd_") != std::string_view::npos;
      ban(id, is_seed ? BanReason::seed : BanReason::primal);
    } else if (is_tagged_to_save(node) &&
               (in_.tags.empty() || in_.tags[id.index()] == TagSource::graph)) {
      ban(id, BanReason::must_save);
    } else if (node.kind == NodeKind::call && in_.parts.is_forward(id)) {
      const Ban found = reason_of(id);
      if (found.reason != BanReason::none) ban(id, found.reason, found.by);
    }
  }

  [[nodiscard]] Ban reason_of(NodeId id) const {
    const Node& node = in_.graph.node(id);
    const OperatorInfo& op = in_.graph.op(node);
    if (op.is_getitem) return {};
    if (is_tagged_to_save(node)) return {BanReason::must_save, {}};
    if (op.name == "aten.lift_fresh_copy.default" || op.name == "aten.lift_fresh.default")
      return {};
    // torch exempts such calls from 2.15 on; older versions do not insert them.
    if (is_device(in_.graph, node)) return {};
    if (options_.not_in_allowlist) {
      if (!op.has(OperatorTag::recomputable)) return {BanReason::not_allowed, {}};
    } else {
      if (op.has(OperatorTag::fusible) && !op.has(OperatorTag::recomputable))
        return {BanReason::random, {}};
      if (op.has(OperatorTag::compute_intensive)) return {BanReason::compute_intensive, {}};
    }
    if (options_.materialized_in_backward)
      if (const NodeId reader = materializing_reader(id)) return {BanReason::materialized, reader};
    if (is_reduction(id)) return {BanReason::reduction, {}};
    return {};
  }

  // A reader outside the forward that requires the value, or a view of it, to be in memory; none if
  // there is no such reader, and for views.
  [[nodiscard]] NodeId materializing_reader(NodeId id) const {
    if (in_.fusion.has(id, OperatorTag::cheap_view)) return {};
    std::vector<NodeId> pending{id};
    for (std::size_t i = 0; i < pending.size(); ++i) {
      const NodeId current = pending[i];
      for (const NodeId user : in_.users.of(current)) {
        if (!in_.parts.is_forward(user) && !in_.fusion.fuse(current, user)) return user;
        if (in_.fusion.has(user, OperatorTag::cheap_view) &&
            std::ranges::find(pending, user) == pending.end())
          pending.push_back(user);
      }
    }
    return {};
  }

  [[nodiscard]] bool is_reduction(NodeId id) const {
    std::int64_t read = 0;
    for (const Argument& argument : in_.graph.args(in_.graph.node(id)))
      if (argument.kind == Argument::Kind::node && argument.node())
        read = saturating_add(read, in_.bytes[argument.node().index()]);
    return saturating_mul(in_.bytes[id.index()], kReduction) < read;
  }

  void ban_used_far_apart() {
    const std::vector<NodeId> forward = forward_nodes();
    pushed_.assign(2 * forward.size(), 0);
    std::uint32_t stamp = 0;
    for (const NodeId used : forward) {
      std::uint32_t first = JointParts::kNotForward, last = 0;
      for (const NodeId user : in_.users.of(used)) {
        if (!in_.parts.is_forward(user)) continue;
        first = std::min(first, in_.parts.forward_position[user.index()]);
        last = std::max(last, in_.parts.forward_position[user.index()]);
      }
      if (first >= last) continue;  // fewer than two readers
      const std::uint32_t end = first_unfusible(used, last, forward, ++stamp);
      for (const NodeId user : in_.users.of(used))
        if (in_.parts.is_forward(user) && in_.parts.forward_position[user.index()] > end &&
            in_.fusion.fuse(used, user))
          ban(user, BanReason::far_apart, used);
    }
  }

  // Returns the position of the earliest call that does not fuse with its input, searching from the
  // readers of `used` up to `last`; `last` if there is no such call.
  std::uint32_t first_unfusible(NodeId used, std::uint32_t last, std::span<const NodeId> forward,
                                std::uint32_t stamp) {
    // Keys are twice the position, plus one if the call fuses: at the same position, a call that
    // does not fuse comes first.
    std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> pending;
    const auto push = [&](NodeId id, bool fuses) {
      const std::uint32_t key = 2 * in_.parts.forward_position[id.index()] + (fuses ? 1 : 0);
      if (pushed_[key] == stamp) return;
      pushed_[key] = stamp;
      pending.push(key);
    };
    for (const NodeId user : in_.users.of(used))
      if (in_.parts.is_forward(user)) push(user, true);
    while (!pending.empty()) {
      const std::uint32_t key = pending.top();
      pending.pop();
      if (key % 2 == 0) return key / 2;
      const NodeId id = forward[key / 2];
      for (const NodeId user : in_.users.of(id))
        if (in_.parts.is_forward(user) && in_.parts.forward_position[user.index()] <= last)
          push(user, in_.fusion.fuse(id, user));
    }
    return last;
  }

  void ban_long_chains() {
    const std::vector<NodeId> forward = forward_nodes();
    std::vector<bool> visited(forward.size(), false);
    std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> pending;
    for (std::uint32_t start = 0; start < forward.size(); ++start) {
      if (visited[start]) continue;
      pending.push(start);
      while (!pending.empty()) {
        const std::uint32_t at = pending.top();
        pending.pop();
        if (visited[at]) continue;
        visited[at] = true;
        const NodeId id = forward[at];
        if (at > start + kLongestChain && pending.empty()) {
          ban(id, BanReason::long_chain, forward[start]);
          break;
        }
        for (const NodeId user : in_.users.of(id))
          if (in_.parts.is_forward(user) && in_.fusion.fuse(id, user) &&
              bans_.by_node[user.index()].reason == BanReason::none)
            pending.push(in_.parts.forward_position[user.index()]);
      }
    }
  }

  [[nodiscard]] std::vector<NodeId> forward_nodes() const {
    std::vector<NodeId> forward;
    for (const NodeId id : in_.graph.order())
      if (in_.parts.is_forward(id)) forward.push_back(id);
    return forward;
  }

  const BanContext& in_;
  const BanOptions& options_;
  const std::vector<bool>& allowed_;
  Bans bans_;
  std::vector<std::uint32_t> pushed_;  // by key: the last search that pushed it
};

}  // namespace

Bans find_bans(const BanContext& context, const BanOptions& options,
               const std::vector<bool>& allowed) {
  return Finder(context, options, allowed).run();
}

}  // namespace jointer
