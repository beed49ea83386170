#include "app/runner/program/arguments.h"

#include <ATen/core/jit_type.h>
#include <ATen/ops/scalar_tensor.h>

#include <algorithm>
#include <utility>

#include "app/runner/program/opaque.h"
#include "app/runner/support/torch_version.h"
#include "core/base/counted.h"
#include "core/graph/symbolic_float.h"

namespace jointer::runner {
namespace {

using c10::IValue;
using c10::TypeKind;

const c10::Type& without_optional(const c10::Type& type) {
  if (const auto* optional = type.castRaw<c10::OptionalType>()) return *optional->getElementType();
  return type;
}

Operand::Element element_of(const c10::Type& type) {
  switch (type.kind()) {
    case TypeKind::TensorType:
      return Operand::Element::tensor;
    case TypeKind::OptionalType:
      return without_optional(type).kind() == TypeKind::TensorType
                 ? Operand::Element::optional_tensor
                 : Operand::Element::any;
    case TypeKind::IntType:
    case TypeKind::SymIntType:
      return Operand::Element::integer;
    case TypeKind::FloatType:
    case TypeKind::SymFloatType:
      return Operand::Element::real;
    case TypeKind::BoolType:
    case TypeKind::SymBoolType:
      return Operand::Element::boolean;
    default:
      return Operand::Element::any;
  }
}

Result<c10::Layout> parse_layout(std::string_view name) {
  if (name == "strided") return c10::Layout::Strided;
  if (name == "sparse_coo") return c10::Layout::Sparse;
  if (name == "sparse_csr") return c10::Layout::SparseCsr;
  return input_error("layout {} is not supported", name);
}

Result<c10::MemoryFormat> parse_memory_format(std::string_view name) {
  if (name == "contiguous_format") return c10::MemoryFormat::Contiguous;
  if (name == "preserve_format") return c10::MemoryFormat::Preserve;
  if (name == "channels_last") return c10::MemoryFormat::ChannelsLast;
  if (name == "channels_last_3d") return c10::MemoryFormat::ChannelsLast3d;
  return input_error("memory format {} is not supported", name);
}

std::string_view last_part(std::string_view name) {
  return name.substr(name.rfind('.') + 1);
}

}  // namespace

at::Tensor wrapped_number(const IValue& number) {
  at::Tensor tensor;
  if (number.isBool())
    tensor = at::scalar_tensor(number.toBool(), at::kBool);
  else if (number.isInt())
    tensor = at::scalar_tensor(number.toInt(), at::kLong);
  else if (number.isComplexDouble())
    tensor = at::scalar_tensor(number.toComplexDouble(), at::kComplexDouble);
  else
    tensor = at::scalar_tensor(number.toDouble(), at::kDouble);
  tensor.unsafeGetTensorImpl()->set_wrapped_number(true);
  return tensor;
}

Result<at::ScalarType> scalar_type(DType type) {
  using enum DType;
  static constexpr std::pair<DType, at::ScalarType> kTypes[] = {
      {bfloat16, at::kBFloat16},
      {float16, at::kHalf},
      {float32, at::kFloat},
      {float64, at::kDouble},
      {float8_e4m3fn, at::kFloat8_e4m3fn},
      {float8_e4m3fnuz, at::kFloat8_e4m3fnuz},
      {float8_e5m2, at::kFloat8_e5m2},
      {float8_e5m2fnuz, at::kFloat8_e5m2fnuz},
      {float8_e8m0fnu, at::kFloat8_e8m0fnu},
      {float4_e2m1fn_x2, at::ScalarType::Float4_e2m1fn_x2},
      {complex32, at::kComplexHalf},
      {complex64, at::kComplexFloat},
      {complex128, at::kComplexDouble},
      {boolean, at::kBool},
      {int8, at::kChar},
      {int16, at::kShort},
      {int32, at::kInt},
      {int64, at::kLong},
      {uint8, at::kByte},
      {uint16, at::kUInt16},
      {uint32, at::kUInt32},
      {uint64, at::kUInt64},
  };
  for (const auto& [ours, theirs] : kTypes)
    if (ours == type) return theirs;
  return input_error("dtype {} is not supported", to_string(type));
}

Operand ArgumentConverter::add_constant(IValue value) {
  program_.constants.push_back(std::move(value));
  return {.kind = Operand::Kind::constant,
          .index = static_cast<std::uint32_t>(program_.constants.size() - 1)};
}

at::Device ArgumentConverter::map_device(std::string_view name) const {
  const at::Device captured{std::string(name)};
  if (captured.is_meta()) return captured;
  const bool is_main =
      graph_.main_device() == DeviceType::cpu ? captured.is_cpu() : !captured.is_cpu();
  return is_main ? device_ : at::Device(at::kCPU);
}

Result<Operand> ArgumentConverter::symbol(ExpressionId id) {
  JOINTER_TRY(Expression expression, Expression::parse(graph_.expression_text(id)));
  SymbolicOperand operand{.expression = std::move(expression), .symbols = {}};
  for (const std::string& name : operand.expression.symbols()) {
    const auto at = program_.symbols.find(name);
    if (at == program_.symbols.end())
      return input_error("the size {} contains {}, which is not a symbol of the graph",
                         operand.expression.text(), name);
    operand.symbols.push_back(at->second);
  }
  program_.expressions.push_back(std::move(operand));
  return Operand{.kind = Operand::Kind::expression,
                 .index = static_cast<std::uint32_t>(program_.expressions.size() - 1)};
}

// Returns a name for each positional argument: its name in the capture's schema or, without such a
// schema, that of this torch's parameter at its position. If this torch's operator has no parameter
// of the captured name, the parameter was probably renamed, so the argument gets the name of the
// parameter at its position, unless the capture's schema has that parameter at another position.
std::vector<std::string_view> ArgumentConverter::names_of(std::size_t count,
                                                          const c10::FunctionSchema& schema,
                                                          const OperatorInfo* captured) {
  const auto& parameters = schema.arguments();
  const auto has = [&](std::string_view name) {
    return std::ranges::any_of(parameters, [&](const auto& p) { return p.name() == name; });
  };
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < count; ++i) {
    const bool in_place = i < parameters.size() && !parameters[i].kwarg_only();
    const std::string_view here = in_place ? std::string_view(parameters[i].name()) : "";
    std::string_view name = here;
    if (captured != nullptr && captured->has_schema && i < captured->arguments.size()) {
      name = captured->arguments[i].name;
      if (!has(name) && in_place && captured->argument_index(here) < 0) name = here;
    }
    names.push_back(name);
  }
  return names;
}

std::string_view ArgumentConverter::captured_by(const Node& node) const {
  return graph_.part(node.part).torch_version;
}

Result<void> ArgumentConverter::convert(const Node& node, const c10::FunctionSchema& schema,
                                        std::size_t skip, std::string_view ignored_keyword,
                                        const OperatorInfo* captured) {
  const std::span<const Argument> positional = graph_.args(node).subspan(skip);
  const std::span<const Argument> keywords = graph_.children(node.kwargs);
  std::vector<std::pair<std::string_view, const Argument*>> given;
  const std::vector<std::string_view> names = names_of(positional.size(), schema, captured);
  for (std::size_t i = 0; i < positional.size(); ++i) given.emplace_back(names[i], &positional[i]);
  for (std::size_t i = 0; i + 1 < keywords.size(); i += 2)
    if (const std::string_view name = graph_.text(keywords[i].text()); name != ignored_keyword)
      given.emplace_back(name, &keywords[i + 1]);

  // Converting a list appends the operands of its elements, so the call's own operands are appended
  // at the end, where they are contiguous.
  std::vector<Operand> operands;
  for (const c10::Argument& parameter : schema.arguments()) {
    const auto found = std::ranges::find(given, std::string_view(parameter.name()),
                                         &std::pair<std::string_view, const Argument*>::first);
    if (found == given.end()) {
      if (parameter.name() == "captured_by") {
        operands.push_back(add_constant(IValue(std::string(captured_by(node)))));
        continue;
      }
      if (!parameter.default_value())
        return input_error("argument {} of {} is missing{}", parameter.name(), schema.name(),
                           of_another_torch(captured_by(node)));
      operands.push_back(add_constant(*parameter.default_value()));
      continue;
    }
    const Argument& argument = *found->second;
    given.erase(found);
    auto operand = convert(argument, *parameter.type(), parameter.N().value_or(0));
    if (!operand)
      return input_error("argument {} of {}: {}", parameter.name(), schema.name(),
                         operand.error().message);
    operands.push_back(*operand);
  }
  // An argument that exists only in the capture's version of torch can be dropped if it is None.
  std::erase_if(given, [](const auto& each) { return each.second->kind == Argument::Kind::none; });
  if (!given.empty()) {
    const std::string_view name = given.front().first;
    if (name.empty())
      return input_error("{} accepts at most {}{}", schema.name(),
                         counted(schema.arguments().size(), "argument"),
                         of_another_torch(captured_by(node)));
    return input_error("{} has no argument {}{}", schema.name(), name,
                       of_another_torch(captured_by(node)));
  }
  program_.operands.insert(program_.operands.end(), operands.begin(), operands.end());
  return {};
}

Result<Operand> ArgumentConverter::of_node(NodeId node, const c10::Type& type) {
  const SlotId slot = slot_of_(node);
  if (slot == kNoSlot) return input_error("{} has no value", graph_.name(node));
  const Value& value = graph_.node(node).value;
  const bool is_number =
      value.kind == Value::Kind::symbol || symbolic_float(graph_, value).has_value();
  const bool wants_tensor = without_optional(type).kind() == TypeKind::TensorType;
  return Operand{.kind = is_number && wants_tensor ? Operand::Kind::as_tensor : Operand::Kind::slot,
                 .index = slot};
}

const std::vector<NodeId>& ArgumentConverter::nodes_of_float(const std::string& expression) {
  if (!floats_) {
    floats_.emplace();
    for (const NodeId id : graph_.order())
      if (const auto known = symbolic_float(graph_, graph_.node(id).value))
        (*floats_)[known->expression].push_back(id);
  }
  return (*floats_)[expression];
}

// The operand for a symbolic float is the result of the first node with the same expression.
Result<Operand> ArgumentConverter::of_float(const SymbolicFloat& number, const c10::Type& type) {
  for (const NodeId id : nodes_of_float(number.expression))
    if (slot_of_(id) != kNoSlot) return of_node(id, type);
  return input_error("no node computes the number {}", number.expression);
}

Result<Operand> ArgumentConverter::convert(const Argument& argument, const c10::Type& type,
                                           int fixed_size) {
  if (argument.kind == Argument::Kind::node) return of_node(argument.node(), type);
  const c10::Type& plain = without_optional(type);
  if (argument.kind != Argument::Kind::none && plain.kind() == TypeKind::ListType)
    return convert_list(argument, *plain.castRaw<c10::ListType>(), fixed_size);
  if (argument.kind == Argument::Kind::symbol) return symbol(argument.expression());
  if (const auto number = symbolic_float(graph_, argument)) return of_float(*number, type);
  JOINTER_TRY(IValue value, constant(argument, type));
  return add_constant(std::move(value));
}

Result<Operand> ArgumentConverter::convert_list(const Argument& argument, const c10::ListType& type,
                                                int fixed_size) {
  const c10::Type& element = *type.getElementType();
  std::vector<Operand> elements;
  if (argument.kind == Argument::Kind::list || argument.kind == Argument::Kind::tuple) {
    for (const Argument& child : graph_.children(argument)) {
      JOINTER_TRY(const Operand operand, convert(child, element));
      elements.push_back(operand);
    }
  } else if (fixed_size > 0) {
    // For `int[2]`, a single number is the value of all elements.
    JOINTER_TRY(const Operand operand, convert(argument, element));
    elements.assign(static_cast<std::size_t>(fixed_size), operand);
  } else {
    return input_error("expected a list");
  }
  return add_list(elements, element_of(element));
}

Operand ArgumentConverter::add_list(const std::vector<Operand>& elements, Operand::Element type) {
  const Operand list{.kind = Operand::Kind::list,
                     .element = type,
                     .index = static_cast<std::uint32_t>(program_.operands.size()),
                     .count = static_cast<std::uint32_t>(elements.size())};
  program_.operands.insert(program_.operands.end(), elements.begin(), elements.end());
  return list;
}

Result<IValue> ArgumentConverter::constant(const Argument& argument, const c10::Type& type) {
  const c10::Type& plain = without_optional(type);
  const bool is_optional = type.kind() == TypeKind::OptionalType;
  switch (argument.kind) {
    case Argument::Kind::none:
      // For `Tensor`, None is an undefined tensor; for `Tensor?` and other optional types, it stays
      // None.
      if (!is_optional && plain.kind() == TypeKind::TensorType) return IValue(at::Tensor());
      return IValue();
    case Argument::Kind::boolean:
    case Argument::Kind::integer: {
      const bool is_bool = argument.kind == Argument::Kind::boolean;
      const IValue number = is_bool ? IValue(argument.integer != 0) : IValue(argument.integer);
      switch (plain.kind()) {
        case TypeKind::TensorType:
          return IValue(wrapped_number(number));
        case TypeKind::FloatType:
        case TypeKind::SymFloatType:
          return IValue(static_cast<double>(argument.integer));
        case TypeKind::BoolType:
          return IValue(argument.integer != 0);
        case TypeKind::IntType:
        case TypeKind::SymIntType:
          return IValue(argument.integer);
        default:
          return number;
      }
    }
    case Argument::Kind::real:
      if (plain.kind() == TypeKind::TensorType)
        return IValue(wrapped_number(IValue(argument.real)));
      return IValue(argument.real);
    case Argument::Kind::complex: {
      const auto parts = graph_.children(argument);
      const auto part = [](const Argument& a) {
        return a.kind == Argument::Kind::real ? a.real : static_cast<double>(a.integer);
      };
      const IValue number(c10::complex<double>(part(parts[0]), part(parts[1])));
      return plain.kind() == TypeKind::TensorType ? IValue(wrapped_number(number)) : number;
    }
    case Argument::Kind::string:
      if (plain.kind() == TypeKind::DeviceObjType)
        return IValue(map_device(graph_.text(argument.text())));
      return IValue(std::string(graph_.text(argument.text())));
    case Argument::Kind::dtype: {
      const auto dtype = parse_dtype(last_part(graph_.text(argument.text())));
      if (!dtype) return input_error("dtype {} is not supported", graph_.text(argument.text()));
      JOINTER_TRY(const at::ScalarType scalar, scalar_type(*dtype));
      return IValue(static_cast<std::int64_t>(scalar));
    }
    case Argument::Kind::device:
      return IValue(map_device(graph_.text(argument.text())));
    case Argument::Kind::layout: {
      JOINTER_TRY(const c10::Layout layout, parse_layout(last_part(graph_.text(argument.text()))));
      return IValue(static_cast<std::int64_t>(layout));
    }
    case Argument::Kind::memory_format: {
      JOINTER_TRY(const c10::MemoryFormat format,
                  parse_memory_format(last_part(graph_.text(argument.text()))));
      return IValue(static_cast<std::int64_t>(format));
    }
    case Argument::Kind::opaque:
      if (graph_.text(argument.text()) == kProcessGroup) return group_name(graph_, argument);
      return input_error("passing a {} to an operator needs Python; use the backend `python`",
                         graph_.text(argument.text()));
    default:
      return input_error("a value of this kind is not supported");
  }
}

Result<Operand> ArgumentConverter::convert_plain(const Argument& argument) {
  if (argument.kind == Argument::Kind::list || argument.kind == Argument::Kind::tuple) {
    std::vector<Operand> elements;
    for (const Argument& child : graph_.children(argument)) {
      JOINTER_TRY(const Operand operand, convert_plain(child));
      elements.push_back(operand);
    }
    return add_list(elements, Operand::Element::any);
  }
  return convert(argument, *c10::AnyType::get());
}

}  // namespace jointer::runner
