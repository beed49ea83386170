// Finds the order that every reordering must preserve.
//
// Rules
//   data     A node runs after the producers of its inputs.
//   write    A node that writes to memory keeps its order with every node that reads or writes the
//            same bytes (memory_order.h). A collective uses memory until its wait: the wait counts
//            as a reader of the collective's inputs and, if the collective works in place, as a
//            writer to them. The data rule already keeps reads of the result after the wait.
//   control  - Nodes that draw from a random generator, or set its state, keep their order.
//              Higher-order operators that may run anything, such as with_effects, count as such.
//            - Nodes that act on something outside the graph keep their order: operators that
//              return nothing and write to no argument, aten.manual_seed, and higher-order
//              operators that may run anything.
//            - A node whose sizes contain a symbol (u0) runs after the node that defines the symbol
//              (.item(), nonzero), even if it does not read that node.
//            - A check of symbols (_assert_scalar, sym_constrain_range) runs before every later
//              node whose sizes contain them. A check that comes after such a node may move before
//              it. A check of anything else counts as an act.
//            - Nothing moves across a stream operator, a change of the grad mode, or a write to
//              memory that no value describes.
//   walls    Placeholders, get_attrs and outputs do not move. Nothing moves across a placeholder or
//            an output, so the halves of a pair stay apart. Nodes may move across a get_attr, which
//            costs nothing in any position.
//   There are no dependencies between the halves of a pair.
//
// Steps. One pass visits the nodes in program order. memory_order.cpp finds the write dependencies.
// Random draws form one chain, and acts form another. For each symbol, the pass remembers the node
// that defines it and the last check of it. A node that uses the symbol depends on both, unless one
// of its inputs uses the same expression and therefore depends on them already.
//
// Cost: linear in nodes, inputs and tensors, plus the occurrences of symbols in expressions.

#include "core/graph/dependencies.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "core/graph/effects.h"
#include "core/graph/memory_order.h"

namespace jointer {
namespace {

class Finder {
 public:
  Finder(const Graph& graph, Lists<Dependency>& before)
      : graph_(graph),
        before_(before),
        lists_(graph.node_count()),
        marks_(graph.node_count(), NodeId{}),
        memory_(graph) {}

  void run() {
    index_symbols();
    found_.reserve(graph_.node_count() * 2);
    for (const NodeId id : graph_.order()) visit(id);
    before_.first.reserve(graph_.node_count() + 1);
    before_.all.reserve(found_.size());
    for (const auto& [begin, end] : lists_) {
      before_.first.push_back(static_cast<std::uint32_t>(before_.all.size()));
      before_.all.insert(before_.all.end(), found_.begin() + begin, found_.begin() + end);
    }
    before_.first.push_back(static_cast<std::uint32_t>(before_.all.size()));
  }

 private:
  struct Symbol {
    NodeId origin, last_check;
  };

  void index_symbols() {
    std::unordered_map<std::string_view, std::uint32_t> known;
    symbols_of_.resize(graph_.expression_count());
    for (std::size_t i = 0; i < symbols_of_.size(); ++i)
      for (const std::string& name : graph_.expression(ExpressionId(i)).symbols())
        symbols_of_[i].push_back(
            known.try_emplace(name, static_cast<std::uint32_t>(known.size())).first->second);
    symbol_count_ = known.size();
    symbols_.resize(symbol_count_ * graph_.part_count());
    order_of_.resize(graph_.node_count());
    for (const NodeId id : graph_.order())
      order_of_[id.index()] = static_cast<std::uint32_t>(graph_.position(id));
  }

  void visit(NodeId id) {
    const Node& n = graph_.node(id);
    const auto begin = static_cast<std::ptrdiff_t>(found_.size());
    for (const NodeId input : graph_.inputs(n)) add(input, id, DependencyKind::data);
    memory_.visit(id, [&](NodeId other) { add(other, id, DependencyKind::write); });
    const Effects effects = effects_of(graph_, n);
    if (symbol_count_ > 0 && n.kind != NodeKind::output)
      order_symbols(id, n, effects.has(Effects::checks));
    else if (effects.has(Effects::checks))
      chain(acted_, id, ControlReason::acts);
    if (effects.has(Effects::draws)) chain(drawn_, id, ControlReason::draws);
    if (effects.has(Effects::acts)) chain(acted_, id, ControlReason::acts);
    if (n.kind == NodeKind::call) order_separators(id, effects);
    lists_[id.index()] = {begin, static_cast<std::ptrdiff_t>(found_.size())};
  }

  void add(NodeId before, NodeId node, DependencyKind kind,
           ControlReason reason = ControlReason::none) {
    if (!before || before == node || marks_[before.index()] == node) return;
    if (graph_.node(before).part != graph_.node(node).part) return;
    marks_[before.index()] = node;
    found_.push_back({before, kind, reason});
  }

  void control(NodeId before, NodeId node, ControlReason reason) {
    add(before, node, DependencyKind::control, reason);
  }

  void chain(NodeId& last, NodeId id, ControlReason reason) {
    control(last, id, reason);
    last = id;
  }

  // Calls `visit` with each expression in the node's value, possibly several times with the same
  // expression.
  template <class Visit>
  void for_each_expression(const Node& n, Visit visit) const {
    const auto of_value = [&](const auto& self, const Value& value) -> void {
      if (value.kind == Value::Kind::symbol) visit(value.expression());
      for (const Value& child : graph_.children(value)) self(self, child);
    };
    of_value(of_value, n.value);
    for (const Tensor& t : graph_.tensors(n))
      for (const Dim& size : graph_.shape(t))
        if (size.expression) visit(size.expression);
  }
  template <class Visit>
  void for_each_expression(const Argument& argument, Visit visit) const {
    if (argument.kind == Argument::Kind::symbol) visit(argument.expression());
    for (const Argument& child : graph_.children(argument)) for_each_expression(child, visit);
  }

  void order_symbols(NodeId id, const Node& n, bool checks) {
    expressions_.clear();
    const auto note = [&](ExpressionId e) {
      if (std::ranges::find(expressions_, e) == expressions_.end()) expressions_.push_back(e);
    };
    for_each_expression(n, note);
    for_each_expression(n.args, note);
    for_each_expression(n.kwargs, note);
    for (const NodeId input : graph_.inputs(n))
      if (const Node& scalar = graph_.node(input); scalar.value.kind == Value::Kind::symbol)
        note(scalar.value.expression());
    if (checks && expressions_.empty()) chain(acted_, id, ControlReason::acts);
    for (const ExpressionId e : expressions_) {
      const NodeId carrier = carrier_of(n, e);
      for (const std::uint32_t s : symbols_of_[e.index()]) {
        Symbol& symbol = symbols_[n.part.index() * symbol_count_ + s];
        if (!carrier) control(symbol.origin, id, ControlReason::symbol);
        if (!symbol.origin) symbol.origin = id;
        if (symbol.last_check && (!carrier || is_later(symbol.last_check, carrier)))
          control(symbol.last_check, id, ControlReason::check);
      }
    }
    if (!checks) return;
    for (const ExpressionId e : expressions_)
      for (const std::uint32_t s : symbols_of_[e.index()])
        symbols_[n.part.index() * symbol_count_ + s].last_check = id;
  }

  // Returns the last of the inputs that use the same expression, if any. That input already runs
  // after the definitions of the expression's symbols and after the earlier checks of them.
  NodeId carrier_of(const Node& n, ExpressionId e) const {
    NodeId carrier;
    for (const NodeId input : graph_.inputs(n)) {
      bool names = false;
      for_each_expression(graph_.node(input), [&](ExpressionId other) { names |= other == e; });
      if (names && (!carrier || is_later(input, carrier))) carrier = input;
    }
    return carrier;
  }
  [[nodiscard]] bool is_later(NodeId a, NodeId b) const {
    return order_of_[a.index()] > order_of_[b.index()];
  }

  void order_separators(NodeId id, Effects effects) {
    const PartId part = graph_.node(id).part;
    if (separated_part_ != part) {
      separated_part_ = part;
      separator_ = {};
      since_separator_.clear();
    }
    control(separator_, id, ControlReason::separates);
    if (effects.has(Effects::separates)) {
      for (const NodeId earlier : since_separator_) control(earlier, id, ControlReason::separates);
      since_separator_.clear();
      separator_ = id;
    } else {
      since_separator_.push_back(id);
    }
  }

  const Graph& graph_;
  Lists<Dependency>& before_;
  std::vector<Dependency> found_;                                 // in program order
  std::vector<std::pair<std::ptrdiff_t, std::ptrdiff_t>> lists_;  // by node: its part of found_
  std::vector<NodeId> marks_;  // by node: the last node found to depend on it

  MemoryOrder memory_;

  std::size_t symbol_count_ = 0;
  std::vector<std::vector<std::uint32_t>> symbols_of_;  // by expression
  std::vector<Symbol> symbols_;                         // by part, then symbol
  std::vector<std::uint32_t> order_of_;
  std::vector<ExpressionId> expressions_;

  NodeId drawn_, acted_, separator_;
  PartId separated_part_;
  std::vector<NodeId> since_separator_;
};

}  // namespace

Dependencies::Dependencies(const Graph& graph) {
  Finder(graph, before_).run();
  invert();
  find_walls(graph);
}

void Dependencies::invert() {
  const std::size_t nodes = before_.first.size() - 1;
  after_ = Lists<Dependency>::of_each(nodes, [&](auto emit) {
    for (std::size_t i = 0; i < nodes; ++i)
      for (const Dependency& d : before(NodeId(i)))
        emit(d.node.index(), Dependency{NodeId(i), d.kind, d.reason});
  });
}

void Dependencies::find_walls(const Graph& graph) {
  walls_before_.resize(graph.node_count());
  walls_after_.resize(graph.node_count());
  const auto order = graph.order();
  NodeId wall;
  for (const NodeId id : order) {
    walls_before_[id.index()] = wall;
    if (is_wall(graph.node(id))) wall = id;
  }
  wall = {};
  for (std::size_t i = order.size(); i-- > 0;) {
    walls_after_[order[i].index()] = wall;
    if (is_wall(graph.node(order[i]))) wall = order[i];
  }
}

}  // namespace jointer
