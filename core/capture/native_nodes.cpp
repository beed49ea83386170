#include "core/capture/native_nodes.h"

#include <charconv>
#include <limits>

#include "core/base/counted.h"
#include "core/base/name_table.h"
#include "core/base/number_text.h"
#include "core/base/utf8.h"
#include "core/graph/limits.h"

namespace jointer::native {
namespace {

NodeKind node_kind(std::string_view op) {
  const auto kind = value_in(kNodeOps, op);
  if (!kind)
    give_up("unknown op `{}`; expected placeholder, call_function, get_attr or output", op);
  return *kind;
}

MemoryPolicy memory_policy(std::string_view name) {
  const auto policy = parse_memory_policy(name);
  if (!policy) give_up("unknown policy tag `{}`; expected one of {}", name, memory_policy_names());
  return *policy;
}

void check_depth(int depth) {
  if (depth > kMaxArgumentDepth) give_up("nested more than {} levels deep", kMaxArgumentDepth);
}

}  // namespace

void NodeReader::read(json::object object) {
  const Node node = parse(object);
  if (graph_.find(part_, name_)) give_up("another node has the same name; names must be unique");
  graph_.add_node(node);
  name_.clear();
}

Node NodeReader::parse(json::object object) {
  name_.clear();
  Node node;
  node.part = part_;
  bool has_op = false, has_target = false;
  for (json::field field : object) {
    const std::string_view key = field.unescaped_key();
    json::value value = field.value();
    member_ = key;
    if (key == "name") {
      name_ = get_text(value);
      node.name = graph_.intern(name_);
    } else if (key == "op") {
      node.kind = node_kind(get_text(value));
      has_op = true;
    } else if (key == "target") {
      node.target = graph_.intern_operator(get_text(value));
      has_target = true;
    } else {
      read_member(node, key, value);
    }
  }
  member_ = {};
  if (!node.name || name_.empty())
    give_up("node {} has no name", graph_.node_count() - first_node_);
  if (!has_op) give_up("`op` is missing");
  if (!has_target) give_up("`target` is missing");
  return node;
}

std::string NodeReader::place() const {
  std::string text;
  if (!name_.empty()) text = fmt::format("node {}: ", name_);
  if (!member_.empty()) text += fmt::format("`{}`: ", member_);
  return text;
}

void NodeReader::read_member(Node& node, std::string_view key, json::value value) {
  const auto set_flag = [&](Node::Flag has, Node::Flag flag) {
    node.set(has);
    node.set(flag, value.get_bool().value());
  };
  if (key == "args") {
    node.args = read_children(Argument::Kind::list, value.get_array(), 0);
    node.set(Node::has_args);
  } else if (key == "val") {
    node.value = read_value(value, 0);
    node.set(Node::has_value);
  } else if (key == "stack") {
    node.stack = table_entry<StackId>(value, tables_.stacks, "stacks");
  } else if (key == "module") {
    node.module = table_entry<ModuleStackId>(value, tables_.modules, "modules");
  } else if (key == "seq_nr") {
    if (const auto number = get_count(value)) {
      node.seq_nr = *number;
      node.set(Node::has_seq_nr);
    }
  } else if (key == "partitioner_tag") {
    node.partitioner_tag = intern(value);
  } else if (key == "original_aten") {
    node.original_aten = intern(value);
  } else if (key == "schema_alias") {
    node.schema_alias = intern_raw(value);
  } else if (key == "module_from_fwd") {
    set_flag(Node::has_module_from_fwd, Node::module_from_fwd);
  } else if (key == "recompute") {
    node.policy = memory_policy(get_text(value));
  } else if (key == "custom") {
    if (!value.is_null()) node.custom = intern_raw(value);
  } else if (key == "ac_graph_id") {
    node.ac_graph_id = get_int(value);
    node.set(Node::has_ac_graph_id);
  } else if (key == "kwargs") {
    node.kwargs = read_dict(value.get_object(), 0);
    node.set(Node::has_kwargs);
  } else if (key == "desc") {
    node.desc = intern_raw(value);
  } else if (key == "is_gradient_acc") {
    set_flag(Node::has_gradient_acc, Node::gradient_acc);
  } else if (key == "autograd_backward") {
    set_flag(Node::has_autograd_backward, Node::autograd_backward);
  } else {
    std::string members{graph_.text(node.extra)};
    append_member(members, key, raw(value));
    node.extra = graph_.intern(members);
  }
}

// --- Arguments ---

Argument NodeReader::read_argument(json::value value, int depth) {
  check_depth(depth);
  switch (value.type()) {
    case json::json_type::array:
      return read_children(Argument::Kind::list, value.get_array(), depth + 1);
    case json::json_type::object:
      return read_object_argument(value, depth + 1);
    case json::json_type::number:
      return read_number(raw(value));
    case json::json_type::string:
      return Argument::of_text(Argument::Kind::string, intern(value));
    case json::json_type::boolean:
      return Argument::of_bool(value.get_bool());
    case json::json_type::null:
      break;
  }
  if (!value.is_null()) give_up("invalid JSON: `{}`", first_characters(raw(value), 20));
  return {};
}

Argument NodeReader::read_number(std::string_view token) {
  if (token.find_first_of(".eE") == std::string_view::npos) {
    std::int64_t number = 0;
    const auto [end, status] = std::from_chars(token.data(), token.data() + token.size(), number);
    if (status == std::errc{} && end == token.data() + token.size())
      return Argument::of_int(number);
    // Python's integers are unbounded. A number beyond the signed 64-bit range, such as a mask of
    // 64 ones, is kept verbatim.
    if (status == std::errc::result_out_of_range && token.size() <= 40)
      return Argument::of_text(Argument::Kind::raw, graph_.intern(token));
    give_up("number `{}` is invalid or too large", first_characters(token, 40));
  }
  const auto number = number_of<double>(token);
  if (!number) give_up("number `{}` is invalid or too large", first_characters(token, 40));
  return Argument::of_real(*number);
}

// Reads an object with one member, whose key is the kind. An `opaque` object also has a `repr`.
Argument NodeReader::read_object_argument(json::value value, int depth) {
  using Kind = Argument::Kind;
  std::optional<Argument> result;
  StringId opaque_type, opaque_repr;
  std::string unknown;
  for (json::field field : value.get_object()) {
    const std::string_view key = field.unescaped_key();
    json::value member = field.value();
    if (key == "n") {
      result = Argument::of_node(resolve(get_text(member)));
    } else if (key == "tuple") {
      result = read_children(Kind::tuple, member.get_array(), depth);
    } else if (key == "dict") {
      result = read_dict(member.get_object(), depth);
    } else if (key == "slice" || key == "complex") {
      result =
          read_children(key == "slice" ? Kind::slice : Kind::complex, member.get_array(), depth);
      if (const std::uint32_t wanted = key == "slice" ? 3U : 2U; result->count != wanted)
        give_up("`{}` has {} instead of {}", key, counted(result->count, "element"), wanted);
    } else if (key == "f") {
      const std::string_view text = get_text(member);
      if (text != "inf" && text != "-inf" && text != "nan") give_up("`{}` is not a float", text);
      result = Argument::of_real(text == "inf"    ? std::numeric_limits<double>::infinity()
                                 : text == "-inf" ? -std::numeric_limits<double>::infinity()
                                                  : std::numeric_limits<double>::quiet_NaN());
    } else if (key == "symint") {
      const std::string_view text = get_text(member);
      if (is_float(text)) {
        append_member(unknown, "symfloat", raw(member));
        continue;
      }
      const auto expression = graph_.intern_expression(part_, text, {});
      if (!expression) give_up("{}", expression.error().message);
      result = Argument::of_symbol(*expression);
    } else if (key == "opaque") {
      opaque_type = intern(member);
    } else if (key == "repr") {
      opaque_repr = intern(member);
    } else if (const auto kind = value_in(kTextArguments, key)) {
      result = Argument::of_text(*kind, intern(member));
    } else {
      append_member(unknown, key, raw(member));
    }
  }
  if (!unknown.empty()) return Argument::of_text(Kind::raw, graph_.intern("{" + unknown + "}"));
  if (opaque_type) return Argument::of_opaque(opaque_type, opaque_repr);
  if (!result) give_up("an empty object is not an argument");
  return *result;
}

Argument NodeReader::read_children(Argument::Kind kind, json::array array, int depth) {
  check_depth(depth);
  const std::size_t base = arguments_.size();
  for (json::value element : array) {
    const Argument argument = read_argument(element, depth);
    arguments_.push_back(argument);
  }
  const Argument result = graph_.make_children(kind, std::span(arguments_).subspan(base));
  arguments_.resize(base);
  return result;
}

Argument NodeReader::read_dict(json::object object, int depth) {
  check_depth(depth);
  const std::size_t base = arguments_.size();
  for (json::field field : object) {
    const StringId key = graph_.intern(std::string_view(field.unescaped_key()));
    const Argument argument = read_argument(field.value(), depth + 1);
    arguments_.push_back(Argument::of_text(Argument::Kind::string, key));
    arguments_.push_back(argument);
  }
  const Argument result =
      graph_.make_children(Argument::Kind::dict, std::span(arguments_).subspan(base));
  arguments_.resize(base);
  return result;
}

NodeId NodeReader::resolve(std::string_view name) {
  const NodeId id = graph_.find(part_, name);
  if (!id && missing_.empty()) {
    missing_ = name;
    missing_reader_ = name_;
  }
  return id;
}

void NodeReader::check_references() const {
  if (missing_.empty()) return;
  if (missing_ == missing_reader_) give_up("node {} reads itself: the graph is cyclic", missing_);
  if (graph_.find(part_, missing_))
    give_up("node {} reads {}, which comes later; the graph is cyclic or out of order",
            missing_reader_, missing_);
  give_up("node {} reads {}, but there is no such node", missing_reader_, missing_);
}

// --- Values ---

Value NodeReader::read_value(json::value value, int depth) {
  check_depth(depth);
  if (value.type() == json::json_type::null) {
    if (!value.is_null()) give_up("invalid JSON in `val`");
    return {};
  }
  std::optional<Value> result;
  StringId opaque_type, opaque_repr, symbol;
  std::string_view symbol_json, hint;
  std::string unknown;
  for (json::field field : value.get_object()) {
    const std::string_view key = field.unescaped_key();
    json::value member = field.value();
    if (key == "t") {
      result = read_tensor(member.get_object());
    } else if (key == "list") {
      result = read_list(member.get_array(), depth + 1);
    } else if (key == "dict") {
      result = read_value_dict(member.get_object(), depth + 1);
    } else if (key == "symint") {
      symbol = intern(member);
      symbol_json = raw(member);
    } else if (key == "hint") {
      hint = raw(member);
    } else if (key == "c") {
      result = Value::of_text(Value::Kind::constant, intern_raw(member));
    } else if (key == "opaque") {
      opaque_type = intern(member);
    } else if (key == "repr") {
      opaque_repr = intern(member);
    } else {
      append_member(unknown, key, raw(member));
    }
  }
  if (symbol && (is_real(hint) || is_float(graph_.text(symbol)))) {
    unknown.clear();
    append_member(unknown, "symfloat", symbol_json);
  }
  if (!unknown.empty()) {
    if (!hint.empty()) unknown += fmt::format(",\"hint\":{}", hint);
    return Value::of_text(Value::Kind::raw, graph_.intern("{" + unknown + "}"));
  }
  if (symbol) {
    if (!hint.empty() && hint != "null") to_int(hint);
    const auto expression = graph_.intern_expression(part_, graph_.text(symbol), hint);
    if (!expression) give_up("{}", expression.error().message);
    return Value::of_symbol(*expression);
  }
  if (opaque_type) return Value::of_opaque(opaque_type, opaque_repr);
  if (!result) give_up("an empty object is not a value");
  return *result;
}

Value NodeReader::read_list(json::array array, int depth) {
  const std::size_t base = values_.size();
  for (json::value element : array) {
    const Value child = read_value(element, depth);
    values_.push_back(child);
  }
  const Value result = graph_.make_children(Value::Kind::list, std::span(values_).subspan(base));
  values_.resize(base);
  return result;
}

Value NodeReader::read_value_dict(json::object object, int depth) {
  const std::size_t base = values_.size();
  for (json::field field : object) {
    const StringId key = graph_.intern(std::string_view(field.unescaped_key()));
    const Value child = read_value(field.value(), depth);
    values_.push_back(Value::of_text(Value::Kind::key, key));
    values_.push_back(child);
  }
  const Value result = graph_.make_children(Value::Kind::dict, std::span(values_).subspan(base));
  values_.resize(base);
  return result;
}

Value NodeReader::read_tensor(json::object object) {
  Tensor tensor;
  shape_.clear();
  stride_.clear();
  Dim offset;
  bool has_shape = false, has_dtype = false;
  std::string extra;
  for (json::field field : object) {
    const std::string_view key = field.unescaped_key();
    json::value value = field.value();
    const auto set_flag = [&](Tensor::Flag has, Tensor::Flag flag) {
      tensor.set(has);
      tensor.set(flag, value.get_bool().value());
    };
    if (key == "shape") {
      read_dims(value.get_array(), shape_);
      has_shape = true;
    } else if (key == "dtype") {
      const std::string_view text = get_text(value);
      const auto dtype = parse_dtype(text);
      if (!dtype) give_up("unknown dtype `{}`", text);
      tensor.dtype = *dtype;
      has_dtype = true;
    } else if (key == "device") {
      tensor.device = graph_.intern_device(get_text(value));
    } else if (key == "stride") {
      read_dims(value.get_array(), stride_);
      tensor.set(Tensor::has_stride);
    } else if (key == "offset") {
      offset = read_dim(value);
      tensor.set(Tensor::has_offset);
    } else if (key == "storage") {
      tensor.storage = table_entry<StorageId>(value, tables_.storages, "storages");
      tensor.set(Tensor::has_storage);
    } else if (key == "requires_grad") {
      set_flag(Tensor::has_requires_grad, Tensor::requires_grad);
    } else if (key == "conj") {
      set_flag(Tensor::has_conj, Tensor::conj);
    } else if (key == "neg") {
      set_flag(Tensor::has_neg, Tensor::neg);
    } else {
      append_member(extra, key, raw(value));
    }
  }
  if (!has_shape) give_up("a tensor has no shape");
  if (!has_dtype) give_up("a tensor has no dtype");
  if (tensor.has(Tensor::has_stride) && stride_.size() != shape_.size())
    give_up("a tensor with {} has {}", counted(shape_.size(), "dimension"),
            counted(stride_.size(), "stride"));
  if (!extra.empty()) tensor.extra = graph_.intern(extra);
  return Value::of_tensor(graph_.add_tensor(tensor, shape_, stride_, offset));
}

Dim NodeReader::read_dim(json::value value) {
  if (value.type() != json::json_type::object) return {.value = get_int(value)};
  StringId symbol;
  std::string hint;
  for (json::field field : value.get_object()) {
    const std::string_view key = field.unescaped_key();
    json::value member = field.value();
    if (key == "sym")
      symbol = intern(member);
    else if (key == "hint")
      hint = get_hint(member);
    else
      give_up("a symbolic size has the unknown member `{}`", key);
  }
  if (!symbol) give_up("a symbolic size has no `sym`");
  const auto expression = graph_.intern_expression(part_, graph_.text(symbol), hint);
  if (!expression) give_up("{}", expression.error().message);
  return {.value = 0, .expression = *expression};
}

void NodeReader::read_dims(json::array array, std::vector<Dim>& dims) {
  for (json::value element : array) dims.push_back(read_dim(element));
  if (dims.size() > kMaxRank)
    give_up("a tensor has {} dimensions, but at most {} are supported", dims.size(), kMaxRank);
}

StringId NodeReader::intern_raw(json::value value) {
  const StringId id = graph_.intern(raw(value));
  if (checked_.insert(id).second) check_json(graph_.text(id));
  return id;
}

template <class Id>
Id NodeReader::table_entry(json::value value, Tables::Range range, const char* table) {
  const std::int64_t index = get_int(value);
  if (index < 0 || static_cast<std::size_t>(index) >= range.count)
    give_up("{}[{}] is out of range: the table has size {}", table, index, range.count);
  return Id(range.first + static_cast<std::size_t>(index));
}

}  // namespace jointer::native
