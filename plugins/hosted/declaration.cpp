#include "plugins/hosted/declaration.h"

#include <array>
#include <cmath>
#include <limits>

#include "core/base/json_fields.h"

namespace jointer {

OrderedJson json_of(const PassValue& value);
const char* read_json(const OrderedJson& json, PassValue& value);

namespace {

constexpr std::array kTypes{Parameter::Type::boolean, Parameter::Type::integer,
                            Parameter::Type::number,  Parameter::Type::bytes,
                            Parameter::Type::text,    Parameter::Type::list};
// The maximum depth of nested lists. No pass needs more.
constexpr int kDeepest = 16;

constexpr auto kParameter = std::tuple(
    json_field("name", &Parameter::name).required(),
    json_choice("type", &Parameter::type, kTypes, &to_string),
    json_field("default", &Parameter::default_value), json_field("doc", &Parameter::doc),
    json_field("least", &Parameter::min).if_set(), json_field("most", &Parameter::max).if_set(),
    json_field("choices", &Parameter::choices).if_set(),
    json_field("may_be_none", &Parameter::may_be_none).if_set(),
    json_field("is_of_texts", &Parameter::is_of_texts).if_set());
constexpr auto kInfo = std::tuple(json_field("name", &PassInfo::name).required(),
                                  json_field("summary", &PassInfo::summary),
                                  json_choice("stage", &PassInfo::stage, kPassStages, &to_string),
                                  json_field("keeps_numerics", &PassInfo::keeps_numerics),
                                  json_field("is_idempotent", &PassInfo::is_idempotent),
                                  json_field("saves_memory", &PassInfo::saves_memory).if_set());

std::string name_in(const OrderedJson& json) {
  std::string name;
  JsonMembers(json).read("name", name);
  return name;
}

// Reads an object with a required name.
template <class Named, class Fields>
void read_named(JsonMembers& members, Named& named, const Fields& fields) {
  read_fields(members, named, fields);
  if (named.name.empty()) members.expect("name", "a name");
}

Result<PassValue> read_value(const OrderedJson& json, int depth) {
  if (json.is_null()) return PassValue();
  if (json.is_boolean()) return PassValue(json.get<bool>());
  if (json.is_number_unsigned() &&
      json.get<std::uint64_t>() >
          static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    return input_error("{} does not fit in a signed 64-bit integer", json.get<std::uint64_t>());
  if (json.is_number_integer()) return PassValue(json.get<std::int64_t>());
  if (json.is_number_float()) return PassValue(json.get<double>());
  if (json.is_string()) return PassValue(json.get<std::string>());
  if (json.is_array() && depth < kDeepest) {
    PassValue::List list;
    for (const OrderedJson& each : json) {
      JOINTER_TRY(PassValue value, read_value(each, depth + 1));
      list.push_back(std::move(value));
    }
    return PassValue(std::move(list));
  }
  if (json.is_object() && json.size() == 1 && json.contains("f")) {
    const OrderedJson& text = json.at("f");
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    if (text == "inf") return PassValue(kInfinity);
    if (text == "-inf") return PassValue(-kInfinity);
    if (text == "nan") return PassValue(std::numeric_limits<double>::quiet_NaN());
  }
  return input_error("expected a parameter value, got an object or lists nested too deeply");
}

}  // namespace

OrderedJson to_json(const PassValue& value) {
  return pass_value_json(value, [](double number) -> OrderedJson {
    if (std::isfinite(number)) return number;
    return {{"f", std::isnan(number) ? "nan" : number > 0 ? "inf" : "-inf"}};
  });
}

Result<PassValue> read_pass_value(const OrderedJson& json) {
  return read_value(json, 0);
}

OrderedJson json_of(const PassValue& value) {
  return to_json(value);
}

const char* read_json(const OrderedJson& json, PassValue& value) {
  auto read = read_pass_value(json);
  if (!read) return "a parameter value";
  value = *std::move(read);
  return nullptr;
}

OrderedJson to_json(const PassInfo& info) {
  OrderedJson json;
  write_fields(json, info, kInfo);
  OrderedJson parameters = OrderedJson::array();
  for (const Parameter& each : info.parameters)
    write_fields(parameters.emplace_back(), each, kParameter);
  add_member(json, "parameters", std::move(parameters));
  return json;
}

Result<PassInfo> read_pass_info(const OrderedJson& json) {
  PassInfo info;
  JsonMembers members(json, "pass " + name_in(json));
  read_named(members, info, kInfo);
  members.read_list("parameters", [&](const OrderedJson& each, std::size_t /*at*/) {
    JsonMembers inner(each, fmt::format("{}: parameter {}", members.place(), name_in(each)));
    read_named(inner, info.parameters.emplace_back(), kParameter);
    members.check(inner);
  });
  if (!members.problem().empty()) return input_error("{}", members.problem());
  return info;
}

}  // namespace jointer
