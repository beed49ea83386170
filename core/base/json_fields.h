#pragma once

// Reads and writes structs as JSON, driven by one table of fields per struct:
//
//   constexpr auto json_fields(const RankStarted*) {
//     return std::tuple(json_field("rank", &RankStarted::rank),
//                       json_field("device", &RankStarted::device).if_set());
//   }
//
// Define the function in the struct's namespace, not in an unnamed namespace. A field whose type
// has such a table is read and written as an object. Members are written in the table's order.
// core/base/json_text.h says which documents are read this way.

#include <array>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/base/json_text.h"

namespace jointer {

template <class T>
concept HasJsonFields = requires {
  json_fields(static_cast<const T*>(nullptr));
};

// The members of an object whose values are all strings: keys and values, in file order.
using JsonTexts = std::vector<std::pair<std::string, std::string>>;

// Adds a member. `object` must not have a member with this key; if it is null, it becomes an
// object.
void add_member(OrderedJson& object, std::string_view key, OrderedJson value);

// Reads the members of one object. Only the first problem is recorded. Reading then continues, and
// the fields with problems may be incomplete.
class JsonMembers {
 public:
  // `place` is the prefix of messages ("edit 3, change 0"); empty for a whole document. `json` must
  // outlive this object. If `json` is not an object, that is recorded as the problem, and there are
  // no members.
  explicit JsonMembers(const OrderedJson& json, std::string place = {});

  [[nodiscard]] bool has(std::string_view key) const;
  // Returns the member, or null if it is missing. `rest` omits the members that were found.
  const OrderedJson* find(std::string_view key);
  // Like `find`, but also returns null for a JSON null.
  const OrderedJson* find_set(std::string_view key);

  // If the member is missing or null, clears a list of objects, and leaves any other value
  // unchanged.
  template <class T>
  void read(std::string_view key, T& value);
  void read(std::string_view key, std::map<std::string, std::string>& value);
  // Calls `take(element, index)` for each element of a list. Does nothing if the member is missing
  // or null; if it is not a list, that is recorded as a problem.
  template <class Take>
  void read_list(std::string_view key, Take take);

  // Record a problem. `expect`: "PLACE: `KEY`: expected ...", or "... is missing" if `expected` is
  // empty. `expect_one_of`: the same with a list of names. `refuse`: any text. `check`: the problem
  // of a nested object, if it has one.
  void expect(std::string_view key, std::string_view expected);
  void expect_one_of(std::string_view key, std::span<const std::string_view> names);
  void refuse(std::string problem);
  void check(const JsonMembers& inner) { refuse(inner.problem_); }

  [[nodiscard]] const std::string& place() const { return place_; }
  [[nodiscard]] std::string place_of(std::string_view key) const;
  // Empty if there was no problem.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  // The members that `find` was not called for, as `"key":value,...`.
  [[nodiscard]] std::string rest() const;

 private:
  std::span<const OrderedJson::object_t::value_type> members_;
  std::vector<bool> known_;  // by member
  std::string place_, problem_;
};

// --- Values ---

// Returns null on success, otherwise a description of the expected type.
const char* read_json(const OrderedJson& json, bool& value);
const char* read_json(const OrderedJson& json, int& value);
const char* read_json(const OrderedJson& json, std::uint32_t& value);
const char* read_json(const OrderedJson& json, std::int64_t& value);
const char* read_json(const OrderedJson& json, std::size_t& value);
// Also accepts the strings "nan", "inf" and "-inf", since JSON has no such numbers.
const char* read_json(const OrderedJson& json, double& value);
const char* read_json(const OrderedJson& json, std::string& value);
const char* read_json(const OrderedJson& json, JsonTexts& value);
const char* read_json(const OrderedJson& json, std::vector<std::int64_t>& value);
const char* read_json(const OrderedJson& json, std::vector<std::string>& value);

template <class T>
requires(!HasJsonFields<T>) const
    char* read_json(const OrderedJson& json, std::optional<T>& value) {
  T given{};
  if (const char* expected = read_json(json, given)) return expected;
  value = std::move(given);
  return nullptr;
}

template <class T>
requires std::is_integral_v<T> OrderedJson json_of(T value) {
  return value;
}
OrderedJson json_of(double value);
OrderedJson json_of(const std::string& value);
OrderedJson json_of(const std::vector<std::int64_t>& value);
OrderedJson json_of(const std::vector<std::string>& value);
OrderedJson json_of(const std::map<std::string, std::string>& value);
// Returns an object whose members are the strings, in order.
OrderedJson json_of(const JsonTexts& value);

template <class T>
requires HasJsonFields<T> OrderedJson json_of(const T& object);
template <class T>
OrderedJson json_of(const std::optional<T>& value) {
  return value ? json_of(*value) : OrderedJson();
}
template <class T>
requires HasJsonFields<T> OrderedJson json_of(const std::vector<T>& objects) {
  OrderedJson::array_t list;
  list.reserve(objects.size());
  for (const T& object : objects) list.push_back(json_of(object));
  return list;
}

// --- Fields ---

// A type that read_json reads: neither a struct with a table of fields nor a list of such structs.
template <class Value>
concept IsPlainJson = requires(const OrderedJson& json, Value& value) {
  read_json(json, value);
};

// `if_set`: omitted if the value is unset, empty, zero or false. `required`: an error if it is
// missing or null. `lenient`: a value of the wrong type counts as missing; only for plain values.
template <class Struct, class Value>
struct JsonField {
  std::string_view key;
  Value Struct::*member;
  bool is_written_always = true, is_required = false, is_lenient = false;

  [[nodiscard]] constexpr JsonField if_set() const {
    JsonField field = *this;
    field.is_written_always = false;
    return field;
  }
  [[nodiscard]] constexpr JsonField required() const {
    JsonField field = *this;
    field.is_required = true;
    return field;
  }
  [[nodiscard]] constexpr JsonField lenient() const requires IsPlainJson<Value> {
    JsonField field = *this;
    field.is_lenient = true;
    return field;
  }

  void read(JsonMembers& members, Struct& object) const {
    if (is_required && members.find_set(key) == nullptr) {
      members.expect(key, {});
    } else if (!is_lenient) {
      members.read(key, object.*member);
    } else if constexpr (IsPlainJson<Value>) {
      if (const OrderedJson* json = members.find_set(key)) read_json(*json, object.*member);
    }
  }
  void write(OrderedJson& json, const Struct& object) const {
    if (is_written_always || is_set(object.*member)) add_member(json, key, json_of(object.*member));
  }

 private:
  static bool is_set(const Value& value) {
    if constexpr (requires { value.has_value(); })
      return value.has_value();
    else if constexpr (requires { value.empty(); })
      return !value.empty();
    else
      return value != Value();
  }
};
template <class Struct, class Value>
constexpr JsonField<Struct, Value> json_field(std::string_view key, Value Struct::*member) {
  return {.key = key, .member = member};
}

// A field that has a different form in JSON: `write_form` converts the value to that form, and
// `read_form` converts it back.
template <class Struct, class Value, class Form>
struct JsonConverted {
  std::string_view key;
  Value Struct::*member;
  Form (*write_form)(Value);
  Value (*read_form)(Form);

  void read(JsonMembers& members, Struct& object) const {
    std::optional<Form> form;
    members.read(key, form);
    if (form) object.*member = read_form(*form);
  }
  void write(OrderedJson& json, const Struct& object) const {
    add_member(json, key, json_of(write_form(object.*member)));
  }
};
template <class Struct, class Value, class Form>
constexpr JsonConverted<Struct, Value, Form> json_converted(std::string_view key,
                                                            Value Struct::*member,
                                                            Form (*write)(Value),
                                                            Value (*read)(Form)) {
  return {key, member, write, read};
}

// A field that holds JSON text: a value of any type, or of the given form.
enum class JsonForm : std::uint8_t { any, list, object, object_or_null };
const char* read_raw(const OrderedJson& json, JsonForm form, std::string& text);
template <class Struct, class Text>  // std::string or an optional one
struct JsonRaw {
  std::string_view key;
  Text Struct::*member;
  JsonForm form;

  void read(JsonMembers& members, Struct& object) const {
    const OrderedJson* json = members.find(key);
    if (json == nullptr) return;
    std::string text;
    if (const char* expected = read_raw(*json, form, text)) return members.expect(key, expected);
    object.*member = std::move(text);
  }
  void write(OrderedJson& json, const Struct& object) const {
    if constexpr (std::is_same_v<Text, std::string>)
      add_member(json, key, parse_tree(object.*member).value_or(nullptr));
    else if (object.*member)
      add_member(json, key, parse_tree(*(object.*member)).value_or(nullptr));
  }
};
template <class Struct, class Text>
constexpr JsonRaw<Struct, Text> json_raw(std::string_view key, Text Struct::*member,
                                         JsonForm form) {
  return {key, member, form};
}

// A field with one of several named values, such as an enumeration.
template <class Struct, class Value, std::size_t N>
struct JsonChoice {
  std::string_view key;
  Value Struct::*member;
  const std::array<Value, N>* known;
  std::string_view (*name)(Value);
  bool is_required = false, is_lenient = false;  // lenient: an unknown name counts as missing

  [[nodiscard]] constexpr JsonChoice required() const {
    JsonChoice choice = *this;
    choice.is_required = true;
    return choice;
  }
  [[nodiscard]] constexpr JsonChoice lenient() const {
    JsonChoice choice = *this;
    choice.is_lenient = true;
    return choice;
  }

  void read(JsonMembers& members, Struct& object) const {
    if (is_required && members.find_set(key) == nullptr) return members.expect(key, {});
    std::optional<std::string> text;
    members.read(key, text);
    if (!text) return;
    for (const Value each : *known)
      if (name(each) == *text) {
        object.*member = each;
        return;
      }
    if (is_lenient) return;
    std::array<std::string_view, N> names;
    for (std::size_t i = 0; i < N; ++i) names[i] = name((*known)[i]);
    members.expect_one_of(key, names);
  }
  void write(OrderedJson& json, const Struct& object) const {
    add_member(json, key, std::string(name(object.*member)));
  }
};
template <class Struct, class Value, std::size_t N>
constexpr JsonChoice<Struct, Value, N> json_choice(
    std::string_view key, Value Struct::*member, const std::array<Value, N>& known,
    std::type_identity_t<std::string_view (*)(Value)> name) {
  return {key, member, &known, name};
}

// Many rows, stored as an object of columns ({"position":[...],"own_ns":[...]}), which takes much
// less space than a list of objects. All columns have the same length. The field is omitted if
// there are no rows.
template <class Struct, class Row, class... Fields>
struct JsonColumns {
  std::string_view key;
  std::vector<Row> Struct::*member;
  std::tuple<std::pair<std::string_view, Fields Row::*>...> columns;

  void read(JsonMembers& members, Struct& object) const {
    const OrderedJson* json = members.find_set(key);
    if (json == nullptr) return;
    JsonMembers inner(*json, members.place_of(key));
    std::vector<Row>& rows = object.*member;
    bool is_first = true;
    const auto column = [&]<class Field>(const std::pair<std::string_view, Field Row::*>& named) {
      const auto& [name, field] = named;
      const OrderedJson* list = inner.find_set(name);
      const std::size_t size = list != nullptr ? list->size() : 0;
      if (std::exchange(is_first, false)) rows.resize(size);
      if ((list != nullptr && !list->is_array()) || size != rows.size())
        return inner.expect(name, "a list as long as the others");
      for (std::size_t i = 0; i < size; ++i)
        if (const char* expected = read_json((*list)[i], rows[i].*field))
          return inner.expect(name, expected);
    };
    std::apply([&](const auto&... each) { (column(each), ...); }, columns);
    members.check(inner);
  }
  void write(OrderedJson& json, const Struct& object) const {
    const std::vector<Row>& rows = object.*member;
    if (rows.empty()) return;
    OrderedJson written = OrderedJson::object();
    const auto column = [&](const auto& named) {
      OrderedJson::array_t list;
      list.reserve(rows.size());
      for (const Row& row : rows) list.emplace_back(row.*named.second);
      add_member(written, named.first, std::move(list));
    };
    std::apply([&](const auto&... each) { (column(each), ...); }, columns);
    add_member(json, key, std::move(written));
  }
};
template <class Struct, class Row, class... Fields>
constexpr JsonColumns<Struct, Row, Fields...> json_columns(
    std::string_view key, std::vector<Row> Struct::*member,
    std::pair<std::string_view, Fields Row::*>... columns) {
  return {key, member, {columns...}};
}
template <class Row, class Field>
constexpr std::pair<std::string_view, Field Row::*> json_column(std::string_view key,
                                                                Field Row::*member) {
  return {key, member};
}

// The members that no other field of the table reads, as `"key":value,...`. Must be the last field
// of the table.
template <class Struct>
struct JsonRest {
  std::string Struct::*member;

  void read(JsonMembers& members, Struct& object) const { object.*member = members.rest(); }
  void write(OrderedJson& json, const Struct& object) const { add_members(json, object.*member); }
};
template <class Struct>
constexpr JsonRest<Struct> json_rest(std::string Struct::*member) {
  return {member};
}

// --- Objects ---

template <class T, class... Fields>
void read_fields(JsonMembers& members, T& object, const std::tuple<Fields...>& fields) {
  std::apply([&](const auto&... field) { (field.read(members, object), ...); }, fields);
}
template <HasJsonFields T>
void read_fields(JsonMembers& members, T& object) {
  read_fields(members, object, json_fields(static_cast<const T*>(nullptr)));
}

// Adds the fields of the table to a JSON object.
template <class T, class... Fields>
void write_fields(OrderedJson& json, const T& object, const std::tuple<Fields...>& fields) {
  std::apply([&](const auto&... field) { (field.write(json, object), ...); }, fields);
}
template <HasJsonFields T>
void write_fields(OrderedJson& json, const T& object) {
  write_fields(json, object, json_fields(static_cast<const T*>(nullptr)));
}

template <class T>
requires HasJsonFields<T> OrderedJson json_of(const T& object) {
  OrderedJson json = OrderedJson::object();
  write_fields(json, object);
  return json;
}

// Error (input): a member is missing or invalid; the message is the first problem, prefixed with
// its location.
template <HasJsonFields T>
Result<T> from_json(const OrderedJson& json, std::string place = {}) {
  JsonMembers members(json, std::move(place));
  T object;
  read_fields(members, object);
  if (!members.problem().empty()) return input_error("{}", members.problem());
  return object;
}

template <class Take>
void JsonMembers::read_list(std::string_view key, Take take) {
  const OrderedJson* list = find_set(key);
  if (list == nullptr) return;
  if (!list->is_array()) return expect(key, "a list");
  for (std::size_t i = 0; i < list->size(); ++i) take((*list)[i], i);
}

namespace json_fields_detail {

template <class T>
inline constexpr bool is_list = false;
template <class T>
inline constexpr bool is_list<std::vector<T>> = HasJsonFields<T>;
template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

}  // namespace json_fields_detail

template <class T>
void JsonMembers::read(std::string_view key, T& value) {
  const auto take = [this](const OrderedJson& json, std::string place, auto& object) {
    JsonMembers inner(json, std::move(place));
    read_fields(inner, object);
    check(inner);
  };
  if constexpr (json_fields_detail::is_list<T>) {
    value.clear();
    read_list(key, [&](const OrderedJson& json, std::size_t i) {
      take(json, place_of(key) + ' ' + std::to_string(i), value.emplace_back());
    });
  } else if constexpr (json_fields_detail::is_optional<T>) {
    if (find_set(key) == nullptr) return;
    typename T::value_type given{};
    read(key, given);
    value = std::move(given);
  } else if (const OrderedJson* json = find_set(key)) {
    if constexpr (HasJsonFields<T>)
      take(*json, place_of(key), value);
    else if (const char* expected = read_json(*json, value))
      expect(key, expected);
  }
}

}  // namespace jointer
