#include "passes/reordering/calls.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/base/counted.h"
#include "core/graph/dependencies.h"
#include "core/graph/torch_version.h"
#include "core/ops/flops.h"

namespace jointer {

Result<Calls> Calls::of(const Graph& graph, const AnalysisOptions& options) {
  JOINTER_TRY(const auto estimator, estimator_for(graph, options));
  const std::vector<NodeCost> costs = estimate_all(graph, *estimator);
  Calls calls;
  calls.find_stretches(graph);
  calls.find_dependencies(graph);
  calls.describe(graph, options.simulation);
  for (const NodeId id : calls.nodes_) calls.ns_.push_back(costs[id.index()].ns);
  return calls;
}

void Calls::find_stretches(const Graph& graph) {
  call_of_.assign(graph.node_count(), kNoCall);
  std::size_t first = 0;
  const auto close = [&] {
    if (nodes_.size() > first) stretches_.push_back({first, nodes_.size()});
    first = nodes_.size();
  };
  for (const NodeId id : graph.order()) {
    const Node& n = graph.node(id);
    if (is_wall(n)) close();
    if (n.kind != NodeKind::call) continue;
    call_of_[id.index()] = static_cast<Call>(nodes_.size());
    nodes_.push_back(id);
  }
  close();
}

void Calls::find_dependencies(const Graph& graph) {
  const Dependencies dependencies(graph);
  std::vector<std::uint32_t> stretch_of(nodes_.size());
  for (std::size_t s = 0; s < stretches_.size(); ++s)
    for (std::size_t i = stretches_[s].first; i < stretches_[s].last; ++i)
      stretch_of[i] = static_cast<std::uint32_t>(s);
  before_.first.push_back(0);
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    for (const Dependency& d : dependencies.before(nodes_[i])) {
      const Call other = call_of_[d.node.index()];
      if (other == kNoCall || stretch_of[other] != stretch_of[i]) continue;
      before_.all.push_back(other);
    }
    before_.first.push_back(static_cast<std::uint32_t>(before_.all.size()));
  }
  after_ = Lists<Call>::of_each(nodes_.size(), [&](auto emit) {
    for (Call call = 0; call < nodes_.size(); ++call)
      for (const Call other : before(call)) emit(other, call);
  });
}

void Calls::describe(const Graph& graph, const SimulationOptions& options) {
  flags_.assign(nodes_.size(), 0);
  partners_.assign(nodes_.size(), kNoCall);
  streams_.assign(nodes_.size(), 0);
  ns_.reserve(nodes_.size());
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const Node& n = graph.node(nodes_[i]);
    const std::string_view packet = graph.op(n).packet();
    if (graph.is_asynchronous(n)) {
      flags_[i] = packet == "_dtensor.shard_dim_alltoall" ? kStart | kSync
                  : graph.is_transfer(n)                  ? kStart | kTransfer
                                                          : kStart;
      streams_[i] = static_cast<std::uint32_t>(stream_key(graph, n, options));
    } else if (graph.is_wait(n)) {
      flags_[i] = kWait;
      const NodeId start = graph.collective_of_wait(n);
      if (!start) continue;
      partners_[i] = call_of_[start.index()];
      if (Call& wait = partners_[partners_[i]]; wait == kNoCall) wait = static_cast<Call>(i);
    } else if (is_in_torch_registry(packet, torch_version_of(graph))) {
      flags_[i] = kGemm;
    }
  }
}

std::string_view Calls::stream_name(const Graph& graph, Call call) const {
  const Node& n = graph.node(nodes_[call]);
  if (graph.is_transfer(n)) return "copy";
  return n.group ? graph.group_label(n.group) : std::string_view("no group");
}

std::string calls_text(std::int64_t count) {
  return counted(static_cast<std::size_t>(count), "call");
}

void flag_overtaken(const Graph& graph, const Calls& calls, std::span<const Call> order,
                    PassContext& context) {
  std::vector<Call> last(graph.group_count() + 1, kNoCall);  // by group: its latest start
  for (const Call call : order) {
    if (!calls.is_start(call) || calls.is_transfer(call)) continue;
    const GroupId group = graph.node(calls.node(call)).group;
    Call& latest = last[group ? group.index() : graph.group_count()];
    if (latest != kNoCall && call < latest)
      context.decide(
          graph, calls.node(call), "overtaken",
          fmt::format("{}, a collective in the same process group, now precedes it. Ranks "
                      "that order collectives differently can hang or compute wrong results.",
                      graph.name(calls.node(latest))));
    else
      latest = call;
  }
}

void set_call_order(Graph& graph, const Calls& calls, std::span<const Call> order) {
  std::vector<std::size_t> place(calls.size());
  for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = i;
  // The nodes that are not calls, each with the number of calls before it.
  std::vector<std::pair<NodeId, std::size_t>> others;
  std::vector<std::size_t> first_reader(graph.node_count(), calls.size());
  std::size_t passed = 0;
  for (const NodeId id : graph.order()) {
    const Node& n = graph.node(id);
    if (n.kind != NodeKind::call) {
      others.emplace_back(id, passed);
      continue;
    }
    ++passed;
    for (const NodeId input : graph.inputs(n))
      first_reader[input.index()] = std::min(first_reader[input.index()], place[calls.of_node(id)]);
  }
  // Constants keep their relative order.
  std::size_t next = calls.size();
  for (std::size_t i = others.size(); i-- > 0;) {
    auto& [id, at] = others[i];
    if (graph.node(id).kind != NodeKind::get_attr) continue;
    at = next = std::min({at, next, first_reader[id.index()]});
  }
  std::ranges::stable_sort(others,
                           [](const auto& a, const auto& b) { return a.second < b.second; });
  std::vector<NodeId> nodes;
  nodes.reserve(graph.order().size());
  std::size_t other = 0;
  for (std::size_t i = 0; i <= order.size(); ++i) {
    for (; other < others.size() && others[other].second == i; ++other)
      nodes.push_back(others[other].first);
    if (i < order.size()) nodes.push_back(calls.node(order[i]));
  }
  graph.set_order(std::move(nodes));
}

}  // namespace jointer
