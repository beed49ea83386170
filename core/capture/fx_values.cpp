#include "core/capture/fx_values.h"

#include <algorithm>
#include <array>

#include "core/base/characters.h"
#include "core/base/counted.h"
#include "core/base/number_text.h"

namespace jointer::fx {
namespace {

constexpr int kMaxDepth = 8;                // of nested tuples
constexpr std::size_t kMaxElements = 4096;  // of a tuple; real ones have a few hundred at most

// The first device named in an argument, which is the best guess for tensors without a device;
// cuda:0 if there is none.
std::string named_device(const Body& body) {
  static constexpr std::string_view kType = "device(type='", kIndex = ", index=";
  for (const Statement& s : body.statements) {
    const auto at = s.expression.find(kType);
    if (at == std::string_view::npos) continue;
    std::string_view rest = s.expression.substr(at + kType.size());
    const auto quote = rest.find('\'');
    if (quote == std::string_view::npos) continue;
    std::string device(rest.substr(0, quote));
    rest.remove_prefix(quote + 1);
    if (rest.starts_with(kIndex)) {
      rest.remove_prefix(kIndex.size());
      device += ":" + std::string(rest.substr(0, rest.find(')')));
    }
    if (is_device_name(device)) return device;
  }
  return "cuda:0";
}

bool is_quoted(std::string_view key) {
  return key.size() >= 2 && (key.front() == '\'' || key.front() == '"') &&
         key.back() == key.front();
}

}  // namespace

ValueBuilder::ValueBuilder(Graph& graph, PartId part, const Body& body)
    : graph_(graph),
      part_(part),
      body_(body),
      storages_(graph, part),
      layouts_(graph, part),
      default_device_(named_device(body)) {}

Value ValueBuilder::build(const Node& node, std::string_view name, std::string_view type) {
  next_output_ = 0;
  if (!type.empty()) return from_type(node, type, 0);
  const Value value = from_elements(node, name, 0);
  if (value.kind != Value::Kind::none) {
    ++counts_.tuples;
  } else if (node.kind == NodeKind::placeholder) {
    ++counts_.unknown_inputs;
  } else if (node.kind == NodeKind::call) {
    const OperatorInfo& op = graph_.op(node);
    // A call that returns nothing needs no type.
    if (!op.has_schema || !op.returns.empty()) ++counts_.unknown_calls;
  }
  return value;
}

Value ValueBuilder::from_type(const Node& node, std::string_view type, std::size_t output) {
  PythonText text(graph_, part_, type, PythonText::Style::fx);
  const auto open = type.find('(');
  const auto bracket = type.find('[');
  if (type.starts_with("Sym(") && type.ends_with(')'))
    return from_symbol(type.substr(4, type.size() - 5));
  // A Tensor subclass, such as `DTensor(f32[8][1]cpu, S(0))`.
  const bool is_subclass = open != std::string_view::npos && open < bracket;
  if (is_subclass) {
    text.word();
    text.expect('(');
  }
  const TensorText tensor = text.tensor_type();
  if (!is_subclass && !text.at_end()) text_mistake("unknown type `{}`", type);
  return Value::of_tensor(add_tensor(node, tensor, output));
}

Value ValueBuilder::from_symbol(std::string_view text) {
  // torch has specialized the symbol to a constant.
  if (text == "True" || text == "False")
    return Value::of_text(Value::Kind::constant, graph_.intern(text == "True" ? "true" : "false"));
  const std::string_view digits = text.substr(text.starts_with('-') ? 1 : 0);
  if (is_digits(digits) && digits.size() < 20 && (digits.size() == 1 || digits.front() != '0'))
    return Value::of_text(Value::Kind::constant, graph_.intern(text));
  if (const auto expression = graph_.intern_expression(part_, text, {}))
    return Value::of_symbol(*expression);
  const StringId type = graph_.intern("Sym");
  return Value::of_opaque(type, graph_.intern(text));
}

Value ValueBuilder::from_elements(const Node& node, std::string_view name, int depth) {
  const auto found = body_.elements.find(name);
  if (found == body_.elements.end() || depth > kMaxDepth) return {};
  const std::vector<Element>& elements = found->second;
  const bool is_dict = is_quoted(elements.front().key);

  std::vector<const Element*> slots;
  for (const Element& element : elements) {
    if (is_dict) {
      const auto same = [&](const Element* other) { return other->key == element.key; };
      if (std::ranges::none_of(slots, same) && is_quoted(element.key)) slots.push_back(&element);
      continue;
    }
    const auto index = number_of<std::size_t>(element.key);
    if (!index || *index >= kMaxElements) return {};  // a slice or an index into a tensor
    if (slots.size() <= *index) slots.resize(*index + 1, nullptr);
    if (slots[*index] == nullptr || slots[*index]->type.empty()) slots[*index] = &element;
  }
  // The schema gives the number of elements, except for lists.
  const OperatorInfo& op = graph_.op(node);
  if (depth == 0 && !is_dict && op.returns.size() > slots.size())
    slots.resize(op.returns.size(), nullptr);
  if (slots.size() > kMaxElements) return {};

  std::vector<Value> values;
  std::size_t unknown = 0;
  for (const Element* element : slots) {
    const std::size_t output = next_output_;
    Value value;
    if (element != nullptr)
      value = element->type.empty() ? from_elements(node, element->name, depth + 1)
                                    : from_type(node, element->type, output);
    if (value.kind == Value::Kind::none) ++unknown;
    if (element == nullptr || !element->type.empty()) ++next_output_;
    if (is_dict && element != nullptr) {
      const std::string_view key = element->key.substr(1, element->key.size() - 2);
      values.push_back(Value::of_text(Value::Kind::key, graph_.intern(key)));
    }
    values.push_back(value);
  }
  if (unknown == slots.size()) return {};
  counts_.unread_elements += unknown;
  return graph_.make_children(is_dict ? Value::Kind::dict : Value::Kind::list, values);
}

// The element that a getitem returns from a tuple; Kind::none if it is unknown.
Value ValueBuilder::element_of(const Node& node) const {
  const auto arguments = graph_.args(node);
  if (arguments.size() != 2 || arguments[0].kind != Argument::Kind::node) return {};
  const Value& tuple = graph_.node(arguments[0].node()).value;
  const auto values = graph_.children(tuple);
  if (tuple.kind == Value::Kind::list && arguments[1].kind == Argument::Kind::integer) {
    const auto index = static_cast<std::size_t>(arguments[1].integer);
    return arguments[1].integer >= 0 && index < values.size() ? values[index] : Value{};
  }
  if (tuple.kind == Value::Kind::dict && arguments[1].kind == Argument::Kind::string)
    for (std::size_t i = 0; i + 1 < values.size(); i += 2)
      if (values[i].text() == arguments[1].text()) return values[i + 1];
  return {};
}

const Node& ValueBuilder::with_schema(const Node& node, Node& twin) {
  // Operators that usually return a view. Excludes `to` and `contiguous`, which often copy.
  static constexpr std::array<std::string_view, 16> kViews{
      "view",   "reshape", "transpose", "permute", "t",     "expand", "unsqueeze", "squeeze",
      "detach", "flatten", "select",    "narrow",  "split", "chunk",  "unbind",    "alias"};
  static constexpr std::array<std::string_view, 4> kOverloads{".default", ".int", ".Tensor",
                                                              ".dim"};
  const std::string_view target = graph_.target(node);
  if (!target.starts_with("call_")) return node;
  const auto [known, is_new] = twins_.try_emplace(node.target, node.target);
  if (is_new) {
    const std::string name(target.substr(target.rfind('.') + 1));
    if (std::ranges::find(kViews, name) != kViews.end()) {
      for (const std::string_view overload : kOverloads) {
        const std::string candidate = fmt::format("aten.{}{}", name, overload);
        if (!describe_operator(candidate).known) continue;
        known->second = graph_.intern_operator(candidate);
        break;
      }
    }
  }
  twin = node;
  twin.target = known->second;
  return twin;
}

// Returns the device of a tensor whose type does not name one: the call's device argument, else the
// device of the call's first tensor, else the default.
std::string_view ValueBuilder::device_for(const Node& node) {
  ++counts_.without_device;
  if (node.kind != NodeKind::call) return default_device_;
  if (const Argument* device = graph_.argument(node, "device");
      device != nullptr && device->kind == Argument::Kind::device)
    return graph_.text(device->text());
  for (const Argument& argument : graph_.args(node)) {
    if (argument.kind != Argument::Kind::node) continue;
    const auto tensors = graph_.tensors(argument.node());
    if (!tensors.empty() && tensors.front().device)
      return graph_.text(graph_.device(tensors.front().device).name);
  }
  return default_device_;
}

// A getitem returns the tensor in the tuple, so it has the same storage and layout.
TensorId ValueBuilder::add_like(const Tensor& source, const TensorText& type) {
  Tensor tensor = source;
  const auto known = graph_.stride(source);
  const std::vector<Dim> stride =
      type.has_stride ? type.stride : std::vector<Dim>(known.begin(), known.end());
  const Dim offset = graph_.offset(source);
  return graph_.add_tensor(tensor, type.shape, stride, offset);
}

TensorId ValueBuilder::add_tensor(const Node& node, const TensorText& type, std::size_t output) {
  if (node.kind == NodeKind::call && graph_.op(node).is_getitem) {
    const Value source = element_of(node);
    if (source.kind == Value::Kind::tensor) {
      const Tensor element = graph_.tensor(source.tensor());
      if (element.rank == type.shape.size() && element.dtype == type.dtype)
        return add_like(element, type);
    }
  }
  for (const Dim& size : type.shape)
    if (size.value < 0) text_mistake("size {} is negative", size.value);
  Node twin;
  const Node& schema = with_schema(node, twin);
  const Layout layout = layouts_.derive(schema, output, type.shape, type.dtype);
  const std::vector<Dim>& stride = type.has_stride ? type.stride : layout.stride;
  const Dim bytes =
      layouts_.storage_bytes(type.shape, stride, layout.offset.value_or(Dim{}), type.dtype);
  Tensor tensor;
  tensor.dtype = type.dtype;
  const std::size_t before = graph_.storage_count();
  tensor.storage = node.kind == NodeKind::call ? storages_.storage_of(graph_.op(schema), node.args,
                                                                      node.kwargs, output, bytes)
                                               : storages_.fresh(bytes);
  if (graph_.storage_count() == before) {
    ++counts_.views;
    if (layout.offset && !bytes.expression) storages_.grow(tensor.storage, bytes.value);
  } else if (layouts_.is_assumed_dense(type.shape, stride, layout.offset.value_or(Dim{}))) {
    ++counts_.assumed_bytes;
  }
  tensor.device =
      graph_.intern_device(type.device.empty() ? std::string(device_for(node)) : type.device);
  tensor.set(Tensor::has_storage);
  tensor.set(Tensor::has_stride);
  tensor.set(Tensor::has_offset, layout.offset.has_value());
  if (!type.has_stride) {
    ++counts_.without_stride;
    if (!layout.is_exact) ++counts_.guessed_stride;
  }
  if (!layout.offset) ++counts_.unknown_offset;
  return graph_.add_tensor(tensor, type.shape, stride, layout.offset.value_or(Dim{}));
}

void ValueBuilder::add_facts() {
  const auto derived = [&](std::size_t count, std::string text) {
    if (count > 0) graph_.add_fact(Fact::Kind::derived, std::move(text));
  };
  derived(1,
          fmt::format("storages are not in the text: according to the operators' schemas, {} the "
                      "storage of another, and every other tensor has its own",
                      counted(counts_.views, "tensor shares", "tensors share")));
  derived(counts_.without_stride,
          fmt::format("strides of {} are not in the text: those of views are derived from their "
                      "bases, but {} and all other tensors are assumed dense",
                      counted(counts_.without_stride, "tensor"),
                      counted(counts_.guessed_stride, "view")));
  derived(counts_.assumed_bytes,
          fmt::format("sizes of {} depend on symbolic sizes, strides or offsets: assumed to be "
                      "those of dense tensors",
                      counted(counts_.assumed_bytes, "storage")));
  derived(
      counts_.unknown_offset,
      fmt::format("storage offsets of {} are not in the text and cannot be derived from arguments",
                  counted(counts_.unknown_offset, "view")));
  derived(counts_.without_device,
          fmt::format("devices of {} are not in the text: assumed to be the call's device "
                      "argument, the device of its first tensor, or {}",
                      counted(counts_.without_device, "tensor"), default_device_));
  derived(counts_.tuples,
          fmt::format("types of {} are not in the text: they are assembled from the elements that "
                      "are read; {} unknown and counted as 0 bytes",
                      counted(counts_.tuples, "tuple"),
                      counted(counts_.unread_elements, "element is", "elements are")));
  derived(counts_.unknown_inputs,
          fmt::format("{} in the text: counted as 0 bytes",
                      counted(counts_.unknown_inputs, "input has no type", "inputs have no type")));
  derived(counts_.unknown_calls,
          fmt::format("{} in the text: results counted as 0 bytes",
                      counted(counts_.unknown_calls, "call has no type", "calls have no type")));
}

}  // namespace jointer::fx
