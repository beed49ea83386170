#include "core/pass/pass_value.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "core/base/characters.h"
#include "core/base/json_text.h"
#include "core/pass/pipeline_text.h"

namespace jointer {
namespace {

// The shortest text that parses as the same floating-point number, not as an integer; `inf`, `-inf`
// or `nan` if the number is not finite.
std::string number_text(double value) {
  std::string text = fmt::format("{}", value);
  if (const auto plus = text.find('+'); plus != std::string::npos) text.erase(plus, 1);
  if (text.find_first_of(".enai") == std::string::npos) text += ".0";
  return text;
}

}  // namespace

std::string to_text(const PassValue& value) {
  struct Writer {
    std::string operator()(std::monostate) const { return "none"; }
    std::string operator()(bool value) const { return value ? "true" : "false"; }
    std::string operator()(std::int64_t value) const { return std::to_string(value); }
    std::string operator()(double value) const { return number_text(value); }
    std::string operator()(const std::string& value) const {
      const bool plain = is_word(value) && value_of_word(value) == PassValue(value);
      return plain ? value : write_json(value);
    }
    std::string operator()(const PassValue::List& values) const {
      std::string text = "[";
      for (const PassValue& each : values) {
        if (text.size() > 1) text += ',';
        text += to_text(each);
      }
      return text + "]";
    }
  };
  return value.written.empty() ? std::visit(Writer(), value.held) : value.written;
}

OrderedJson pass_value_json(const PassValue& value, OrderedJson (*number_json)(double)) {
  struct Writer {
    OrderedJson (*number_json)(double);
    OrderedJson operator()(std::monostate) const { return nullptr; }
    OrderedJson operator()(bool held) const { return held; }
    OrderedJson operator()(std::int64_t held) const { return held; }
    OrderedJson operator()(double held) const {
      return number_json == nullptr ? OrderedJson(held) : number_json(held);
    }
    OrderedJson operator()(const std::string& held) const { return held; }
    OrderedJson operator()(const PassValue::List& held) const {
      OrderedJson list = OrderedJson::array();
      for (const PassValue& each : held) list.push_back(pass_value_json(each, number_json));
      return list;
    }
  };
  return std::visit(Writer{number_json}, value.held);
}

}  // namespace jointer
