// Computes the schedule of one chunked module.
//
// Terms. An exchange is an all_to_all_single that custom["EP_token_exchange"] marks as dispatch or
// combine. The exchange of token counts is not marked and counts as setup. The closure of an
// exchange is the exchange and the nodes in the region that it depends on, directly or through
// nodes outside all regions. A sync copy (custom["EP_token_count_sync"]) copies token counts to the
// host, which needs them before tokens can be sent.
//
// Steps. The forward starts with chunk 0, the backward with chunk 1. For each exchange, in order,
// emit the closure of the first chunk's exchange, the closure of the other chunk's exchange, and
// then every ready node that is neither a collective nor a wait: this compute hides the exchanges.
// With `pair_first`, everything else in the first closures of both chunks precedes both first
// exchanges. Sync copies in the first closure run as early as possible, and the host waits only for
// the last copy in a group. After the last exchange, emit the remaining nodes, including waits,
// chunk by chunk.
//
// Cost: number of nodes in the region times number of nodes in the graph.
//
// Source: torchtitan 0.3.0, experiments/graph_trainer/ep_overlap_pass.py. Deviation: waits are
// recognized by the exchange that they wait for, and their annotations are not changed here
// (ep_overlap_schedule.cpp renames them).

#include "passes/ep_overlap/region_schedule.h"

#include <algorithm>
#include <array>

#include "core/base/counted.h"
#include "core/graph/is_call_of.h"
#include "core/ops/collective_targets.h"

namespace jointer {
namespace {

using Why = RegionSchedule::Place::Why;

// Some nodes, and the nodes of the region that they depend on, in program order.
using Closure = std::vector<NodeId>;

struct SyncParts {
  Closure before, copies, after, launches;
};

class Planner {
 public:
  Planner(const Graph& graph, const Users& users, Annotations& marks, const ChunkedRegions& regions,
          std::size_t region)
      : graph_(graph),
        users_(users),
        marks_(marks),
        regions_(regions),
        number_(static_cast<std::int32_t>(region)),
        region_(regions.regions[region]),
        needs_(graph.node_count()),
        is_emitted_(graph.node_count(), false),
        is_exchange_(graph.node_count(), false) {}

  Result<RegionSchedule> run(bool pair_first) {
    for (const std::size_t chunk : {0U, 1U})
      if (region_.bodies[chunk].empty())
        return fail(Error::Kind::usage, "{} ({}): no node is annotated as part of chunk {}",
                    region_.root, region_.direction(), chunk);
    for (const std::size_t chunk : {0U, 1U}) JOINTER_CHECK(find_exchanges(chunk));
    if (exchanges_[0].empty() && exchanges_[1].empty()) return RegionSchedule{};
    JOINTER_CHECK(check_alike());
    for (const auto& body : region_.bodies)
      for (const NodeId id : body) needs_[id.index()] = find_needs(id);
    for (const std::size_t chunk : {0U, 1U}) JOINTER_CHECK(find_closures(chunk));
    JOINTER_CHECK(find_sync());
    schedule(pair_first);
    return finish();
  }

 private:
  // --- Exchanges ---

  [[nodiscard]] bool is_in(NodeId id, std::size_t chunk) const {
    const auto& owner = regions_.owner(id);
    return owner.region == number_ && owner.chunk == static_cast<std::int32_t>(chunk);
  }

  // "dispatch" or "combine", or an empty string if the node is not a token exchange.
  std::string label(NodeId id) {
    if (!is_call_of(graph_, id, kAllToAllTarget)) return {};
    std::string phase = marks_.text(id, "EP_token_exchange");
    return phase == "dispatch" || phase == "combine" ? phase : std::string();
  }

  Result<void> find_exchanges(std::size_t chunk) {
    for (const NodeId id : region_.bodies[chunk]) {
      if (std::string phase = label(id); !phase.empty()) {
        const auto users = users_.of(id);
        const auto waits = std::ranges::count_if(users, [&](NodeId user) {
          const bool is_wait = is_in(user, chunk) && is_call_of(graph_, user, kWaitTarget);
          if (is_wait) out_.waits.push_back(user);
          return is_wait;
        });
        if (waits != 1)
          return fail(Error::Kind::usage,
                      "token exchange {} must have exactly one wait in its chunk, but has {}",
                      graph_.name(id), waits);
        exchanges_[chunk].push_back(id);
        labels_[chunk].push_back(std::move(phase));
        is_exchange_[id.index()] = true;
        continue;
      }
      if (marks_.find(id, "EP_token_exchange") == nullptr) continue;
      if (is_call_of(graph_, id, kAllToAllTarget))
        return fail(Error::Kind::usage,
                    "{}: the annotation EP_token_exchange must be `dispatch` or `combine`",
                    graph_.name(id));
      const auto inputs = graph_.inputs(id);
      const bool is_wait = is_call_of(graph_, id, kWaitTarget) && !inputs.empty();
      if (is_wait && (!is_in(inputs[0], chunk) || label(inputs[0]).empty()))
        return fail(
            Error::Kind::usage,
            "{} is annotated with EP_token_exchange, but waits for {}, which is not a token "
            "exchange in the same chunk",
            graph_.name(id), graph_.name(inputs[0]));
      if (!is_wait)
        return fail(Error::Kind::usage,
                    "{} ({}) is annotated with EP_token_exchange, but only all_to_all_single and "
                    "its wait may be",
                    graph_.name(id), graph_.target(graph_.node(id)));
    }
    return {};
  }

  [[nodiscard]] Result<void> check_alike() const {
    if (exchanges_[0].size() != exchanges_[1].size())
      return fail(Error::Kind::usage,
                  "{} ({}): the chunks must have the same number of token exchanges, but chunk 0 "
                  "has {} and chunk 1 has {}",
                  region_.root, region_.direction(), exchanges_[0].size(), exchanges_[1].size());
    for (std::size_t i = 0; i < exchanges_[0].size(); ++i)
      if (labels_[0][i] != labels_[1][i])
        return fail(Error::Kind::usage,
                    "{} ({}): the chunks must have the same sequence of token exchanges, but {} in "
                    "chunk 0 is a {} exchange and {} in chunk 1 is a {} exchange",
                    region_.root, region_.direction(), graph_.name(exchanges_[0][i]), labels_[0][i],
                    graph_.name(exchanges_[1][i]), labels_[1][i]);
    return {};
  }

  // --- Dependencies within the region ---

  // The nodes of the region that `node` depends on, directly or through nodes outside all regions.
  [[nodiscard]] std::vector<NodeId> find_needs(NodeId node) {
    std::vector<NodeId> needs;
    std::vector<NodeId> stack(graph_.inputs(node).begin(), graph_.inputs(node).end());
    seen_.assign(graph_.node_count(), false);
    while (!stack.empty()) {
      const NodeId id = stack.back();
      stack.pop_back();
      if (seen_[id.index()]) continue;
      seen_[id.index()] = true;
      const auto owner = regions_.owner(id).region;
      if (owner == number_) {
        needs.push_back(id);
      } else if (owner == ChunkedRegions::kNone && graph_.node(id).kind == NodeKind::call) {
        const auto inputs = graph_.inputs(id);
        stack.insert(stack.end(), inputs.begin(), inputs.end());
      }
    }
    return needs;
  }

  // `nodes` and their transitive dependencies, in program order.
  [[nodiscard]] Closure closure_of(std::span<const NodeId> nodes) {
    Closure closure;
    std::vector<NodeId> stack(nodes.begin(), nodes.end());
    seen_.assign(graph_.node_count(), false);
    while (!stack.empty()) {
      const NodeId id = stack.back();
      stack.pop_back();
      if (seen_[id.index()]) continue;
      seen_[id.index()] = true;
      closure.push_back(id);
      const auto& needs = needs_[id.index()];
      stack.insert(stack.end(), needs.begin(), needs.end());
    }
    in_order(closure);
    return closure;
  }

  void in_order(std::vector<NodeId>& nodes) const {
    std::ranges::sort(nodes, {}, [this](NodeId id) { return graph_.position(id); });
  }

  Result<void> find_closures(std::size_t chunk) {
    const auto& exchanges = exchanges_[chunk];
    for (std::size_t i = 0; i < exchanges.size(); ++i) {
      closures_[chunk].push_back(closure_of(std::span(&exchanges[i], 1)));
      for (std::size_t later = i + 1; later < exchanges.size(); ++later)
        for (const NodeId id : closures_[chunk].back())
          if (id == exchanges[later])
            return fail(
                Error::Kind::usage,
                "token exchange {} depends on {}, which is a later exchange in the same chunk",
                graph_.name(exchanges[i]), graph_.name(id));
    }
    return {};
  }

  // --- Copies of token counts ---

  bool is_sync_copy(NodeId id) {
    return is_call_of(graph_, id, "aten._to_copy.default") &&
           marks_.text(id, "EP_token_count_sync") == "dispatch";
  }

  [[nodiscard]] bool goes_to_cpu(NodeId id) const {
    const Node& n = graph_.node(id);
    if (const Argument* device = graph_.argument(n, "device");
        device != nullptr && device->kind == Argument::Kind::device)
      return graph_.text(device->text()).substr(0, 3) == "cpu";
    const Tensor* tensor = graph_.single_tensor(n);
    return tensor != nullptr && graph_.device_type(*tensor) == DeviceType::cpu;
  }

  Result<void> find_sync() {
    for (const std::size_t chunk : {0U, 1U}) {
      const Closure& first = closures_[chunk].front();
      SyncParts& parts = sync_[chunk];
      for (const NodeId id : first)
        if (is_sync_copy(id)) parts.copies.push_back(id);
      for (const NodeId id : region_.bodies[chunk])
        if (is_sync_copy(id) && std::ranges::find(first, id) == first.end())
          return fail(Error::Kind::usage,
                      "{} ({}), chunk {}: {} copies token counts to the host, but cannot be "
                      "scheduled, because the chunk's first token exchange does not depend on it",
                      region_.root, region_.direction(), chunk, graph_.name(id));
      if (parts.copies.empty()) continue;
      if (parts.copies.size() != 2)
        return fail(Error::Kind::usage,
                    "{} ({}), chunk {}: expected 2 copies of token counts to the host, found {}",
                    region_.root, region_.direction(), chunk, parts.copies.size());
      for (const NodeId id : parts.copies)
        if (!goes_to_cpu(id))
          return fail(Error::Kind::usage,
                      "{} is annotated as a copy of token counts to the host, but its result is "
                      "not on the CPU",
                      graph_.name(id));
      split(first, parts);
    }
    if (sync_[0].copies.empty() != sync_[1].copies.empty())
      return fail(Error::Kind::usage,
                  "{} ({}): chunk {} copies token counts to the host, but chunk {} does not",
                  region_.root, region_.direction(), sync_[0].copies.empty() ? 1 : 0,
                  sync_[0].copies.empty() ? 0 : 1);
    return {};
  }

  void split(const Closure& first, SyncParts& parts) {
    std::vector<bool> comes_before(graph_.node_count(), false);
    for (const NodeId id : closure_of(parts.copies)) comes_before[id.index()] = true;
    for (const NodeId id : first) {
      if (std::ranges::find(parts.copies, id) != parts.copies.end()) continue;
      if (comes_before[id.index()])
        parts.before.push_back(id);
      else if (is_exchange_[id.index()])
        parts.launches.push_back(id);
      else
        parts.after.push_back(id);
    }
  }

  // --- The schedule ---

  void emit(std::span<const NodeId> nodes, Why why, std::size_t exchange) {
    for (const NodeId id : nodes) {
      if (is_emitted_[id.index()]) continue;
      is_emitted_[id.index()] = true;
      out_.places.push_back({id, is_exchange_[id.index()] ? Why::exchange : why, exchange});
    }
  }

  void emit_copies(std::span<const NodeId> copies, std::size_t exchange) {
    for (std::size_t i = 0; i < copies.size(); ++i) {
      out_.copies.push_back(copies[i]);
      out_.is_blocking.push_back(i + 1 == copies.size());
    }
    emit(copies, Why::sync, exchange);
  }

  void emit_pair() {
    if (!sync_[0].copies.empty()) {
      for (const std::size_t chunk : order()) emit(sync_[chunk].before, Why::setup, 0);
      std::vector<NodeId> copies;
      for (const std::size_t chunk : order())
        copies.insert(copies.end(), sync_[chunk].copies.begin(), sync_[chunk].copies.end());
      emit_copies(copies, 0);
      for (const std::size_t chunk : order()) emit(sync_[chunk].after, Why::setup, 0);
      for (const std::size_t chunk : order()) emit(sync_[chunk].launches, Why::exchange, 0);
      return;
    }
    for (const bool launches : {false, true})
      for (const std::size_t chunk : order()) {
        Closure part;
        for (const NodeId id : closures_[chunk].front())
          if (is_exchange_[id.index()] == launches) part.push_back(id);
        emit(part, Why::setup, 0);
      }
  }

  void emit_each(std::size_t exchange) {
    for (const std::size_t chunk : order()) {
      if (exchange == 0 && !sync_[chunk].copies.empty()) {
        emit(sync_[chunk].before, Why::setup, 0);
        emit_copies(sync_[chunk].copies, 0);
        emit(sync_[chunk].after, Why::setup, 0);
        emit(sync_[chunk].launches, Why::exchange, 0);
      } else {
        emit(closures_[chunk][exchange], Why::setup, exchange);
      }
    }
  }

  [[nodiscard]] bool is_functional_collective(NodeId id) const {
    const Node& n = graph_.node(id);
    return n.kind == NodeKind::call && graph_.target(n).starts_with("_c10d_functional.");
  }

  [[nodiscard]] bool is_ready(NodeId id) const {
    const auto& needs = needs_[id.index()];
    return std::ranges::all_of(needs, [this](NodeId need) { return is_emitted_[need.index()]; });
  }

  // Emits the candidates that are ready, level by level. Returns true if there were any.
  // `candidates` contains one list per chunk.
  bool emit_ready(std::span<const std::vector<NodeId>> candidates, bool with_collectives, Why why,
                  std::size_t exchange) {
    bool is_any = false;
    for (;;) {
      std::vector<NodeId> ready;
      for (const auto& nodes : candidates)
        for (const NodeId id : nodes)
          if (!is_emitted_[id.index()] && (with_collectives || !is_functional_collective(id)) &&
              is_ready(id))
            ready.push_back(id);
      if (ready.empty()) return is_any;
      emit(ready, why, exchange);
      is_any = true;
    }
  }

  // The nodes that may overlap with an exchange: those that later exchanges depend on, and those
  // that no exchange depends on.
  [[nodiscard]] std::vector<NodeId> later_nodes(std::size_t chunk, std::size_t exchange) const {
    std::vector<bool> is_needed(graph_.node_count(), false), is_later(graph_.node_count(), false);
    for (std::size_t i = 0; i < closures_[chunk].size(); ++i)
      for (const NodeId id : closures_[chunk][i]) {
        is_needed[id.index()] = true;
        if (i > exchange && !is_exchange_[id.index()]) is_later[id.index()] = true;
      }
    for (const NodeId id : region_.bodies[chunk])
      if (!is_needed[id.index()]) is_later[id.index()] = true;
    std::vector<NodeId> nodes;
    for (const auto& body : region_.bodies)
      for (const NodeId id : body)
        if (is_later[id.index()]) nodes.push_back(id);
    in_order(nodes);
    return nodes;
  }

  void schedule(bool pair_first) {
    const std::size_t count = exchanges_[0].size();
    for (std::size_t i = 0; i < count; ++i) {
      if (i == 0 && pair_first)
        emit_pair();
      else
        emit_each(i);
      std::array<std::vector<NodeId>, 2> candidates;
      for (std::size_t at = 0; at < 2; ++at) candidates[at] = later_nodes(order()[at], i);
      emit_ready(candidates, false, Why::filler, i);
    }
    for (bool is_any = true; is_any;) {
      is_any = false;
      for (const std::size_t chunk : order())
        is_any |= emit_ready(std::span(&region_.bodies[chunk], 1), true, Why::tail, count - 1);
    }
  }

  Result<RegionSchedule> finish() {
    for (const auto& body : region_.bodies)
      for (const NodeId id : body)
        if (!is_emitted_[id.index()])
          return fail(
              Error::Kind::usage,
              "{} in {} ({}) cannot be scheduled: the nodes that it depends on form a cycle",
              graph_.name(id), region_.root, region_.direction());
    out_.exchanges = exchanges_[0].size();
    out_.labels = labels_[0];
    return std::move(out_);
  }

  [[nodiscard]] std::array<std::size_t, 2> order() const {
    return region_.is_backward ? std::array<std::size_t, 2>{1, 0}
                               : std::array<std::size_t, 2>{0, 1};
  }

  const Graph& graph_;
  const Users& users_;
  Annotations& marks_;
  const ChunkedRegions& regions_;
  std::int32_t number_;
  const ChunkedRegion& region_;
  std::array<std::vector<NodeId>, 2> exchanges_;
  std::array<std::vector<std::string>, 2> labels_;
  std::array<std::vector<Closure>, 2> closures_;  // by chunk, then by exchange
  std::array<SyncParts, 2> sync_;
  std::vector<std::vector<NodeId>> needs_;  // by node
  std::vector<bool> is_emitted_, is_exchange_, seen_;
  RegionSchedule out_;
};

}  // namespace

Result<RegionSchedule> schedule_region(const Graph& graph, const Users& users, Annotations& marks,
                                       const ChunkedRegions& regions, std::size_t region,
                                       bool pair_first) {
  return Planner(graph, users, marks, regions, region).run(pair_first);
}

}  // namespace jointer
