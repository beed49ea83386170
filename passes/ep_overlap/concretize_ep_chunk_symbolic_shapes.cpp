// concretize_ep_chunk_symbolic_shapes: replaces chunk symbols with their values once chunks are
// scheduled. For graph chunking, the size to split in two is a symbol. Here, sizes, arguments and
// computations of sizes that contain this symbol become numbers.
//
// Terms. A chunk symbol is a symbol that custom["torchtitan_chunk_symbol_hints"] of a node maps to
// a value. Other symbols in the shapes of placeholders have the values that the graph records or
// assumes.
//
// Steps. Every size, stride, offset and argument that contains only these symbols becomes its
// value, except in placeholders. Readers of a call that returns such a number read the number
// instead. Calls that compute sizes, and checks, are removed if they have no readers, even checks
// whose value is unknown; a check that is false is an error. Cost: linear in the size of the graph.
//
// Source: torchtitan 0.3.0, experiments/graph_trainer/ep_pass_utils.py. Deviations:
//  - The sizes of placeholders stay symbolic, because edits cannot change inputs. The symbols'
//    values become assumptions of the graph.
//  - Tensors keep their storage and offset. Upstream creates new ones.
//  - In an expression with other symbols, the values are filled in, but nothing is simplified.

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/base/characters.h"
#include "core/graph/users.h"
#include "passes/ep_overlap/chunk_sizes.h"
#include "passes/ep_overlap/ep_overlap.h"

namespace jointer {
namespace {

constexpr std::array<std::string_view, 14> kSizeCalls{
    "aten.sym_size.int", "torch.sym_ite", "_operator.add", "_operator.and_", "_operator.floordiv",
    "_operator.mod",     "_operator.mul", "_operator.or_", "_operator.sub",  "_operator.eq",
    "_operator.ge",      "_operator.gt",  "_operator.le",  "_operator.lt"};
constexpr std::array<std::string_view, 8> kConditions{
    "_operator.and_", "_operator.or_", "_operator.eq", "_operator.ge",
    "_operator.gt",   "_operator.le",  "_operator.lt", "_operator.ne"};
constexpr std::string_view kCheck = "aten._assert_scalar.default";

template <std::size_t N>
bool is_among(const std::array<std::string_view, N>& list, std::string_view target) {
  return std::ranges::find(list, target) != list.end();
}

class Concretizer {
 public:
  Concretizer(Graph& graph, PassContext& context) : graph_(graph), context_(context) {}

  Result<void> run() {
    JOINTER_CHECK(find_hints());
    if (hints_.empty()) {
      context_.decide("kept", "No size in the graph contains a chunk symbol.");
      return {};
    }
    find_constants();
    const std::vector<NodeId> order(graph_.order().begin(), graph_.order().end());
    for (const NodeId id : order) JOINTER_CHECK(rewrite(id));
    remove_dead(order);
    JOINTER_CHECK(remove_hints(order));
    JOINTER_CHECK(graph_.finish());
    for (const auto& [symbol, hint] : hints_)
      context_.decide("concretized", fmt::format("{} is {} from here on.", symbol, hint));
    return {};
  }

 private:
  Result<void> find_hints() {
    Annotations marks(graph_);
    for (const NodeId id : graph_.order())
      JOINTER_CHECK(add_marked_hints(graph_, id, marks, hints_));
    if (hints_.empty()) return {};
    Assumptions assumed = graph_.assumptions();
    for (const auto& [symbol, hint] : hints_) assumed.named[symbol] = hint;
    JOINTER_CHECK(graph_.assume(assumed));
    return find_placeholder_symbols();
  }

  Result<void> find_placeholder_symbols() {
    for (const NodeId id : graph_.order()) {
      if (graph_.node(id).kind != NodeKind::placeholder) continue;
      for (const Tensor& tensor : graph_.tensors(id))
        for (const Dim& size : graph_.shape(tensor))
          if (size.expression)
            for (const std::string& symbol : graph_.expression(size.expression).symbols())
              JOINTER_CHECK(add_known(symbol, id));
    }
    return {};
  }

  Result<void> add_known(const std::string& symbol, NodeId node) {
    if (hints_.contains(symbol)) return {};
    for (const SymbolValue& each : graph_.symbols()) {
      if (each.name != symbol) continue;
      if (each.source == SymbolSource::fallback || each.source == SymbolSource::balanced) break;
      hints_.emplace(symbol, each.value);
      return {};
    }
    return fail(Error::Kind::usage,
                "{0} has a size that depends on {1}, which has no known value; assume one "
                "(--assume {1}=N on the command line)",
                graph_.name(node), symbol);
  }

  // The value of an expression that contains only symbols with known values; std::nullopt for other
  // expressions.
  [[nodiscard]] std::optional<std::int64_t> value_of(ExpressionId id) const {
    const auto& symbols = graph_.expression(id).symbols();
    if (!std::ranges::all_of(symbols, [&](const auto& each) { return hints_.contains(each); }))
      return std::nullopt;
    return graph_.expression_value(id);
  }

  // The expression with known symbols replaced with their values.
  Result<ExpressionId> rewritten(PartId part, ExpressionId id) {
    const std::string text(graph_.expression_text(id));
    std::string now;
    for (std::size_t i = 0; i < text.size();) {
      if (!is_name_character(text[i])) {
        now += text[i++];
        continue;
      }
      std::size_t end = i;
      while (end < text.size() && is_name_character(text[end])) ++end;
      const std::string word = text.substr(i, end - i);
      const auto hint = hints_.find(word);
      now += hint == hints_.end() ? word : std::to_string(hint->second);
      i = end;
    }
    if (now == text) return id;
    return graph_.intern_expression(part, now, graph_.expression_hint(id));
  }

  void find_constants() {
    constants_.resize(graph_.node_count());
    for (const NodeId id : graph_.order()) {
      const Node& n = graph_.node(id);
      if (n.kind != NodeKind::call || n.value.kind != Value::Kind::symbol) continue;
      const auto value = value_of(n.value.expression());
      if (!value) continue;
      constants_[id.index()] = is_among(kConditions, graph_.target(n))
                                   ? Argument::of_bool(*value != 0)
                                   : Argument::of_int(*value);
    }
  }

  Result<Argument> now(PartId part, const Argument& argument, bool& is_other) {
    if (argument.kind == Argument::Kind::node && constants_[argument.node().index()]) {
      is_other = true;
      return *constants_[argument.node().index()];
    }
    if (argument.kind == Argument::Kind::symbol) {
      if (const auto value = value_of(argument.expression())) {
        is_other = true;
        return Argument::of_int(*value);
      }
      JOINTER_TRY(const ExpressionId expression, rewritten(part, argument.expression()));
      is_other |= expression != argument.expression();
      return Argument::of_symbol(expression);
    }
    if (!argument.has_children()) return argument;
    const auto children = graph_.children(argument);
    std::vector<Argument> copies(children.begin(), children.end());
    bool any = false;
    for (Argument& copy : copies) {
      JOINTER_TRY(copy, now(part, copy, any));
    }
    if (!any) return argument;
    is_other = true;
    return graph_.make_children(argument.kind, copies);
  }

  Result<Dim> now(PartId part, const Dim& dim, bool& is_other) {
    if (!dim.expression) return dim;
    if (const auto value = value_of(dim.expression)) {
      is_other = true;
      return Dim{*value, {}};
    }
    JOINTER_TRY(const ExpressionId expression, rewritten(part, dim.expression));
    is_other |= expression != dim.expression;
    return Dim{dim.value, expression};
  }

  Result<Value> now(PartId part, const Value& value, bool& is_other) {
    if (value.kind == Value::Kind::list || value.kind == Value::Kind::dict) {
      const auto children = graph_.children(value);
      std::vector<Value> copies(children.begin(), children.end());
      for (Value& copy : copies) {
        JOINTER_TRY(copy, now(part, copy, is_other));
      }
      return graph_.make_children(value.kind, copies);
    }
    if (value.kind == Value::Kind::symbol) {
      const auto number = value_of(value.expression());
      if (!number) return value;
      is_other = true;
      return Value::of_text(Value::Kind::constant, graph_.intern(std::to_string(*number)));
    }
    if (value.kind != Value::Kind::tensor) return value;
    const Tensor tensor = graph_.tensor(value.tensor());
    std::vector<Dim> shape, stride;
    const auto sizes = graph_.shape(tensor), steps = graph_.stride(tensor);
    shape.assign(sizes.begin(), sizes.end());
    stride.assign(steps.begin(), steps.end());
    for (auto* dims : {&shape, &stride})
      for (Dim& dim : *dims) {
        JOINTER_TRY(dim, now(part, dim, is_other));
      }
    JOINTER_TRY(const Dim offset, now(part, graph_.offset(tensor), is_other));
    return Value::of_tensor(graph_.add_tensor(tensor, shape, stride, offset));
  }

  Result<void> rewrite(NodeId id) {
    const PartId part = graph_.node(id).part;
    const NodeKind kind = graph_.node(id).kind;
    if (kind == NodeKind::placeholder || kind == NodeKind::output) return {};
    bool is_other_call = false, is_other_value = false;
    JOINTER_TRY(const Argument args, now(part, graph_.node(id).args, is_other_call));
    JOINTER_TRY(const Argument kwargs, now(part, graph_.node(id).kwargs, is_other_call));
    const Value was = graph_.node(id).value;
    Value value = was;
    if (kind == NodeKind::call && touches(id)) {
      JOINTER_TRY(value, now(part, was, is_other_value));
    }
    JOINTER_CHECK(check(id, args));
    for (const Tensor& tensor : graph_.tensors(id))
      if (tensor.storage && graph_.storage(tensor.storage).bytes.expression) {
        JOINTER_TRY(const Dim bytes,
                    now(part, graph_.storage(tensor.storage).bytes, is_other_value));
        if (graph_.node(id).kind == NodeKind::call) graph_.storage(tensor.storage).bytes = bytes;
      }
    if (!is_other_call && !is_other_value) return {};
    Node& n = graph_.node(id);
    n.args = args;
    n.kwargs = kwargs;
    if (is_other_value) n.value = value;
    graph_.refresh(id);
    if (is_other_call)
      context_.decide(graph_, id, "changed", "Symbolic sizes in its arguments are now numbers.");
    return {};
  }

  // True if the node's result is a symbol or has a symbolic size, stride or offset.
  [[nodiscard]] bool touches(NodeId id) const {
    if (graph_.node(id).value.kind == Value::Kind::symbol) return true;
    const auto is_symbolic = [](const Dim& dim) { return bool(dim.expression); };
    return std::ranges::any_of(graph_.tensors(id), [&](const Tensor& tensor) {
      return std::ranges::any_of(graph_.shape(tensor), is_symbolic) ||
             std::ranges::any_of(graph_.stride(tensor), is_symbolic) ||
             is_symbolic(graph_.offset(tensor));
    });
  }

  // A colon and the message of an assertion, such as "Runtime assertion failed for expression
  // u0 >= 0 on node 'ge'"; empty if it has no message.
  [[nodiscard]] std::string condition_text(const Node& assertion) const {
    const Argument* text = graph_.argument(assertion, "assert_msg");
    return text != nullptr && text->kind == Argument::Kind::string
               ? fmt::format(": {}", graph_.text(text->text()))
               : std::string();
  }

  [[nodiscard]] Result<void> check(NodeId id, const Argument& args) const {
    if (graph_.target(graph_.node(id)) != kCheck) return {};
    const auto given = graph_.children(args);
    if (!given.empty() && given[0].kind == Argument::Kind::boolean && given[0].integer == 0)
      return fail(Error::Kind::usage,
                  "the assertion {} is false for the chunk sizes{}; capture the graph with sizes "
                  "that satisfy it",
                  graph_.name(id), condition_text(graph_.node(id)));
    return {};
  }

  // The reason why a check is removed. By now, its condition is a constant if its value is known; a
  // constant that is false has been refused.
  [[nodiscard]] std::string why_check_goes(const Node& assertion) const {
    const auto args = graph_.args(assertion);
    return !args.empty() && args[0].kind == Argument::Kind::boolean
               ? "The check holds for the sizes of the chunks."
               : "The value of the check is unknown, but checks of sizes are removed, as in "
                 "torchtitan.";
  }

  void remove_dead(const std::vector<NodeId>& order) {
    const Users users(graph_);
    std::vector<bool> is_gone(graph_.node_count(), false);
    std::vector<NodeId> gone;
    for (std::size_t i = order.size(); i-- > 0;) {
      const NodeId id = order[i];
      const Node& n = graph_.node(id);
      if (n.kind != NodeKind::call) continue;
      const std::string_view target = graph_.target(n);
      if (!is_among(kSizeCalls, target) && target != kCheck) continue;
      if (!std::ranges::all_of(users.of(id), [&](NodeId user) { return is_gone[user.index()]; }))
        continue;
      is_gone[id.index()] = true;
      gone.push_back(id);
      context_.decide(graph_, id, "removed",
                      target == kCheck
                          ? why_check_goes(n)
                          : "Nothing reads this size any more, because readers use its value.");
    }
    graph_.erase(gone);
  }

  // Removes the hints for chunk symbols, which are not needed once sizes are numbers.
  Result<void> remove_hints(const std::vector<NodeId>& order) {
    Annotations marks(graph_);
    for (const NodeId id : order) {
      if (marks.find(id, kChunkHints) == nullptr) continue;
      JOINTER_TRY(OrderedJson custom, parse_json(graph_.text(graph_.node(id).custom), "custom"));
      custom.erase(kChunkHints);
      graph_.node(id).custom = custom.empty() ? StringId() : graph_.intern(write_json(custom));
    }
    return {};
  }

  Graph& graph_;
  PassContext& context_;
  ChunkHints hints_;
  std::vector<std::optional<Argument>> constants_;  // by node
};

Result<void> run_concretize_ep_chunk_symbolic_shapes(Graph& graph, const Arguments&,
                                                     PassContext& context) {
  return Concretizer(graph, context).run();
}

}  // namespace

Pass concretize_ep_chunk_symbolic_shapes_pass() {
  return {.info = {.name = "concretize_ep_chunk_symbolic_shapes",
                   .summary = "Replaces the symbolic sizes of graph chunking with numbers.",
                   .source = "torchtitan/experiments/graph_trainer/ep_pass_utils.py",
                   .stage = PassStage::clean_up,
                   .is_idempotent = true},
          .run = run_concretize_ep_chunk_symbolic_shapes};
}

}  // namespace jointer
