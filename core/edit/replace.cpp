// Replaces the operator of a call.
//
// The new operator must accept the arguments as they are: its schema has at least as many
// positional arguments and all given keywords, requires no further arguments, accepts tensors
// exactly where tensors are passed, and accepts the types of the other values. Neither operator may
// write to its arguments. The new operator must also have the same return types, and return the
// same shape and dtype for one of these reasons:
//   - it is an overload of the same operator;
//   - both are pointwise and neither always returns booleans: they broadcast sizes in the same way,
//     and for floating-point inputs of one dtype they return that dtype;
//   - both are forms of the same operator: a view and its copying form (view, view_copy), or two of
//     a family that returns its input's elements in a given shape (view, reshape, _unsafe_view) or
//     in the same shape (alias, detach, clone).

#include "core/edit/replace.h"

#include <algorithm>
#include <array>
#include <initializer_list>

#include "core/base/counted.h"
#include "core/base/is_one_of.h"
#include "core/edit/refuse.h"

namespace jointer {
namespace {

// Pointwise operators that return booleans for all inputs.
constexpr std::array<std::string_view, 17> kReturnBools{
    "aten.eq",          "aten.ne",          "aten.lt",         "aten.le",          "aten.gt",
    "aten.ge",          "aten.logical_and", "aten.logical_or", "aten.logical_xor", "aten.isnan",
    "aten.logical_not", "aten.isinf",       "aten.isfinite",   "aten.signbit",     "aten.isneginf",
    "aten.isposinf",    "aten.isreal"};

constexpr std::array<std::string_view, 4> kReshapes{"aten.view", "aten.reshape",
                                                    "aten._unsafe_view", "aten.view_copy"};
constexpr std::array<std::string_view, 5> kSame{"aten.alias", "aten.detach", "aten.clone",
                                                "aten.alias_copy", "aten.detach_copy"};

bool is_twin(std::string_view a, std::string_view b) {
  constexpr std::string_view kCopy = "_copy";
  return a.size() + kCopy.size() == b.size() && b.starts_with(a) && b.ends_with(kCopy);
}

bool is_one_of_kinds(Argument::Kind kind, std::initializer_list<Argument::Kind> kinds) {
  return std::ranges::find(kinds, kind) != kinds.end();
}

bool holds_tensor(const Graph& graph, const Argument& argument) {
  if (argument.kind == Argument::Kind::node) return graph.node(argument.node()).tensor_count > 0;
  const auto children = graph.children(argument);
  return std::ranges::any_of(children,
                             [&](const Argument& child) { return holds_tensor(graph, child); });
}

// False if an argument with this type in the schema cannot have this value, which is not a tensor.
// True for values of unknown kinds and for types that no kind stands for.
bool may_be(const Graph& graph, const Argument& value, std::string_view type) {
  using ArgumentKind = Argument::Kind;
  const bool is_optional = type.ends_with('?');
  if (value.kind == ArgumentKind::none) return is_optional;
  if (is_optional) type.remove_suffix(1);
  if (is_one_of_kinds(value.kind, {ArgumentKind::node, ArgumentKind::opaque, ArgumentKind::raw}))
    return true;
  if (type.ends_with(']')) {
    const std::size_t bracket = type.rfind('[');
    const std::string_view element = type.substr(0, bracket);
    // `int[2]` also accepts one number.
    if (!is_one_of_kinds(value.kind, {ArgumentKind::list, ArgumentKind::tuple}))
      return bracket + 2 < type.size() && may_be(graph, value, element);
    return std::ranges::all_of(graph.children(value), [&](const Argument& child) {
      return may_be(graph, child, element);
    });
  }
  if (type == "int" || type == "SymInt" || type == "bool")
    return is_one_of_kinds(value.kind,
                           {ArgumentKind::integer, ArgumentKind::boolean, ArgumentKind::symbol});
  if (type == "float")
    return is_one_of_kinds(value.kind, {ArgumentKind::real, ArgumentKind::integer,
                                        ArgumentKind::boolean, ArgumentKind::symbol});
  if (type == "Scalar" || type == "complex")
    return is_one_of_kinds(value.kind,
                           {ArgumentKind::real, ArgumentKind::integer, ArgumentKind::boolean,
                            ArgumentKind::symbol, ArgumentKind::complex});
  if (type == "str") return value.kind == ArgumentKind::string;
  if (type == "ScalarType") return value.kind == ArgumentKind::dtype;
  if (type == "Layout") return value.kind == ArgumentKind::layout;
  if (type == "MemoryFormat") return value.kind == ArgumentKind::memory_format;
  if (type == "Device") return value.kind == ArgumentKind::device;
  return true;
}

Result<void> check_arguments(const Graph& graph, NodeId id, const OperatorInfo& op) {
  const Node& n = graph.node(id);
  const auto positional = graph.args(n), keywords = graph.children(n.kwargs);
  std::vector<const Argument*> given(op.arguments.size(), nullptr);
  for (std::size_t i = 0; i < positional.size(); ++i) {
    if (i >= op.arguments.size() || op.arguments[i].keyword_only)
      return refuse("{} accepts {}, but {} passes {}", op.name, counted(i, "positional argument"),
                    graph.name(id), positional.size());
    given[i] = &positional[i];
  }
  for (std::size_t i = 0; i + 1 < keywords.size(); i += 2) {
    const int index = op.argument_index(graph.text(keywords[i].text()));
    if (index < 0)
      return refuse("{} has no argument `{}`, which {} passes", op.name,
                    graph.text(keywords[i].text()), graph.name(id));
    given[static_cast<std::size_t>(index)] = &keywords[i + 1];
  }
  for (std::size_t i = 0; i < given.size(); ++i) {
    const SchemaArgument& wanted = op.arguments[i];
    if (given[i] == nullptr) {
      if (wanted.default_value.empty())
        return refuse("{} needs the argument `{}`, which {} does not pass", op.name, wanted.name,
                      graph.name(id));
      continue;
    }
    if (given[i]->kind == Argument::Kind::none && wanted.type.ends_with('?')) continue;
    if (holds_tensor(graph, *given[i]) != wanted.is_tensor())
      return refuse("{} accepts {} as `{}`, but {} passes {}", op.name, wanted.type, wanted.name,
                    graph.name(id), wanted.is_tensor() ? "no tensor" : "a tensor");
    if (!wanted.is_tensor() && !may_be(graph, *given[i], wanted.type))
      return refuse("{} accepts {} as `{}`, but {} passes another type", op.name, wanted.type,
                    wanted.name, graph.name(id));
  }
  return {};
}

bool returns_the_same(const Graph& graph, NodeId id, const OperatorInfo& op) {
  const Node& n = graph.node(id);
  const OperatorInfo& was = graph.op(n);
  if (!std::ranges::equal(was.returns, op.returns, {}, &SchemaReturn::type, &SchemaReturn::type))
    return false;
  if (was.packet() == op.packet()) return true;
  if (is_twin(was.packet(), op.packet()) || is_twin(op.packet(), was.packet())) return true;
  if (is_one_of(was.packet(), kReshapes) && is_one_of(op.packet(), kReshapes)) return true;
  if (is_one_of(was.packet(), kSame) && is_one_of(op.packet(), kSame)) return true;
  if (!was.has(OperatorTag::pointwise) || !op.has(OperatorTag::pointwise) ||
      is_one_of(was.packet(), kReturnBools) || is_one_of(op.packet(), kReturnBools))
    return false;
  const Tensor* result = graph.single_tensor(n);
  if (result == nullptr || !is_floating(result->dtype)) return false;
  const auto inputs = graph.inputs(n);
  return std::ranges::all_of(inputs, [&](NodeId input) {
    const Tensor* t = graph.single_tensor(graph.node(input));
    return t == nullptr || t->dtype == result->dtype;
  });
}

}  // namespace

Result<Edit> replace_call(const Graph& graph, NodeId node, std::string_view target) {
  const Node& n = graph.node(node);
  if (n.kind != NodeKind::call)
    return refuse("{} is not a call: there is nothing to replace", graph.name(node));
  const OperatorInfo op = describe_operator(target);
  if (!op.known || !op.has_schema)
    return refuse("{} is not an operator of torch {}", target, operator_table_version());
  if (graph.target(n) == target) return refuse("{} already calls {}", graph.name(node), target);
  if (op.mutates || graph.op(n).mutates)
    return refuse("{} writes to its arguments, so replacing {} could change what other calls read",
                  op.mutates ? std::string_view(op.name) : graph.target(n), graph.name(node));
  JOINTER_CHECK(check_arguments(graph, node, op));
  if (!returns_the_same(graph, node, op))
    return refuse("{} is not known to return the shape and dtype of {} in {}", target,
                  graph.target(n), graph.name(node));
  return Edit{
      .title = fmt::format("Replace {} in {} with {}", graph.target(n), graph.name(node), target),
      .changes = {ReplaceCall{.node = edit_name(graph, node), .target = std::string(target)}}};
}

std::vector<std::string> replacing_operators(const Graph& graph, NodeId node) {
  std::vector<std::string> accepted;
  for (const std::string_view name : operator_names())
    if (replace_call(graph, node, name)) accepted.emplace_back(name);
  return accepted;
}

}  // namespace jointer
