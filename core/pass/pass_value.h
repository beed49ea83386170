#pragma once

// The value of a parameter of a pass, and its forms in a textual pipeline and in JSON.

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "core/base/json_text.h"

namespace jointer {

struct PassValue {
  using List = std::vector<PassValue>;
  // For example: none, true, 3, 0.05, layers.0, [a,[b,c]].
  std::variant<std::monostate, bool, std::int64_t, double, std::string, List> held;
  // For a number that was read from text: the text, if to_text would write the number differently.
  // A text parameter takes it as it is: `007`, `1e3`.
  std::string written;

  PassValue() = default;
  PassValue(bool value) : held(value) {}
  PassValue(std::int64_t value) : held(value) {}
  PassValue(int value) : held(std::int64_t{value}) {}
  PassValue(double value) : held(value) {}
  PassValue(std::string value) : held(std::move(value)) {}
  PassValue(const char* value) : held(std::string(value)) {}
  PassValue(List value) : held(std::move(value)) {}

  [[nodiscard]] bool is_none() const { return std::holds_alternative<std::monostate>(held); }
  template <class T>
  [[nodiscard]] const T* as() const {
    return std::get_if<T>(&held);
  }
  friend bool operator==(const PassValue&, const PassValue&) = default;
};

// The value as text that parse_pipeline reads as the same value; only a number that is not finite
// is read as a string. A number is written as it was read. A string is quoted as in JSON if it is
// not a word or would be read as another value.
std::string to_text(const PassValue& value);

// The value as JSON. `number_json`, if given, writes floating-point numbers: JSON has only finite
// ones.
OrderedJson pass_value_json(const PassValue& value, OrderedJson (*number_json)(double) = nullptr);

}  // namespace jointer
