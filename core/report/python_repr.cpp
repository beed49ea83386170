#include "core/report/python_repr.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>

#include "core/base/characters.h"
#include "core/base/json_text.h"
#include "core/base/take_part.h"
#include "core/graph/python_operators.h"
#include "core/graph/size_text.h"

namespace jointer {
namespace {

constexpr NameTable<std::string_view, 3> kPrefixOperators{
    {{"-", "neg"}, {"+", "pos"}, {"~", "invert"}}};

std::string real_repr(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

// Quotes the text as Python's `repr` does.
std::string quoted_repr(std::string_view text) {
  const bool has_single = text.find('\'') != std::string_view::npos;
  const char quote = has_single && text.find('"') == std::string_view::npos ? '"' : '\'';
  std::string result(1, quote);
  for (const char c : text) {
    if (c == quote || c == '\\') {
      result += '\\';
      result += c;
    } else if (c == '\n') {
      result += "\\n";
    } else if (c == '\t') {
      result += "\\t";
    } else if (c == '\r') {
      result += "\\r";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      result += c;
    }
  }
  return result + quote;
}

std::string device_repr(std::string_view device) {
  const auto colon = std::min(device.find(':'), device.size());
  const std::string_view index = device.substr(std::min(colon + 1, device.size()));
  if (colon == device.size()) return fmt::format("device(type={})", quoted_repr(device));
  if (!is_digits(index)) return fmt::format("device({})", quoted_repr(device));
  return fmt::format("device(type={}, index={})", quoted_repr(device.substr(0, colon)), index);
}

// True if the arguments can be operands in infix notation. Expressions of symbolic sizes cannot,
// since parts of them could bind to the surrounding operators.
bool are_operands(std::span<const Argument> args) {
  return std::ranges::none_of(args, [](const Argument& a) {
    return a.kind == Argument::Kind::symbol || a.kind == Argument::Kind::opaque;
  });
}

// Returns the type name for `<TYPE object>`.
std::string_view plain_type(std::string_view type) {
  const bool plain = !type.empty() && std::ranges::all_of(type, is_dotted_name_character);
  return plain ? type : "object";
}

std::string op_repr(std::string_view name) {
  return name.find('.') == std::string_view::npos ? fmt::format("torch.ops.higher_order.{}", name)
                                                  : fmt::format("torch.ops.{}", name);
}

// Returns the name by which generated code calls the function.
std::string function_name(const OperatorInfo& op) {
  const std::string_view target = op.name;
  const auto without = [&](std::string_view prefix) {
    return std::string(target.substr(prefix.size()));
  };
  if (target.starts_with("_operator.")) return without("_");
  if (target.starts_with("builtins.")) return without("builtins.");
  if (target.starts_with("call_function.")) return without("call_function.");
  if (target.starts_with("torch.") || target.starts_with("math.")) return std::string(target);
  return op_repr(target);
}

}  // namespace

std::string attribute_path(std::string_view base, std::string_view path) {
  std::string result(base);
  while (!path.empty()) {
    const std::string_view segment = take_part(path, '.');
    result = is_identifier(segment) ? fmt::format("{}.{}", result, segment)
                                    : fmt::format("getattr({}, \"{}\")", result, segment);
  }
  return result;
}

std::string json_repr(const OrderedJson& json) {
  if (json.is_null()) return "None";
  if (json.is_boolean()) return json.get<bool>() ? "True" : "False";
  if (json.is_number_float()) return real_repr(json.get<double>());
  if (json.is_string()) return quoted_repr(json.get_ref<const std::string&>());
  std::string text;
  const auto separate = [&] { text += text.size() > 1 && text.back() != '(' ? ", " : ""; };
  if (json.is_array()) {
    text = "[";
    for (const OrderedJson& element : json) {
      separate();
      text += json_repr(element);
    }
    return text + "]";
  }
  if (!json.is_object()) return json.dump();
  const auto type = json.find("type");
  if (type == json.end() || !type->is_string() || !is_identifier(type->get<std::string>())) {
    text = "{";
    for (const auto& [key, value] : json.items()) {
      separate();
      text += quoted_repr(key) + ": " + json_repr(value);
    }
    return text + "}";
  }
  text = type->get<std::string>() + "(";
  for (const auto& [key, value] : json.items()) {
    if (key == "type") continue;
    separate();
    text += key + "=" + json_repr(value);
  }
  return text + ")";
}

std::string json_repr(std::string_view text) {
  const OrderedJson json = OrderedJson::parse(text, nullptr, /*allow_exceptions=*/false);
  return json.is_discarded() ? std::string() : json_repr(json);
}

std::string PythonRepr::type(const Value& value) const {
  if (value.kind == Value::Kind::symbol)
    return fmt::format("Sym({})", graph_.expression_text(value.expression()));
  if (value.kind == Value::Kind::constant) {
    const OrderedJson json =
        OrderedJson::parse(graph_.text(value.text()), nullptr, /*allow_exceptions=*/false);
    return json.is_number_integer() || json.is_boolean() ? fmt::format("Sym({})", json_repr(json))
                                                         : std::string();
  }
  if (value.kind != Value::Kind::tensor) return {};
  const Tensor& t = graph_.tensor(value.tensor());
  std::string text = std::string(short_name(t.dtype)) + sizes_text(graph_, graph_.shape(t), ", ");
  if (t.has(Tensor::has_stride)) text += sizes_text(graph_, graph_.stride(t), ", ");
  if (t.device) text += graph_.text(graph_.device(t.device).name);
  return text;
}

std::string PythonRepr::children(const Argument& a) const {
  std::string text;
  for (const Argument& child : graph_.children(a)) {
    if (!text.empty()) text += ", ";
    text += argument(child);
  }
  return text;
}

std::string PythonRepr::argument(const Argument& a) const {
  using AK = Argument::Kind;
  switch (a.kind) {
    case AK::none:
      return "None";
    case AK::boolean:
      return a.integer != 0 ? "True" : "False";
    case AK::integer:
      return std::to_string(a.integer);
    case AK::real:
      return real_repr(a.real);
    case AK::string:
      return quoted_repr(graph_.text(a.text()));
    case AK::node:
      return std::string(graph_.name(a.node()));
    case AK::list:
      return "[" + children(a) + "]";
    case AK::tuple:
      return "(" + children(a) + (a.count == 1 ? ",)" : ")");
    case AK::dict: {
      std::string text = "{";
      const auto pairs = graph_.children(a);
      for (std::size_t i = 0; i + 1 < pairs.size(); i += 2) {
        if (i > 0) text += ", ";
        text += argument(pairs[i]) + ": " + argument(pairs[i + 1]);
      }
      return text + "}";
    }
    case AK::slice:
      return "slice(" + children(a) + ")";
    case AK::complex: {
      const auto parts = graph_.children(a);
      const auto number = [](const Argument& part) {
        return part.kind == AK::real ? part.real : static_cast<double>(part.integer);
      };
      const double imaginary = number(parts[1]);
      return fmt::format("({}{}{}j)", real_repr(number(parts[0])),
                         std::signbit(imaginary) ? "" : "+", real_repr(imaginary));
    }
    case AK::dtype:
    case AK::layout:
    case AK::memory_format:
      return fmt::format("torch.{}", graph_.text(a.text()));
    case AK::device:
      return device_repr(graph_.text(a.text()));
    case AK::symbol:
      return std::string(graph_.expression_text(a.expression()));
    case AK::op:
      return op_repr(graph_.text(a.text()));
    case AK::opaque:
    case AK::raw: {
      const std::string_view text = graph_.text(a.text());
      const bool is_number = a.kind == AK::raw && !text.empty() &&
                             text.find_first_not_of("-0123456789") == std::string_view::npos;
      return is_number ? std::string(text)
                       : fmt::format("<{} object>", a.kind == AK::raw ? "json" : plain_type(text));
    }
  }
  return {};
}

// All arguments except the first `skip` positional ones.
std::string PythonRepr::arguments(const Node& node, std::size_t skip) const {
  std::string text;
  for (const Argument& a : graph_.args(node)) {
    if (skip > 0) {
      --skip;
      continue;
    }
    text += (text.empty() ? "" : ", ") + argument(a);
  }
  const auto keywords = graph_.children(node.kwargs);
  for (std::size_t i = 0; i + 1 < keywords.size(); i += 2)
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", graph_.text(keywords[i].text()),
                        argument(keywords[i + 1]));
  return text;
}

std::string PythonRepr::call(const Node& node, std::string_view name) const {
  const OperatorInfo& op = graph_.op(node);
  const auto args = graph_.args(node);
  const std::string_view target = op.name;
  if (target.starts_with("_operator.") && node.kwargs.count == 0 && are_operands(args)) {
    const bool on_node = !args.empty() && args[0].kind == Argument::Kind::node;
    const std::string_view bare = target.substr(std::string_view("_operator.").size());
    if (bare == "getitem" && args.size() == 2 && on_node)
      return fmt::format("{} = {}[{}]", name, argument(args[0]), argument(args[1]));
    if (bare == "setitem" && args.size() == 3 && on_node)
      return fmt::format("{}[{}] = {};  {} = {}", argument(args[0]), argument(args[1]),
                         argument(args[2]), name, argument(args[0]));
    if (const auto symbol = name_in(kInfixOperators, bare); !symbol.empty() && args.size() == 2)
      return fmt::format("{} = {} {} {}", name, argument(args[0]), symbol, argument(args[1]));
    if (const auto symbol = name_in(kPrefixOperators, bare);
        !symbol.empty() && args.size() == 1 && on_node)
      return fmt::format("{} = {}{}", name, symbol, argument(args[0]));
    if (const auto symbol = name_in(kInplaceOperators, bare);
        !symbol.empty() && args.size() == 2 && on_node)
      return fmt::format("{} {} {};  {} = {}", argument(args[0]), symbol, argument(args[1]), name,
                         argument(args[0]));
  }
  constexpr std::string_view kMethod = "call_method.", kModule = "call_module.";
  if (target.starts_with(kMethod) && !args.empty())
    return fmt::format("{} = {}.{}({})", name, argument(args[0]), target.substr(kMethod.size()),
                       arguments(node, 1));
  if (target.starts_with(kModule))
    return fmt::format("{} = {}({})", name, attribute_path("self", target.substr(kModule.size())),
                       arguments(node, 0));
  return fmt::format("{} = {}({})", name, function_name(op), arguments(node, 0));
}

}  // namespace jointer
