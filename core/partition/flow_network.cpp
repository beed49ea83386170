// Computes the minimum cut nearest to the sink, as networkx.minimum_cut does.
//
// If there are several minimum cuts, the choice depends on how the cut is derived from a maximum
// flow. The vertices that can still reach the sink, along arcs with remaining capacity and against
// arcs with flow, are the same for every maximum flow: they are the sink side of the cut nearest to
// the sink.
//
// Steps
//   1. Vertices reachable from the source along infinite arcs are on the source's side in every
//      finite cut; vertices that reach the sink along infinite arcs are on the sink's side. In the
//      networks of a partitioner these are nearly all. If a vertex is on both sides, no cut is
//      finite.
//   2. Contract each side to one vertex. The arcs from the source's side to the sink's are in every
//      finite cut. Pass the remaining network to push_relabel_max_flow of the Boost Graph Library,
//      with infinity replaced by more than the sum of all capacities.
//   3. Search from the sink, against the residual arcs.
//
// Cost: linear, except for the flow through the remaining vertices: O(V^3) in theory, nearly linear
// on such networks (tests/benchmarks/ratios.py).

#include "core/partition/flow_network.h"

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/push_relabel_max_flow.hpp>

#include "core/base/checked.h"
#include "core/base/lists.h"

namespace jointer {
namespace {

using Vertex = FlowNetwork::Vertex;
using Arc = FlowNetwork::Arc;

constexpr auto is_infinite = [](const Arc& arc) { return arc.capacity == FlowNetwork::kInfinite; };

// By vertex: the ends of the infinite arcs that start there or, if `backward`, the starts of those
// that end there.
Lists<Vertex> infinite_arcs(const FlowNetwork& network, bool backward) {
  return Lists<Vertex>::of_each(network.vertex_count(), [&](auto emit) {
    for (const Arc& arc : network.arcs())
      if (is_infinite(arc)) emit(backward ? arc.to : arc.from, backward ? arc.from : arc.to);
  });
}

std::vector<bool> reached(const Lists<Vertex>& arcs, Vertex start, std::size_t vertices) {
  std::vector<bool> is_reached(vertices, false);
  std::vector<Vertex> pending{start};
  is_reached[start] = true;
  while (!pending.empty()) {
    const Vertex vertex = pending.back();
    pending.pop_back();
    for (const Vertex next : arcs.of(vertex)) {
      if (is_reached[next]) continue;
      is_reached[next] = true;
      pending.push_back(next);
    }
  }
  return is_reached;
}

// The contracted network, and its flow.
class Residual {
 public:
  explicit Residual(std::size_t vertices) : graph_(vertices) {}

  void add(Vertex from, Vertex to, std::int64_t capacity) {
    const auto there = boost::add_edge(from, to, Edge{capacity, 0, {}}, graph_).first;
    const auto back = boost::add_edge(to, from, Edge{0, 0, {}}, graph_).first;
    graph_[there].reverse = back;
    graph_[back].reverse = there;
  }

  void solve() {
    boost::push_relabel_max_flow(
        graph_, FlowNetwork::kSource, FlowNetwork::kSink, boost::get(&Edge::capacity, graph_),
        boost::get(&Edge::left, graph_), boost::get(&Edge::reverse, graph_),
        boost::get(boost::vertex_index, graph_));
  }

  // Indexed by vertex: true if the vertex can still reach the sink.
  [[nodiscard]] std::vector<bool> sink_side() const {
    std::vector<bool> is_reached(boost::num_vertices(graph_), false);
    std::vector<std::size_t> pending{FlowNetwork::kSink};
    is_reached[FlowNetwork::kSink] = true;
    while (!pending.empty()) {
      const std::size_t vertex = pending.back();
      pending.pop_back();
      for (auto [edge, end] = boost::out_edges(vertex, graph_); edge != end; ++edge) {
        const std::size_t from = boost::target(*edge, graph_);
        if (is_reached[from] || graph_[graph_[*edge].reverse].left == 0) continue;
        is_reached[from] = true;
        pending.push_back(from);
      }
    }
    return is_reached;
  }

 private:
  using Traits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;
  struct Edge {
    std::int64_t capacity = 0, left = 0;
    Traits::edge_descriptor reverse;
  };
  boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, boost::no_property, Edge>
      graph_;
};

}  // namespace

Result<FlowNetwork::Cut> FlowNetwork::minimum_cut() const {
  const std::vector<bool> with_source = reached(infinite_arcs(*this, false), kSource, vertices_);
  if (with_source[kSink]) return Cut{.capacity = kInfinite, .sink_side = {}};
  Cut cut{.sink_side = reached(infinite_arcs(*this, true), kSink, vertices_)};

  constexpr Vertex kUnnumbered = std::numeric_limits<Vertex>::max();
  std::vector<Vertex> number(vertices_, kUnnumbered);
  std::vector<Vertex> left{kSource, kSink};
  const auto contracted = [&](Vertex vertex) {
    if (with_source[vertex]) return kSource;
    if (cut.sink_side[vertex]) return kSink;
    if (number[vertex] == kUnnumbered) {
      number[vertex] = static_cast<Vertex>(left.size());
      left.push_back(vertex);
    }
    return number[vertex];
  };
  std::int64_t total = 0;
  std::vector<Arc> kept;
  for (const Arc& arc : arcs_) {
    if (arc.capacity != kInfinite) total = saturating_add(total, arc.capacity);
    const Vertex from = contracted(arc.from), to = contracted(arc.to);
    if (from == to || to == kSource || from == kSink || arc.capacity == 0) continue;
    if (from == kSource && to == kSink)
      cut.capacity = saturating_add(cut.capacity, arc.capacity);
    else
      kept.push_back({from, to, arc.capacity});
  }
  if (total >= kInfinite / 4)
    return fail(Error::Kind::usage,
                "the capacities of the flow network add up to 2^61 or more, so no minimum cut can "
                "be computed; check the sizes of the graph's tensors");
  Residual residual(left.size());
  for (const Arc& arc : kept)
    residual.add(arc.from, arc.to, is_infinite(arc) ? total + 1 : arc.capacity);
  if (!kept.empty()) residual.solve();
  const std::vector<bool> sink_side = residual.sink_side();
  for (std::size_t i = 2; i < left.size(); ++i) cut.sink_side[left[i]] = sink_side[i];
  for (const Arc& arc : kept) {
    const auto is_sink = [&](Vertex v) { return v == kSink || (v != kSource && sink_side[v]); };
    if (!is_sink(arc.from) && is_sink(arc.to))
      cut.capacity = saturating_add(cut.capacity, arc.capacity);
  }
  return cut;
}

std::vector<FlowNetwork::Vertex> FlowNetwork::infinite_path() const {
  const Lists<Vertex> arcs = infinite_arcs(*this, false);
  constexpr Vertex kUnseen = std::numeric_limits<Vertex>::max();
  std::vector<Vertex> came_from(vertices_, kUnseen), pending{kSource};
  came_from[kSource] = kSource;
  for (std::size_t i = 0; i < pending.size() && came_from[kSink] == kUnseen; ++i)
    for (const Vertex next : arcs.of(pending[i])) {
      if (came_from[next] != kUnseen) continue;
      came_from[next] = pending[i];
      pending.push_back(next);
    }
  std::vector<Vertex> path;
  if (came_from[kSink] == kUnseen) return path;
  for (Vertex at = kSink; at != kSource; at = came_from[at]) path.push_back(at);
  path.push_back(kSource);
  std::ranges::reverse(path);
  return path;
}

}  // namespace jointer
