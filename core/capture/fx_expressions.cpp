// The part of NodeBuilder that reads the right-hand sides of statements: calls, infix operators,
// element accesses, attributes, methods.

#include <algorithm>
#include <array>

#include "core/base/characters.h"
#include "core/base/utf8.h"
#include "core/capture/fx_nodes.h"
#include "core/graph/python_operators.h"

namespace jointer::fx {
namespace {

// An attribute path: `getattr(self.layers, "0").weight` has `first` "self" and `rest`
// "layers.0.weight".
struct Path {
  std::string first, rest;
};
constexpr int kMaxPathDepth = 32;

Path parse_path(PythonText& text, int depth) {
  if (depth > kMaxPathDepth)
    text_mistake("attributes are nested more than {} levels deep", depth - 1);
  const std::string_view word = text.word();
  Path path;
  if (word == "getattr" && text.take('(')) {
    path = parse_path(text, depth + 1);
    text.expect(',');
    path.rest += (path.rest.empty() ? "" : ".") + text.quoted();
    text.expect(')');
    if (text.peek() == '.') path.rest += text.word();
  } else {
    const auto dot = word.find('.');
    path.first = word.substr(0, dot);
    if (dot != std::string_view::npos) path.rest = word.substr(dot + 1);
  }
  return path;
}

}  // namespace

void NodeBuilder::parse_change(const Statement& s, Node& node) {
  std::vector<Argument> args;
  const auto read = [&](std::string_view text) {
    PythonText operand(graph_, part_, text, PythonText::Style::fx);
    args.push_back(operand.argument());
    if (!operand.at_end()) text_mistake("`{}` is not a single value", first_characters(text, 40));
  };
  read(s.changed);
  if (!s.key.empty()) read(s.key);
  read(s.expression);
  call(node, fmt::format("_operator.{}", s.inplace), args);
}

void NodeBuilder::parse_expression(const Statement& s, Node& node) {
  PythonText text(graph_, part_, s.expression, PythonText::Style::fx);
  const std::string_view e = s.expression;
  const bool unary = e.size() > 1 && (e[0] == '-' || e[0] == '+' || e[0] == '~') &&
                     is_name_start(e[1]) && !e.starts_with("-inf");
  if (unary) {
    text.take(e[0]);
    const std::array<Argument, 1> operand{text.argument()};
    call(node,
         e[0] == '-'   ? "_operator.neg"
         : e[0] == '+' ? "_operator.pos"
                       : "_operator.invert",
         operand);
  } else if (is_name_start(text.peek())) {
    parse_named(text, e, node);
  } else {
    const Argument left = text.argument();
    parse_infix(text, left, node);
  }
  if (!text.at_end() && !text.take(';'))
    text_mistake("unexpected `{}` after the expression", first_characters(text.rest(), 40));
}

void NodeBuilder::parse_named(PythonText& text, std::string_view expression, Node& node) {
  if (expression.starts_with("getattr(") || expression.starts_with("self.")) {
    parse_attribute(text, expression, node);
    return;
  }
  const std::string_view word = text.word();
  const auto dot = word.find('.');
  const NodeId base = graph_.find(part_, word.substr(0, dot));
  if (base && dot != std::string_view::npos) {
    const std::string_view attribute = word.substr(dot + 1);
    if (text.take('(')) {
      call_with(node, fmt::format("call_method.{}", attribute), text, Argument::of_node(base));
    } else {
      const std::array<Argument, 2> args{
          Argument::of_node(base),
          Argument::of_text(Argument::Kind::string, graph_.intern(attribute))};
      call(node, "builtins.getattr", args);
    }
  } else if (base && text.take('[')) {
    const std::array<Argument, 2> args{Argument::of_node(base), text.argument()};
    text.expect(']');
    call(node, "_operator.getitem", args);
  } else if (base) {
    parse_infix(text, Argument::of_node(base), node);
  } else if (text.take('(')) {
    call_with(node, word, text, std::nullopt);
  } else {
    // The word is a symbol, a constant or an unknown name.
    text.rewind();
    const Argument left = text.argument();
    parse_infix(text, left, node);
  }
}

// Parses `self.weight`, `getattr(self.layers, "0")(x)` or `getattr(x, 'shape', None)`.
void NodeBuilder::parse_attribute(PythonText& text, std::string_view expression, Node& node) {
  if (expression.starts_with("getattr(") && expression.find("self") == std::string_view::npos) {
    text.take("getattr(");
    call_with(node, "builtins.getattr", text, std::nullopt);
    return;
  }
  const Path path = parse_path(text, 0);
  if (path.first != "self") {
    const NodeId base = graph_.find(part_, path.first);
    if (!base)
      throw TextMistake{fmt::format("`{}` is not the name of an earlier node", path.first),
                        path.first};
    const std::array<Argument, 2> args{
        Argument::of_node(base),
        Argument::of_text(Argument::Kind::string, graph_.intern(path.rest))};
    call(node, "builtins.getattr", args);
  } else if (path.rest.empty()) {
    text_mistake("`self` is not a value");
  } else if (text.take('(')) {
    call_with(node, fmt::format("call_module.{}", path.rest), text, std::nullopt);
  } else {
    node.kind = NodeKind::get_attr;
    node.target = graph_.intern_operator(path.rest);
  }
}

void NodeBuilder::parse_infix(PythonText& text, Argument left, Node& node) {
  for (const auto& [symbol, name] : kInfixOperators) {
    if (!text.take(symbol)) continue;
    const std::array<Argument, 2> args{left, text.argument()};
    call(node, fmt::format("_operator.{}", name), args);
    return;
  }
  if (text.take('[')) {
    const std::array<Argument, 2> args{left, text.argument()};
    text.expect(']');
    call(node, "_operator.getitem", args);
    return;
  }
  text_mistake("expected a call, got a plain value");
}

void NodeBuilder::call(Node& node, std::string_view target, std::span<const Argument> args) {
  node.target = target_of(target);
  node.args = graph_.make_children(Argument::Kind::list, args);
}

// Reads the arguments up to the closing parenthesis. If `first` is given, it precedes them.
void NodeBuilder::call_with(Node& node, std::string_view target, PythonText& text,
                            std::optional<Argument> first) {
  node.target = target_of(target);
  if (graph_.target(node).starts_with("call_")) ++python_calls_;
  const PythonText::Call call = text.call_arguments();
  node.args = call.args;
  node.kwargs = call.kwargs;
  if (!first) return;
  std::vector<Argument> args{*first};
  const auto rest = graph_.children(call.args);
  args.insert(args.end(), rest.begin(), rest.end());
  node.args = graph_.make_children(Argument::Kind::list, args);
}

// Maps the name of a function in the text to the operator that captures use for it.
OperatorId NodeBuilder::target_of(std::string_view name) {
  const auto found = targets_.find(name);
  if (found != targets_.end()) return found->second;
  const auto known = [](const std::string& candidate) {
    return describe_operator(candidate).known;
  };
  std::string target(name);
  if (name.starts_with("torch.ops.")) {
    target.erase(0, std::string_view("torch.ops.").size());
    if (target.starts_with("higher_order."))
      target.erase(0, std::string_view("higher_order.").size());
    // An operator packet without an overload, which torch would choose from the arguments.
    if (std::ranges::count(target, '.') == 1 && !known(target))
      for (const char* overload : {".default", ".Tensor"})
        if (known(target + overload)) {
          target += overload;
          ++assumed_overloads_;
          break;
        }
  } else if (name.starts_with("operator.")) {
    target = fmt::format("_{}", name);
  } else if (!known(target) && !name.starts_with("call_")) {
    // FX prints the names of functions outside torch without dots or module: math_ceil, max.
    std::string dotted = target;
    if (dotted.starts_with("math_")) dotted[4] = '.';
    if (dotted.starts_with("_operator_")) dotted[9] = '.';
    if (known(dotted)) {
      target = dotted;
    } else if (known("builtins." + target)) {
      target = "builtins." + target;
    } else {
      target = "call_function." + target;
    }
  }
  const OperatorId id = graph_.intern_operator(target);
  targets_.emplace(name, id);
  return id;
}

}  // namespace jointer::fx
