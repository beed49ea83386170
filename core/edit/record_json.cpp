#include "core/edit/record_json.h"

#include <cmath>

#include "core/base/counted.h"
#include "core/base/name_table.h"
#include "core/graph/limits.h"

namespace jointer {
namespace {

using Json = OrderedJson;
using Members = Json::object_t;

// Returns an object with one member and room for `count`.
Json object(std::string_view key, Json value, std::size_t count = 2) {
  Members members;
  members.reserve(count);
  members.emplace_back(std::string(key), std::move(value));
  return members;
}

Result<void> check_depth(int depth) {
  if (depth > kMaxArgumentDepth)
    return input_error("nested more than {} levels deep", kMaxArgumentDepth);
  return {};
}

Result<const Members*> members_of(const Json& json) {
  const auto* members = json.get_ptr<const Members*>();
  if (members == nullptr) return input_error("expected an object");
  return members;
}

Result<const Json::array_t*> list_of(const Json& json, std::string_view key) {
  const auto* list = json.get_ptr<const Json::array_t*>();
  if (list == nullptr) return input_error("`{}`: expected a list", key);
  return list;
}

// Reads a value of a type that read_json supports.
template <class T>
Result<T> read_as(const Json& json, std::string_view key) {
  T value{};
  if (const char* expected = jointer::read_json(json, value))
    return input_error("`{}`: expected {}", key, expected);
  return value;
}

// --- Arguments ---

using Kind = Argument::Kind;

constexpr NameTable<Kind, 7> kTexts{{{"n", Kind::node},
                                     {"symint", Kind::symbol},
                                     {"dtype", Kind::dtype},
                                     {"device", Kind::device},
                                     {"layout", Kind::layout},
                                     {"memory_format", Kind::memory_format},
                                     {"op", Kind::op}}};
constexpr NameTable<Kind, 3> kLists{
    {{"tuple", Kind::tuple}, {"slice", Kind::slice}, {"complex", Kind::complex}}};

Json argument_json(const ArgumentRecord& argument) {
  switch (argument.kind) {
    case Kind::none:
      break;
    case Kind::boolean:
      return argument.integer != 0;
    case Kind::integer:
      return argument.integer;
    case Kind::real: {
      const double real = argument.real();
      if (std::isfinite(real)) return real;
      return object("f", json_of(real));
    }
    case Kind::string:
      return json_of(argument.text);
    case Kind::list:
      return args_json(argument.children);
    case Kind::tuple:
    case Kind::slice:
    case Kind::complex:
      return object(name_in(kLists, argument.kind), args_json(argument.children));
    case Kind::dict:
      return object("dict", kwargs_json(argument.children));
    case Kind::node:
    case Kind::symbol:
    case Kind::dtype:
    case Kind::device:
    case Kind::layout:
    case Kind::memory_format:
    case Kind::op:
      return object(name_in(kTexts, argument.kind), json_of(argument.text));
    case Kind::opaque: {
      Json json = object("opaque", json_of(argument.text));
      if (!argument.detail.empty()) add_member(json, "repr", json_of(argument.detail));
      return json;
    }
    case Kind::raw:
      return parse_tree(argument.text).value_or(nullptr);
  }
  return nullptr;
}

Result<ArgumentRecord> read_argument(const Json& json, int depth);

Result<ArgumentRecords> read_list(const Json& json, std::string_view key, int depth) {
  JOINTER_CHECK(check_depth(depth));
  JOINTER_TRY(const auto* list, list_of(json, key));
  ArgumentRecords records;
  records.reserve(list->size());
  for (const Json& each : *list) {
    JOINTER_TRY(records.emplace_back(), read_argument(each, depth));
  }
  return records;
}

Result<ArgumentRecords> read_dict(const Json& json, int depth) {
  JOINTER_CHECK(check_depth(depth));
  JOINTER_TRY(const auto* members, members_of(json));
  ArgumentRecords records;
  for (const auto& [key, each] : *members) {
    JOINTER_TRY(ArgumentRecord record, read_argument(each, depth + 1));
    records.push_back(ArgumentRecord::of_text(Kind::string, key));
    records.push_back(std::move(record));
  }
  return records;
}

Result<ArgumentRecord> read_float(const Json& json) {
  JOINTER_TRY(const std::string text, read_as<std::string>(json, "f"));
  double real = 0;
  if (text != "inf" && text != "-inf" && text != "nan")
    return input_error("`{}` is not a float", text);
  jointer::read_json(json, real);
  return ArgumentRecord::of_real(real);
}

// Reads an object with one member whose key is the kind. `opaque` has a second member, `repr`.
Result<ArgumentRecord> read_object(const Json& json, int depth) {
  std::optional<ArgumentRecord> result;
  std::optional<std::string> opaque, repr;
  for (const auto& [key, member] : *json.get_ptr<const Members*>()) {
    if (const auto text = value_in(kTexts, key)) {
      JOINTER_TRY(const std::string given, read_as<std::string>(member, key));
      result = ArgumentRecord::of_text(*text, given);
    } else if (const auto list = value_in(kLists, key)) {
      JOINTER_TRY(ArgumentRecords children, read_list(member, key, depth));
      if (const std::size_t wanted = key == "slice" ? 3 : 2;
          key != "tuple" && children.size() != wanted)
        return input_error("`{}` has {} instead of {}", key, counted(children.size(), "element"),
                           wanted);
      result = ArgumentRecord::of_children(*list, std::move(children));
    } else if (key == "dict") {
      JOINTER_TRY(ArgumentRecords children, read_dict(member, depth));
      result = ArgumentRecord::of_children(Kind::dict, std::move(children));
    } else if (key == "f") {
      JOINTER_TRY(result, read_float(member));
    } else if (key == "opaque" || key == "repr") {
      JOINTER_TRY((key == "repr" ? repr : opaque), read_as<std::string>(member, key));
    } else {
      return ArgumentRecord::of_text(Kind::raw, write_json(json));
    }
  }
  if (opaque)
    return ArgumentRecord{.kind = Kind::opaque, .text = *opaque, .detail = repr.value_or("")};
  if (!result) return input_error("an empty object is not an argument");
  return *std::move(result);
}

Result<ArgumentRecord> read_argument(const Json& json, int depth) {
  JOINTER_CHECK(check_depth(depth));
  switch (json.type()) {
    case Json::value_t::array: {
      JOINTER_TRY(ArgumentRecords children, read_list(json, {}, depth + 1));
      return ArgumentRecord::of_children(Kind::list, std::move(children));
    }
    case Json::value_t::object:
      return read_object(json, depth + 1);
    case Json::value_t::number_unsigned:
      // A Python integer, such as an all-ones mask, may not fit into int64_t. It is kept as text.
      if (!std::in_range<std::int64_t>(json.get<std::uint64_t>()))
        return ArgumentRecord::of_text(Kind::raw, write_json(json));
      [[fallthrough]];
    case Json::value_t::number_integer:
      return ArgumentRecord::of_int(json.get<std::int64_t>());
    case Json::value_t::number_float:
      return ArgumentRecord::of_real(json.get<double>());
    case Json::value_t::string:
      return ArgumentRecord::of_text(Kind::string, json.get_ref<const std::string&>());
    case Json::value_t::boolean:
      return ArgumentRecord::of_bool(json.get<bool>());
    default:
      return ArgumentRecord{};
  }
}

// --- Values ---

using ValueKind = Value::Kind;

Json size_json(const SizeRecord& size) {
  if (!size.symbol) return size.value;
  Json json = object("sym", json_of(size.symbol->expression));
  if (const std::string& hint = size.symbol->hint; !hint.empty())
    add_member(json, "hint", parse_tree(hint).value_or(nullptr));
  return json;
}

Result<SizeRecord> read_size(const Json& json) {
  SizeRecord size;
  if (!json.is_object()) {
    if (const char* expected = jointer::read_json(json, size.value))
      return input_error("expected {}", expected);
    return size;
  }
  SymbolRecord symbol;
  for (const auto& [name, member] : *json.get_ptr<const Members*>()) {
    if (name == "sym") {
      JOINTER_TRY(symbol.expression, read_as<std::string>(member, name));
    } else if (name == "hint") {
      symbol.hint = write_json(member);
    } else {
      return input_error("a symbolic size has the unknown member `{}`", name);
    }
  }
  if (symbol.expression.empty()) return input_error("a symbolic size has no `sym`");
  size.symbol = std::make_shared<const SymbolRecord>(std::move(symbol));
  return size;
}

Json sizes_json(const std::vector<SizeRecord>& sizes) {
  Json::array_t list;
  list.reserve(sizes.size());
  for (const SizeRecord& size : sizes) list.push_back(size_json(size));
  return list;
}

Result<std::vector<SizeRecord>> read_sizes(const Json& json) {
  if (!json.is_array()) return input_error("expected a list");
  if (json.size() > kMaxRank)
    return input_error("a tensor has {} dimensions, but at most {} are supported", json.size(),
                       kMaxRank);
  std::vector<SizeRecord> sizes;
  sizes.reserve(json.size());
  for (const Json& each : json) {
    JOINTER_TRY(sizes.emplace_back(), read_size(each));
  }
  return sizes;
}

}  // namespace

constexpr auto json_fields(const StorageRecord* /*of*/) {
  return std::tuple(json_field("of", &StorageRecord::of).if_set(),
                    json_field("tensor", &StorageRecord::tensor).if_set(),
                    json_own_form("bytes", &StorageRecord::bytes, optionally<read_size>, size_json),
                    json_rest(&StorageRecord::extra));
}

namespace {

Result<std::optional<StorageRecord>> read_storage(const Json& json) {
  auto storage = from_json<StorageRecord>(json);
  if (!storage || (storage->of.empty() && !storage->bytes))
    return input_error("expected {{\"of\": NODE}} or {{\"bytes\": N}}");
  return *std::move(storage);
}

// The members of a tensor besides its shape and dtype.
constexpr auto kTensorFields =
    std::tuple(json_field("device", &TensorRecord::device).if_set(),
               json_own_form("stride", &TensorRecord::stride, optionally<read_sizes>, sizes_json),
               json_own_form("offset", &TensorRecord::offset, optionally<read_size>, size_json),
               json_own_form("storage", &TensorRecord::storage, read_storage,
                             [](const StorageRecord& storage) { return json_of(storage); }),
               json_field("requires_grad", &TensorRecord::requires_grad).if_set(),
               json_field("conj", &TensorRecord::conj).if_set(),
               json_field("neg", &TensorRecord::neg).if_set(), json_rest(&TensorRecord::extra));

Json tensor_json(const TensorRecord& tensor) {
  Json json = object("shape", sizes_json(tensor.shape), 8);
  add_member(json, "dtype", std::string(to_string(tensor.dtype)));
  write_fields(json, tensor, kTensorFields);
  return json;
}

Result<TensorRecord> read_tensor(const Json& json) {
  JsonMembers members(json);
  const Json *shape = members.find("shape"), *dtype = members.find("dtype");
  TensorRecord tensor;
  read_fields(members, tensor, kTensorFields);
  if (!members.problem().empty()) return input_error("{}", members.problem());
  if (shape == nullptr) return input_error("a tensor has no shape");
  if (dtype == nullptr) return input_error("a tensor has no dtype");
  JOINTER_TRY(tensor.shape, read_sizes(*shape));
  JOINTER_TRY(const std::string text, read_as<std::string>(*dtype, "dtype"));
  const auto known = parse_dtype(text);
  if (!known) return input_error("unknown dtype `{}`", text);
  tensor.dtype = *known;
  if (tensor.stride && tensor.stride->size() != tensor.shape.size())
    return input_error("a tensor with {} has {}", counted(tensor.shape.size(), "dimension"),
                       counted(tensor.stride->size(), "stride"));
  return tensor;
}

Result<ValueRecord> read_value_at(const Json& json, int depth);

Result<std::vector<ValueRecord>> read_value_list(const Json& json, int depth) {
  JOINTER_TRY(const auto* list, list_of(json, "list"));
  std::vector<ValueRecord> records;
  records.reserve(list->size());
  for (const Json& each : *list) {
    JOINTER_TRY(records.emplace_back(), read_value_at(each, depth));
  }
  return records;
}

Result<std::vector<ValueRecord>> read_value_dict(const Json& json, int depth) {
  JOINTER_TRY(const Members* members, members_of(json));
  std::vector<ValueRecord> records;
  for (const auto& [key, each] : *members) {
    JOINTER_TRY(ValueRecord record, read_value_at(each, depth));
    records.push_back({.kind = ValueKind::key, .text = key});
    records.push_back(std::move(record));
  }
  return records;
}

Result<ValueRecord> read_value_at(const Json& json, int depth) {
  JOINTER_CHECK(check_depth(depth));
  if (json.is_null()) return ValueRecord{};
  JOINTER_TRY(const Members* members, members_of(json));
  std::optional<ValueRecord> result;
  std::string detail;
  for (const auto& [key, member] : *members) {
    if (key == "t") {
      JOINTER_TRY(TensorRecord tensor, read_tensor(member));
      result = ValueRecord::of_tensor(std::move(tensor));
    } else if (key == "list" || key == "dict") {
      JOINTER_TRY(auto children, key == "list" ? read_value_list(member, depth + 1)
                                               : read_value_dict(member, depth + 1));
      result = ValueRecord{.kind = key == "list" ? ValueKind::list : ValueKind::dict,
                           .children = std::move(children)};
    } else if (key == "symint" || key == "opaque") {
      JOINTER_TRY(std::string text, read_as<std::string>(member, key));
      result = ValueRecord{.kind = key == "symint" ? ValueKind::symbol : ValueKind::opaque,
                           .text = std::move(text)};
    } else if (key == "c") {
      result = ValueRecord{.kind = ValueKind::constant, .text = write_json(member)};
    } else if (key == "hint") {
      detail = write_json(member);
    } else if (key == "repr") {
      JOINTER_TRY(detail, read_as<std::string>(member, key));
    } else {
      return ValueRecord{.kind = ValueKind::raw, .text = write_json(json)};
    }
  }
  if (!result) return input_error("an empty object is not a value");
  if (result->kind == ValueKind::symbol || result->kind == ValueKind::opaque)
    result->detail = std::move(detail);
  return *std::move(result);
}

// --- Nodes ---

Result<std::optional<NodeKind>> read_op(const Json& json) {
  std::string name;
  if (const char* expected = jointer::read_json(json, name))
    return input_error("expected {}", expected);
  if (const auto op = value_in(kNodeOps, name)) return op;
  return input_error("unknown op `{}`; expected placeholder, call_function, get_attr or output",
                     name);
}
Json op_json(const NodeKind& op) {
  return name_in(kNodeOps, op);
}

Result<std::optional<std::string>> read_copy(const Json& json) {
  if (!json.is_string()) return input_error("expected the name of a node");
  return json.get<std::string>();
}

Result<std::optional<InputNames>> read_inputs(const Json& json) {
  InputNames inputs;
  if (jointer::read_json(json, inputs) != nullptr)
    return input_error("expected an object with a node name for each input");
  return inputs;
}

using NodeModule = decltype(NodeMarks::module);
Result<NodeModule> read_module(const Json& json) {
  constexpr const char* kExpected = "expected a list of [path, class]";
  if (!json.is_array()) return input_error("{}", kExpected);
  NodeModule module(std::in_place);
  for (const Json& each : json) {
    std::vector<std::string> texts;
    if (jointer::read_json(each, texts) != nullptr || texts.size() != 2)
      return input_error("{}", kExpected);
    module->emplace_back(texts[0], texts[1]);
  }
  return module;
}
Json module_json(const NodeModule::value_type& module) {
  Json::array_t list;
  for (const auto& [path, type] : module)
    list.push_back(Json::array_t{json_of(path), json_of(type)});
  return list;
}

// Treats a number of more than 63 bits as absent: autograd uses 2^64 - 1 for a call without a
// sequence number.
Result<std::optional<std::int64_t>> read_count(const Json& json) {
  if (json.is_number_unsigned() && !std::in_range<std::int64_t>(json.get<std::uint64_t>()))
    return std::nullopt;
  std::int64_t number = 0;
  if (const char* expected = jointer::read_json(json, number))
    return input_error("expected {}", expected);
  return number;
}

Result<std::optional<MemoryPolicy>> read_tag(const Json& json) {
  std::string name;
  if (const char* expected = jointer::read_json(json, name))
    return input_error("expected {}", expected);
  const auto policy = parse_memory_policy(name);
  if (!policy)
    return input_error("unknown policy tag `{}`; expected one of {}", name, memory_policy_names());
  return policy;
}

}  // namespace

constexpr auto json_fields(const NodeRecord* /*of*/) {
  return std::tuple(
      json_field("name", &NodeRecord::name), json_own_form("op", &NodeRecord::op, read_op, op_json),
      json_own_form("copy", &NodeRecord::copy, read_copy,
                    [](const std::string& copy) { return json_of(copy); }),
      json_own_form("inputs", &NodeRecord::inputs, read_inputs,
                    [](const InputNames& inputs) { return json_of(inputs); }),
      json_field("target", &NodeRecord::target).if_set(),
      json_own_form("args", &NodeRecord::args, optionally<read_args>, args_json),
      json_own_form("kwargs", &NodeRecord::kwargs, optionally<read_kwargs>, kwargs_json),
      json_own_form("val", &NodeRecord::val, optionally<read_value>, value_json),
      json_field("like", &NodeRecord::like).if_set());
}

constexpr auto json_fields(const NodeMarks* /*of*/) {
  return std::tuple(
      json_raw("schema_alias", &NodeMarks::schema_alias, JsonForm::any),
      json_field("stack", &NodeMarks::stack).if_set(),
      json_own_form("module", &NodeMarks::module, read_module, module_json),
      json_field("module_from_fwd", &NodeMarks::module_from_fwd).if_set(),
      json_own_form("seq_nr", &NodeMarks::seq_nr, read_count,
                    [](const std::int64_t& n) { return Json(n); }),
      json_field("partitioner_tag", &NodeMarks::partitioner_tag).if_set(),
      json_field("autograd_backward", &NodeMarks::autograd_backward).if_set(),
      json_field("is_gradient_acc", &NodeMarks::is_gradient_acc).if_set(),
      json_field("ac_graph_id", &NodeMarks::ac_graph_id).if_set(),
      json_field("original_aten", &NodeMarks::original_aten).if_set(),
      json_own_form("recompute", &NodeMarks::recompute, read_tag,
                    [](const MemoryPolicy& policy) { return Json(to_string(policy)); }),
      json_raw("custom", &NodeMarks::custom, JsonForm::any),
      json_raw("desc", &NodeMarks::desc, JsonForm::any), json_rest(&NodeMarks::extra));
}

OrderedJson args_json(const ArgumentRecords& args) {
  Json::array_t list;
  list.reserve(args.size());
  for (const ArgumentRecord& argument : args) list.push_back(argument_json(argument));
  return list;
}

Result<ArgumentRecords> read_args(const OrderedJson& json) {
  if (!json.is_array()) return input_error("expected a list");
  return read_list(json, {}, 0);
}

OrderedJson kwargs_json(const ArgumentRecords& kwargs) {
  Json json = Json::object();
  for (std::size_t i = 0; i + 1 < kwargs.size(); i += 2)
    add_member(json, kwargs[i].text, argument_json(kwargs[i + 1]));
  return json;
}

Result<ArgumentRecords> read_kwargs(const OrderedJson& json) {
  return read_dict(json, 0);
}

OrderedJson value_json(const ValueRecord& value) {
  switch (value.kind) {
    case ValueKind::none:
    case ValueKind::key:
      break;
    case ValueKind::tensor:
      return object("t", tensor_json(*value.tensor));
    case ValueKind::list: {
      Json::array_t list;
      for (const ValueRecord& child : value.children) list.push_back(value_json(child));
      return object("list", std::move(list));
    }
    case ValueKind::dict: {
      Json members = Json::object();
      for (std::size_t i = 0; i + 1 < value.children.size(); i += 2)
        add_member(members, value.children[i].text, value_json(value.children[i + 1]));
      return object("dict", std::move(members));
    }
    case ValueKind::symbol:
    case ValueKind::opaque: {
      const bool is_symbol = value.kind == ValueKind::symbol;
      Json json = object(is_symbol ? "symint" : "opaque", json_of(value.text));
      if (!value.detail.empty())
        add_member(json, is_symbol ? "hint" : "repr",
                   is_symbol ? parse_tree(value.detail).value_or(nullptr) : json_of(value.detail));
      return json;
    }
    case ValueKind::constant:
      return object("c", parse_tree(value.text).value_or(nullptr));
    case ValueKind::raw:
      return parse_tree(value.text).value_or(nullptr);
  }
  return nullptr;
}

Result<ValueRecord> read_value(const OrderedJson& json) {
  return read_value_at(json, 0);
}

OrderedJson node_json(const NodeRecord& node) {
  Members members;
  members.reserve(8);
  Json json(std::move(members));
  write_fields(json, node);
  write_fields(json, *node.marks);
  return json;
}

Result<NodeRecord> read_node(const OrderedJson& json, const std::string& place) {
  JsonMembers members(json, place);
  NodeRecord node;
  NodeMarks marks;
  read_fields(members, node);
  read_fields(members, marks);
  if (!members.problem().empty()) return input_error("{}", members.problem());
  node.marks = std::move(marks);
  return node;
}

}  // namespace jointer
