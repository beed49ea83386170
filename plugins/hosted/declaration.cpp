#include "plugins/hosted/declaration.h"

#include <array>
#include <cmath>
#include <limits>

namespace jointer {
namespace {

constexpr std::array kStages{PassStage::joint, PassStage::partition, PassStage::clean_up,
                             PassStage::fsdp,  PassStage::bucketing, PassStage::reordering,
                             PassStage::check, PassStage::compile,   PassStage::search};
constexpr std::array kTypes{Parameter::Type::boolean, Parameter::Type::integer,
                            Parameter::Type::number,  Parameter::Type::bytes,
                            Parameter::Type::text,    Parameter::Type::list};
// Lists nested deeper are refused; no pass needs them.
constexpr int kDeepest = 16;

// Reads members of one object and records the first that is invalid.
class Members {
 public:
  explicit Members(const OrderedJson& json) : json_(json) {
    if (!json.is_object()) refused_ = "not an object";
  }

  // Null if the member is missing or null.
  [[nodiscard]] const OrderedJson* find(const char* key) const {
    if (!json_.is_object()) return nullptr;
    const auto found = json_.find(key);
    return found == json_.end() || found->is_null() ? nullptr : &*found;
  }
  void read(const char* key, std::string& text) {
    if (const OrderedJson* value = find(key))
      value->is_string() ? text = value->get<std::string>() : refuse(key);
  }
  void read(const char* key, bool& flag) {
    if (const OrderedJson* value = find(key))
      value->is_boolean() ? void(flag = value->get<bool>()) : void(refuse(key));
  }
  void read(const char* key, std::optional<double>& number) {
    if (const OrderedJson* value = find(key))
      value->is_number() ? void(number = value->get<double>()) : void(refuse(key));
  }
  template <class Value, std::size_t N>
  void read(const char* key, Value& value, const std::array<Value, N>& known) {
    std::string text;
    read(key, text);
    if (text.empty()) return;
    for (const Value each : known)
      if (to_string(each) == text) {
        value = each;
        return;
      }
    refuse(key);
  }
  const std::string& refuse(const char* key) {
    if (refused_.empty()) refused_ = fmt::format("`{}` is missing or invalid", key);
    return refused_;
  }
  [[nodiscard]] const std::string& refused() const { return refused_; }

 private:
  const OrderedJson& json_;
  std::string refused_;
};

OrderedJson to_json(const Parameter& p) {
  OrderedJson json{{"name", p.name},
                   {"type", to_string(p.type)},
                   {"default", to_json(p.default_value)},
                   {"doc", p.doc}};
  if (p.min) json["least"] = *p.min;
  if (p.max) json["most"] = *p.max;
  if (!p.choices.empty()) json["choices"] = p.choices;
  return json;
}

Result<Parameter> read_parameter(const OrderedJson& json) {
  Parameter p;
  Members members(json);
  members.read("name", p.name);
  members.read("type", p.type, kTypes);
  members.read("doc", p.doc);
  members.read("least", p.min);
  members.read("most", p.max);
  if (const OrderedJson* value = members.find("default")) {
    auto default_value = read_pass_value(*value);
    if (default_value)
      p.default_value = *std::move(default_value);
    else
      members.refuse("default");
  }
  if (const OrderedJson* choices = members.find("choices")) {
    if (!choices->is_array()) members.refuse("choices");
    for (const OrderedJson& each : *choices)
      each.is_string() ? p.choices.push_back(each.get<std::string>())
                       : void(members.refuse("choices"));
  }
  if (p.name.empty()) members.refuse("name");
  if (!members.refused().empty()) return input_error("parameter {}: {}", p.name, members.refused());
  return p;
}

Result<PassValue> read_value(const OrderedJson& json, int depth) {
  if (json.is_null()) return PassValue();
  if (json.is_boolean()) return PassValue(json.get<bool>());
  if (json.is_number_unsigned() &&
      json.get<std::uint64_t>() >
          static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    return input_error("{} does not fit in 64 bits", json.get<std::uint64_t>());
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
  return input_error("an object is not a value of a parameter");
}

}  // namespace

OrderedJson to_json(const PassValue& value) {
  struct Writer {
    OrderedJson operator()(std::monostate) const { return nullptr; }
    OrderedJson operator()(double number) const {
      if (std::isfinite(number)) return number;
      return {{"f", std::isnan(number) ? "nan" : number > 0 ? "inf" : "-inf"}};
    }
    OrderedJson operator()(const PassValue::List& list) const {
      OrderedJson json = OrderedJson::array();
      for (const PassValue& each : list) json.push_back(to_json(each));
      return json;
    }
    OrderedJson operator()(bool flag) const { return flag; }
    OrderedJson operator()(std::int64_t number) const { return number; }
    OrderedJson operator()(const std::string& text) const { return text; }
  };
  return std::visit(Writer(), value.held);
}

Result<PassValue> read_pass_value(const OrderedJson& json) {
  return read_value(json, 0);
}

OrderedJson to_json(const PassInfo& info) {
  OrderedJson json{{"name", info.name},
                   {"summary", info.summary},
                   {"stage", to_string(info.stage)},
                   {"keeps_numerics", info.keeps_numerics},
                   {"is_idempotent", info.is_idempotent}};
  OrderedJson& parameters = json["parameters"] = OrderedJson::array();
  for (const Parameter& each : info.parameters) parameters.push_back(to_json(each));
  return json;
}

Result<PassInfo> read_pass_info(const OrderedJson& json) {
  PassInfo info;
  Members members(json);
  members.read("name", info.name);
  members.read("summary", info.summary);
  members.read("stage", info.stage, kStages);
  members.read("keeps_numerics", info.keeps_numerics);
  members.read("is_idempotent", info.is_idempotent);
  if (info.name.empty()) members.refuse("name");
  const OrderedJson* parameters = members.find("parameters");
  if (parameters != nullptr && !parameters->is_array()) members.refuse("parameters");
  if (!members.refused().empty()) return input_error("pass {}: {}", info.name, members.refused());
  if (parameters == nullptr) return info;
  for (const OrderedJson& each : *parameters) {
    auto parameter = read_parameter(each);
    if (!parameter) return input_error("pass {}: {}", info.name, parameter.error().message);
    info.parameters.push_back(*std::move(parameter));
  }
  return info;
}

}  // namespace jointer
