#include "core/base/json_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/utf8.h"

namespace jointer {
namespace {

constexpr const char* kWhole = "an integer";
constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <class Number>
const char* read_whole(const OrderedJson& json, Number& value) {
  if (json.is_number_unsigned()) {
    const auto wide = json.get<std::uint64_t>();
    if (!std::in_range<Number>(wide)) return "a smaller integer";
    value = static_cast<Number>(wide);
    return nullptr;
  }
  if (!json.is_number_integer()) return kWhole;
  const auto wide = json.get<std::int64_t>();
  if (!std::in_range<Number>(wide))
    return std::is_signed_v<Number> ? "a larger integer" : "an integer of at least 0";
  value = static_cast<Number>(wide);
  return nullptr;
}

template <class Value>
const char* read_all(const OrderedJson& json, std::vector<Value>& values, const char* expected) {
  if (!json.is_array()) return expected;
  std::vector<Value> read(json.size());
  for (std::size_t i = 0; i < read.size(); ++i)
    if (read_json(json[i], read[i]) != nullptr) return expected;
  values = std::move(read);
  return nullptr;
}

}  // namespace

void add_member(OrderedJson& object, std::string_view key, OrderedJson value) {
  if (object.is_null()) object = OrderedJson::object();
  object.get_ref<OrderedJson::object_t&>().emplace_back(std::string(key), std::move(value));
}

JsonMembers::JsonMembers(const OrderedJson& json, std::string place) : place_(std::move(place)) {
  if (const auto* object = json.get_ptr<const OrderedJson::object_t*>())
    members_ = *object;
  else
    refuse(place_.empty() ? "expected an object" : place_ + ": expected an object");
  known_.resize(members_.size());
}

bool JsonMembers::has(std::string_view key) const {
  return std::ranges::any_of(members_, [&](const auto& member) { return member.first == key; });
}

const OrderedJson* JsonMembers::find(std::string_view key) {
  for (std::size_t i = 0; i < members_.size(); ++i)
    if (members_[i].first == key) {
      known_[i] = true;
      return &members_[i].second;
    }
  return nullptr;
}

const OrderedJson* JsonMembers::find_set(std::string_view key) {
  const OrderedJson* json = find(key);
  return json == nullptr || json->is_null() ? nullptr : json;
}

void JsonMembers::expect(std::string_view key, std::string_view expected) {
  refuse(expected.empty()
             ? fmt::format("{}`{}` is missing", place_.empty() ? "" : place_ + ": ", key)
             : fmt::format("{}: expected {}", place_of(key), expected));
}

void JsonMembers::expect_one_of(std::string_view key, std::span<const std::string_view> names) {
  expect(key, fmt::format("one of {}", fmt::join(names, ", ")));
}

void JsonMembers::refuse(std::string problem) {
  if (problem_.empty()) problem_ = std::move(problem);
}

std::string JsonMembers::place_of(std::string_view key) const {
  return fmt::format("{}{}`{}`", place_, place_.empty() ? "" : ": ", key);
}

std::string JsonMembers::rest() const {
  std::string rest;
  for (std::size_t i = 0; i < known_.size(); ++i)
    if (!known_[i]) keep_member(rest, members_[i].first, members_[i].second);
  return rest;
}

void JsonMembers::read(std::string_view key, std::map<std::string, std::string>& value) {
  const OrderedJson* json = find_set(key);
  if (json == nullptr) return;
  const auto* object = json->get_ptr<const OrderedJson::object_t*>();
  if (object == nullptr) return expect(key, "an object");
  for (const auto& [name, text] : *object)
    if (const char* expected = read_json(text, value[name]))
      refuse(fmt::format("{}, {}: expected {}", place_of(key), name, expected));
}

const char* read_raw(const OrderedJson& json, JsonForm form, std::string& text) {
  if (form == JsonForm::list && !json.is_array()) return "a list";
  if (form == JsonForm::object && !json.is_object()) return "an object";
  if (form == JsonForm::object_or_null && !json.is_object() && !json.is_null())
    return "an object or null";
  text = write_json(json);
  return nullptr;
}

const char* read_json(const OrderedJson& json, bool& value) {
  if (!json.is_boolean()) return "true or false";
  value = json.get<bool>();
  return nullptr;
}

const char* read_json(const OrderedJson& json, int& value) {
  return read_whole(json, value);
}

const char* read_json(const OrderedJson& json, std::uint32_t& value) {
  return read_whole(json, value);
}

const char* read_json(const OrderedJson& json, std::int64_t& value) {
  return read_whole(json, value);
}

const char* read_json(const OrderedJson& json, std::size_t& value) {
  return read_whole(json, value);
}

const char* read_json(const OrderedJson& json, double& value) {
  if (json.is_number()) {
    value = json.get<double>();
    return nullptr;
  }
  if (json == "nan")
    value = std::numeric_limits<double>::quiet_NaN();
  else if (json == "inf")
    value = kInfinity;
  else if (json == "-inf")
    value = -kInfinity;
  else
    return "a number";
  return nullptr;
}

const char* read_json(const OrderedJson& json, std::string& value) {
  const auto* text = json.get_ptr<const std::string*>();
  if (text == nullptr) return "a string";
  value = *text;
  return nullptr;
}

const char* read_json(const OrderedJson& json, JsonTexts& value) {
  const auto* object = json.get_ptr<const OrderedJson::object_t*>();
  if (object == nullptr) return "an object with strings";
  const char* problem = nullptr;
  for (const auto& [name, each] : *object) {
    std::string text;
    if (read_json(each, text) == nullptr)
      value.emplace_back(name, std::move(text));
    else
      problem = "an object with strings";
  }
  return problem;
}

const char* read_json(const OrderedJson& json, std::vector<std::int64_t>& value) {
  return read_all(json, value, "a list of integers");
}

const char* read_json(const OrderedJson& json, std::vector<std::string>& value) {
  return read_all(json, value, "a list of strings");
}

OrderedJson json_of(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

OrderedJson json_of(const std::string& value) {
  return valid_utf8(value);
}

OrderedJson json_of(const std::vector<std::int64_t>& value) {
  return OrderedJson::array_t(value.begin(), value.end());
}

OrderedJson json_of(const std::vector<std::string>& value) {
  OrderedJson::array_t list;
  list.reserve(value.size());
  for (const std::string& text : value) list.push_back(json_of(text));
  return list;
}

OrderedJson json_of(const JsonTexts& value) {
  OrderedJson json = OrderedJson::object();
  for (const auto& [name, text] : value) add_member(json, name, json_of(text));
  return json;
}

OrderedJson json_of(const std::map<std::string, std::string>& value) {
  OrderedJson json = OrderedJson::object();
  for (const auto& [name, text] : value) add_member(json, name, json_of(text));
  return json;
}

}  // namespace jointer
