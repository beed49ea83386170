// Finds the nodes of two graphs that correspond to each other, by name or by structure.
//
// Matching by structure begins with the signature. Outputs correspond. Placeholders correspond by
// position if both graphs have the same number of them, or else by name. Every node has a color per
// radius. At radius 0, it is a hash of the node without names (its call, or its kind and value) and
// of its position in the signature; at radius r + 1, it combines the colors at radius r of the
// node, of its arguments by position, and of its readers. So nodes have the same color if
// everything within that distance is the same.
//
// 1. From the largest radius to the smallest, nodes are matched if exactly one unmatched node in
//    each graph has their color.
// 2. From the largest radius to the smallest, nodes that share a color are matched in program
//    order: first within the same module, then across modules. At radius 0, only within the same
//    module.
// 3. The arguments of matched nodes are matched by position if they call the same operator, so that
//    a call whose result has a different shape counts as changed, not as one node removed and
//    another added.
//
// Whenever two nodes are matched, so are their arguments at the same position, and readers that
// have only one counterpart, if their colors at radius 0 are the same. Therefore a difference
// affects only its surroundings. If there are several identical chains, all nodes of one are
// matched with nodes of the same counterpart.
//
// Cost: one scan of all arguments for each radius up to 32, plus sorting for each of seven radii.
// Nodes that can be exchanged for each other without changing any color may be matched in a way
// that makes equal graphs differ; nodes that compute from different inputs cannot be exchanged in
// this way.

#include "core/edit/node_match.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <utility>

#include "core/graph/argument_nodes.h"
#include "core/graph/canonical.h"
#include "core/graph/value_hash.h"

namespace jointer {
namespace {

constexpr std::array<std::size_t, 7> kRadii{0, 1, 2, 4, 8, 16, 32};

std::uint64_t hash_of(std::string_view text) {
  return mixed(std::hash<std::string_view>()(text));
}

// The nodes of one graph, with their inputs and their readers.
class Side {
 public:
  using Color = std::uint64_t;
  struct Reader {
    NodeId node;
    std::size_t position;  // among its arguments that are nodes
  };

  explicit Side(const Graph& graph)
      : graph_(graph),
        reads_(graph.node_count()),
        readers_(graph.node_count()),
        modules_(graph.node_count()) {
    for (const NodeId id : graph.order()) {
      std::vector<NodeId>& reads = reads_[id.index()];
      append_nodes(graph, graph.node(id).args, reads);
      for (const auto& [name, argument] : sorted_keywords(graph, graph.node(id)))
        append_nodes(graph, argument, reads);
      for (std::size_t i = 0; i < reads.size(); ++i) readers_[reads[i].index()].push_back({id, i});
      modules_[id.index()] = module_hash(id);
    }
  }

  [[nodiscard]] const Graph& graph() const { return graph_; }
  [[nodiscard]] const std::vector<NodeId>& reads(NodeId id) const { return reads_[id.index()]; }
  [[nodiscard]] const std::vector<Reader>& readers(NodeId id) const { return readers_[id.index()]; }
  // The color at radius kRadii[level].
  [[nodiscard]] Color color(std::size_t level, NodeId id) const {
    return colors_[level][id.index()];
  }
  [[nodiscard]] Color module(NodeId id) const { return modules_[id.index()]; }

  // `places`: indexed by node id, the hash of the node's position in the signature; 0 for other
  // nodes.
  void find_colors(const std::vector<Color>& places) {
    std::vector<Color> now(graph_.node_count());
    for (const NodeId id : graph_.order()) now[id.index()] = joined(places[id.index()], own(id));
    std::size_t radius = 0;
    for (std::size_t level = 0; level < kRadii.size(); ++level) {
      for (; radius < kRadii[level]; ++radius) now = widened(now);
      colors_[level] = now;
    }
  }

 private:
  [[nodiscard]] Color module_hash(NodeId id) const {
    const ModuleStackId stack = graph_.node(id).module;
    if (!stack) return 0;
    const auto frames = graph_.frames(graph_.module_stack(stack));
    return frames.empty() ? 0 : hash_of(graph_.text(frames.back().path));
  }

  // The hash of the node without its surroundings. Leaves out the targets of placeholders and
  // constants, because these are names.
  [[nodiscard]] Color own(NodeId id) const {
    const Node& n = graph_.node(id);
    const Color kind = joined(n.part.index(), static_cast<Color>(n.kind));
    if (n.kind == NodeKind::call) return joined(kind, hash_of(unnamed_call(graph_, id)));
    return joined_with_value(kind, graph_, n);
  }

  [[nodiscard]] std::vector<Color> widened(const std::vector<Color>& colors) const {
    std::vector<Color> wide(colors.size());
    for (const NodeId id : graph_.order()) {
      Color above = 0, below = 0;
      for (const NodeId read : reads_[id.index()]) above = joined(above, colors[read.index()]);
      for (const Reader& reader : readers_[id.index()])
        below += joined(colors[reader.node.index()], reader.position);
      wide[id.index()] = joined(joined(colors[id.index()], above), mixed(below));
    }
    return wide;
  }

  const Graph& graph_;
  std::vector<std::vector<NodeId>> reads_;  // by node, like the others
  std::vector<std::vector<Reader>> readers_;
  std::vector<Color> modules_;
  std::array<std::vector<Color>, kRadii.size()> colors_;
};

}  // namespace

class StructureMatcher {
 public:
  StructureMatcher(const Graph& before, const Graph& after)
      : a_(before), b_(after), match_(before, after, false) {}

  NodeMatch run() {
    match_signatures();
    for (std::size_t level = kRadii.size(); level-- > 0;) match_unique(level);
    for (std::size_t level = kRadii.size(); level-- > 0;) {
      match_in_order(level, true);
      if (kRadii[level] > 0) match_in_order(level, false);
    }
    match_changed();
    return std::move(match_);
  }

 private:
  using Color = Side::Color;
  using Groups = std::map<Color, std::vector<NodeId>>;
  using Readers = std::map<std::pair<std::size_t, Color>, std::vector<NodeId>>;

  [[nodiscard]] bool is_open(const Side& side, NodeId id) const {
    return !(&side == &a_ ? match_.in_after(id) : match_.in_before(id));
  }

  void add(NodeId a, NodeId b) {
    match_.add(a, b);
    todo_.emplace_back(a, b);
  }

  // Matches the inputs and readers of all nodes that were matched since the last call.
  void spread() {
    while (!todo_.empty()) {
      const auto [a, b] = todo_.back();
      todo_.pop_back();
      const auto &x = a_.reads(a), &y = b_.reads(b);
      for (std::size_t i = 0; i < x.size() && x.size() == y.size(); ++i)
        if (is_open(a_, x[i]) && is_open(b_, y[i]) && a_.color(0, x[i]) == b_.color(0, y[i]))
          add(x[i], y[i]);
      const Readers of_a = open_readers(a_, a), of_b = open_readers(b_, b);
      for (const auto& [key, those] : of_a) {
        const auto found = of_b.find(key);
        if (those.size() == 1 && found != of_b.end() && found->second.size() == 1 &&
            is_open(a_, those.front()) && is_open(b_, found->second.front()))
          add(those.front(), found->second.front());
      }
    }
  }

  [[nodiscard]] Readers open_readers(const Side& side, NodeId id) const {
    Readers readers;
    for (const Side::Reader& each : side.readers(id))
      if (is_open(side, each.node))
        readers[{each.position, side.color(0, each.node)}].push_back(each.node);
    return readers;
  }

  void match_signatures() {
    std::vector<Color> a(a_.graph().node_count(), 0), b(b_.graph().node_count(), 0);
    Color place = 0;
    const auto pair = [&](NodeId x, NodeId y) {
      a[x.index()] = b[y.index()] = mixed(++place);
      add(x, y);
    };
    for (std::size_t part = 0; part < a_.graph().part_count(); ++part)
      for (const NodeKind kind : {NodeKind::placeholder, NodeKind::output}) {
        const auto x = of_kind(a_.graph(), PartId(part), kind),
                   y = of_kind(b_.graph(), PartId(part), kind);
        for (std::size_t i = 0; i < x.size(); ++i)
          if (x.size() == y.size())
            pair(x[i], y[i]);
          else if (const NodeId other = b_.graph().find(PartId(part), a_.graph().name(x[i]));
                   other && b_.graph().node(other).kind == kind)
            pair(x[i], other);
      }
    a_.find_colors(a);
    b_.find_colors(b);
    spread();
  }

  static std::vector<NodeId> of_kind(const Graph& graph, PartId part, NodeKind kind) {
    std::vector<NodeId> found;
    for (const NodeId id : graph.order())
      if (graph.node(id).part == part && graph.node(id).kind == kind) found.push_back(id);
    return found;
  }

  // The unmatched nodes by color or, if `by_module`, by color and module.
  [[nodiscard]] Groups open_groups(const Side& side, std::size_t level, bool by_module) const {
    Groups groups;
    for (const NodeId id : side.graph().order()) {
      if (!is_open(side, id)) continue;
      const Color color = side.color(level, id);
      groups[by_module ? joined(color, side.module(id)) : color].push_back(id);
    }
    return groups;
  }

  void match_unique(std::size_t level) {
    const Groups others = open_groups(b_, level, false);
    for (const auto& [color, those] : open_groups(a_, level, false)) {
      const auto found = others.find(color);
      if (those.size() > 1 || found == others.end() || found->second.size() > 1) continue;
      match_all(those, found->second);
    }
  }

  void match_in_order(std::size_t level, bool by_module) {
    const Groups groups = open_groups(a_, level, by_module),
                 others = open_groups(b_, level, by_module);
    // Sorted by position, because the order of colors is arbitrary.
    std::vector<std::pair<std::size_t, Color>> firsts;
    for (const auto& [color, those] : groups)
      firsts.emplace_back(a_.graph().position(those.front()), color);
    std::ranges::sort(firsts);
    for (const auto& [position, color] : firsts)
      if (const auto found = others.find(color); found != others.end())
        match_all(groups.at(color), found->second);
  }

  void match_all(const std::vector<NodeId>& those, const std::vector<NodeId>& others) {
    auto next = others.begin();
    for (const NodeId id : those) {
      if (!is_open(a_, id)) continue;
      while (next != others.end() && !is_open(b_, *next)) ++next;
      if (next == others.end()) return;
      add(id, *next);
      spread();
    }
  }

  void match_changed() {
    std::vector<std::pair<NodeId, NodeId>> matched;
    for (const NodeId id : a_.graph().order())
      if (const NodeId other = match_.in_after(id)) matched.emplace_back(id, other);
    while (!matched.empty()) {
      const auto [a, b] = matched.back();
      matched.pop_back();
      const auto &x = a_.reads(a), &y = b_.reads(b);
      for (std::size_t i = 0; i < x.size() && x.size() == y.size(); ++i) {
        const Node &m = a_.graph().node(x[i]), &n = b_.graph().node(y[i]);
        if (!is_open(a_, x[i]) || !is_open(b_, y[i]) || m.kind != n.kind || m.part != n.part ||
            a_.graph().target(m) != b_.graph().target(n))
          continue;
        match_.add(x[i], y[i]);
        matched.emplace_back(x[i], y[i]);
      }
    }
  }

  Side a_, b_;
  NodeMatch match_;
  std::vector<std::pair<NodeId, NodeId>> todo_;  // matched nodes whose neighbors are still open
};

NodeMatch NodeMatch::by_structure(const Graph& before, const Graph& after) {
  return StructureMatcher(before, after).run();
}

NodeMatch NodeMatch::by_name(const Graph& before, const Graph& after) {
  NodeMatch match(before, after, true);
  for (const NodeId id : after.order())
    if (const NodeId was = before.find(after.node(id).part, after.name(id))) match.add(was, id);
  return match;
}

NodeMatch NodeMatch::closest(const Graph& before, const Graph& after) {
  NodeMatch match = by_name(before, after);
  std::size_t calls = 0, alike = 0;
  for (const NodeId id : before.order()) {
    const Node& n = before.node(id);
    if (n.kind != NodeKind::call) continue;
    ++calls;
    const NodeId other = match.in_after(id);
    if (other && after.node(other).kind == NodeKind::call &&
        after.target(after.node(other)) == before.target(n))
      ++alike;
  }
  return 2 * alike >= calls ? match : by_structure(before, after);
}

}  // namespace jointer
