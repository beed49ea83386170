// Explains why a collective is exposed, based on its position in the program order.
//
// Terms
//   chain     views and other calls without a kernel, and kernels with a single input and without
//             a FLOP formula (casts, copies). They can move with a collective, so they are skipped.
//   producer  the last node outside the chain that computes an input of the collective. The start
//             cannot be moved before it.
//   user      the first node outside the chain that reads the result of the wait. The wait cannot
//             be moved after it.
//   window    the kernel time between start and wait, which hides the collective now.
//   range     the kernel time between producer and user, which could hide the collective. Except
//             for the chains, it is independent of the collective.
//
// Rules. The first one that holds gives the reason.
//   tail         the collective ends after the host and the compute stream are done.
//   stream_busy  the collective was queued behind another one on its stream for at least half of
//                the exposed time.
//   order        the range contains kernel time outside the window (at least a tenth of the exposed
//                time). Moving the start up or the wait down would use it.
//   dependency   there is a producer and a user, and the window uses up the range between them.
//   no_compute   the same without a producer (parameters gathered at the start) or without a user:
//                the range extends to the start or the end of the step.
//
// Cost: linear in nodes and inputs, plus the chain of each exposed collective; suffix sums give the
// kernel time between any two positions in O(1).

#include "core/schedule/exposure_reason.h"

#include "core/base/units.h"
#include "core/ops/flops.h"

namespace jointer {
namespace {

// The time of a kernel; 0 for other nodes.
std::int64_t kernel_ns(const Graph& graph, const Simulation& simulation, NodeId id) {
  const NodeTiming& timing = simulation.timing(id);
  return timing.stream == 0 && !graph.is_wait(graph.node(id)) ? timing.end - timing.start : 0;
}

class Explainer {
 public:
  Explainer(const Graph& graph, const Simulation& simulation) : graph_(graph) {
    look(simulation);
    marks_.assign(graph.node_count(), 0);
  }

  ExposureReason explain(const CollectiveTiming& c, std::int64_t queue_ns, NodeId behind) {
    using Kind = ExposureReason::Kind;
    if (c.reason.kind == Kind::tail) return {.kind = Kind::tail};
    if (behind && 2 * queue_ns >= c.exposed_ns)
      return {.kind = Kind::stream_busy, .node = behind, .ns = queue_ns};
    const NodeId producer = last_producer(c.start);
    const NodeId user = c.wait ? first_user_[c.wait.index()] : NodeId{};
    ExposureReason reason{.node = producer, .user = user};
    const std::int64_t before =
        between(producer ? graph_.position(producer) + 1 : 0, graph_.position(c.start));
    const std::int64_t after =
        between(graph_.position(c.wait), user ? graph_.position(user) : graph_.order().size());
    if (before + after > 0 && 10 * (before + after) >= c.exposed_ns) {
      reason.kind = Kind::order;
      reason.before = before >= after;
      reason.ns = reason.before ? before : after;
    } else {
      reason.kind = producer && user ? Kind::dependency : Kind::no_compute;
    }
    return reason;
  }

 private:
  // The role of a node in chains. Placeholders and constants are inputs of chains.
  enum class Place : std::uint8_t { other, chain, input };

  // Visits every node once, from last to first. Finds the kernel time from each position to the
  // end, the nodes in chains, and the first node outside chains that each value reaches.
  void look(const Simulation& simulation) {
    std::vector<char> computes(graph_.operator_count());  // the operator has a FLOP formula
    for (std::size_t i = 0; i < computes.size(); ++i)
      computes[i] = has_flop_formula(graph_.op(OperatorId(i)).packet()) ? 1 : 0;
    const auto order = graph_.order();
    from_.assign(order.size() + 1, 0);
    places_.assign(graph_.node_count(), Place::other);
    first_user_.assign(graph_.node_count(), {});
    for (std::size_t i = order.size(); i-- > 0;) {
      const NodeId id = order[i];
      const Node& n = graph_.node(id);
      const bool waits = graph_.is_wait(n);
      const std::int64_t ns = kernel_ns(graph_, simulation, id);
      from_[i] = from_[i + 1] + ns;
      Place& place = places_[id.index()];
      if (n.kind != NodeKind::call)
        place = n.kind == NodeKind::output ? Place::other : Place::input;
      else if (!waits && !graph_.is_asynchronous(n) &&
               (ns == 0 || (n.input_count == 1 && computes[n.target.index()] == 0)))
        place = Place::chain;
      const NodeId reached = place == Place::other ? id : first_user_[id.index()];
      if (!reached) continue;
      for (const NodeId input : graph_.inputs(n)) {
        NodeId& first = first_user_[input.index()];
        if (!first || graph_.position(reached) < graph_.position(first)) first = reached;
      }
    }
  }

  [[nodiscard]] std::int64_t between(std::size_t from, std::size_t to) const {
    return from < to ? from_[from] - from_[to] : 0;
  }

  // Returns the producer of the collective; none if its inputs depend only on inputs of the graph.
  [[nodiscard]] NodeId last_producer(NodeId start) {
    ++mark_;
    NodeId last;
    frontier_.clear();
    frontier_.push_back(start);
    while (!frontier_.empty()) {
      const NodeId id = frontier_.back();
      frontier_.pop_back();
      for (const NodeId input : graph_.inputs(id)) {
        const Place place = places_[input.index()];
        if (place == Place::input || marks_[input.index()] == mark_) continue;
        marks_[input.index()] = mark_;
        if (place == Place::chain) {
          frontier_.push_back(input);
        } else if (!last || graph_.position(input) > graph_.position(last)) {
          last = input;
        }
      }
    }
    return last;
  }

  const Graph& graph_;
  std::vector<std::int64_t> from_;  // kernel time from a position to the end
  std::vector<NodeId> first_user_;
  std::vector<Place>
      places_;  // indexed by node id; compact, so that searches touch few bytes per node
  std::vector<std::uint32_t> marks_;  // indexed by node id: the last search that visited the node
  std::uint32_t mark_ = 0;
  std::vector<NodeId> frontier_;
};

}  // namespace

std::string reason_text(const Graph& graph, const CollectiveTiming& c) {
  return reason_text(c, [&](NodeId node) { return std::string(graph.name(node)); });
}

std::string exposure_text(const Graph& graph, const Simulation& simulation,
                          const CollectiveTiming& c, const NodeText& text) {
  const std::string reason = reason_text(c, text);
  if (reason.empty() || !c.wait) return reason;
  std::int64_t window = 0;
  for (std::size_t i = graph.position(c.start); i < graph.position(c.wait); ++i)
    window += kernel_ns(graph, simulation, graph.order()[i]);
  if (window == 0) return fmt::format("no compute runs between start and wait; {}", reason);
  return fmt::format("compute between start and wait takes {}, the collective {}; {}",
                     format_ns(window), format_ns(c.end_ns - c.start_ns), reason);
}

std::string reason_text(const CollectiveTiming& c, const NodeText& text) {
  using Kind = ExposureReason::Kind;
  const ExposureReason& r = c.reason;
  const std::string time = format_ns(r.ns);
  const auto name = [&](NodeId node, std::string_view fallback) {
    return node ? text(node) : std::string(fallback);
  };
  switch (r.kind) {
    case Kind::none:
      return {};
    case Kind::tail:
      return fmt::format("{} ends after the last kernel", text(c.start));
    case Kind::stream_busy:
      return fmt::format("queued for {} behind {} on its stream", time,
                         name(r.node, "another collective"));
    case Kind::order:
      return r.before ? fmt::format(
                            "{} of independent compute precedes its start; raise the start "
                            "toward {}",
                            time, name(r.node, "the beginning"))
                      : fmt::format(
                            "{} of independent compute follows its wait; sink the wait "
                            "toward {}",
                            time, name(r.user, "the end"));
    case Kind::dependency:
      return fmt::format(
          "held by {}, which produces its input right before it; {} needs the result "
          "immediately",
          name(r.node, "its input"), name(r.user, "the output"));
    case Kind::no_compute:
      return fmt::format("no unused independent compute between {} and {}",
                         name(r.node, "the start of the step"), name(r.user, "the end"));
  }
  return {};
}

void explain_exposure(const Graph& graph, const Simulation& simulation,
                      std::span<const std::int32_t> queued_after,
                      std::span<CollectiveTiming> collectives) {
  Explainer explainer(graph, simulation);
  for (std::size_t i = 0; i < collectives.size(); ++i) {
    CollectiveTiming& c = collectives[i];
    if (!c.is_exposed()) continue;
    const NodeId behind = queued_after[i] < 0
                              ? NodeId{}
                              : collectives[static_cast<std::size_t>(queued_after[i])].start;
    c.reason = explainer.explain(c, c.start_ns - c.ready_ns, behind);
  }
}

}  // namespace jointer
