#pragma once

// The JSON of records (docs/recipe.md, docs/capture_format.md). Errors (input): the JSON is not a
// valid record; the message says what is wrong.

#include "core/base/json_fields.h"
#include "core/base/result.h"
#include "core/edit/node_record.h"

namespace jointer {

// The JSON of positional arguments (a list) and of keyword arguments (an object).
OrderedJson args_json(const ArgumentRecords& args);
Result<ArgumentRecords> read_args(const OrderedJson& json);
OrderedJson kwargs_json(const ArgumentRecords& kwargs);
Result<ArgumentRecords> read_kwargs(const OrderedJson& json);

OrderedJson value_json(const ValueRecord& value);
Result<ValueRecord> read_value(const OrderedJson& json);

OrderedJson node_json(const NodeRecord& node);
// `place`: prefix of messages.
Result<NodeRecord> read_node(const OrderedJson& json, const std::string& place);

// --- Fields of tables (core/base/json_fields.h) ---

// An optional field with its own JSON form. `read` also receives `null`, and its error says what is
// wrong.
template <class Struct, class Value>
struct JsonOwnForm {
  std::string_view key;
  Value Struct::*member;
  Result<Value> (*read_form)(const OrderedJson&);
  OrderedJson (*write_form)(const typename Value::value_type&);

  void read(JsonMembers& members, Struct& object) const {
    const OrderedJson* json = members.find(key);
    if (json == nullptr) return;
    if (auto value = read_form(*json))
      object.*member = *std::move(value);
    else
      members.refuse(members.place_of(key) + ": " + value.error().message);
  }
  void write(OrderedJson& json, const Struct& object) const {
    if (object.*member) add_member(json, key, write_form(*(object.*member)));
  }
};
template <class Struct, class Value>
constexpr JsonOwnForm<Struct, Value> json_own_form(
    std::string_view key, Value Struct::*member,
    std::type_identity_t<Result<Value> (*)(const OrderedJson&)> read,
    std::type_identity_t<OrderedJson (*)(const typename Value::value_type&)> write) {
  return {key, member, read, write};
}

// Adapts one of the functions above to an optional field.
template <auto read, class T = typename decltype(read(OrderedJson()))::value_type>
Result<std::optional<T>> optionally(const OrderedJson& json) {
  return read(json);
}

}  // namespace jointer
