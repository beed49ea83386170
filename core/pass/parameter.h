#pragma once

// The parameters of a pass, and its arguments in one run. The form in the window, the help of the
// command line and textual pipelines all use the same declarations.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/pass/pass_value.h"

namespace jointer {

struct Parameter {
  enum class Type : std::uint8_t {
    boolean,
    integer,
    number,
    bytes,  // an integer, or a string such as "5GiB"
    text,
    list,
  };
  std::string name;
  Type type = Type::text;
  PassValue default_value;           // if this is none, none is allowed
  bool may_be_none = false;          // none is allowed although it is not the default
  bool is_of_texts = false;          // for a list: all elements must be strings
  std::optional<double> min, max;    // of an integer, a number or bytes; inclusive
  std::vector<std::string> choices;  // allowed strings or list elements; empty: any
  std::string doc;                   // its meaning, in sentences, with the unit

  [[nodiscard]] bool takes_none() const { return may_be_none || default_value.is_none(); }
};
std::string_view to_string(Parameter::Type type);
// Describes the range: "0 .. 1", "one of dp, greedy", "at least 1, or none"; empty if any value is
// allowed.
std::string range_text(const Parameter& parameter);
// Formats the default for display: "16 MiB", "none", "[aten.mm.default/2]".
std::string default_text(const Parameter& parameter);

// The values of all parameters of a pass in one run.
class Arguments {
 public:
  // Parameters that are not given have their defaults. Error (usage): a parameter is unknown, or a
  // value has the wrong type, is out of range, or is not one of the choices.
  static Result<Arguments> check(std::span<const Parameter> declared,
                                 const std::vector<std::pair<std::string, PassValue>>& given);

  // None if there is no such parameter.
  [[nodiscard]] const PassValue& value(std::string_view name) const;
  // True if the value, given or by default, is not none.
  [[nodiscard]] bool has_value(std::string_view name) const { return !value(name).is_none(); }
  // For none or a value of another type, these functions return false, 0, or an empty text or list.
  // An integer is also a number.
  [[nodiscard]] bool boolean(std::string_view name) const;
  [[nodiscard]] std::int64_t integer(std::string_view name) const;  // also for bytes
  // nullopt if the value is none.
  [[nodiscard]] std::optional<std::int64_t> optional_integer(std::string_view name) const;
  [[nodiscard]] double number(std::string_view name) const;
  [[nodiscard]] const std::string& text(std::string_view name) const;
  [[nodiscard]] const PassValue::List& list(std::string_view name) const;
  // The elements of a list of strings.
  [[nodiscard]] std::vector<std::string> texts(std::string_view name) const;

 private:
  std::vector<std::pair<std::string, PassValue>> values_;  // every declared parameter
};

}  // namespace jointer
