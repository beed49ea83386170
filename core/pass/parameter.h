#pragma once

// What a pass can be told: declared once, and read by the form in the window, the help of the
// command line and the textual pipeline.

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
    bytes,  // a whole number, or a text such as 5GiB
    text,
    list,
  };
  std::string name;
  Type type = Type::text;
  PassValue otherwise;       // where nothing is given; none: nothing, and none may be given
  bool may_be_none = false;  // none may be given though something else is the default
  bool is_of_texts = false;  // of a list: every member is a text
  std::optional<double> least, most;  // of numbers and bytes, both included
  std::vector<std::string> choices;   // of texts and of a list's members: one of these; empty: any
  std::string doc;                    // one sentence, with the unit

  [[nodiscard]] bool takes_none() const { return may_be_none || otherwise.is_none(); }
};
std::string_view to_string(Parameter::Type type);
// "0 .. 1", "one of dp, greedy", "at least 1, or none"; empty where anything goes.
std::string range_text(const Parameter& parameter);

// The values of all parameters of a pass, for one run.
class Arguments {
 public:
  // Error (usage): a parameter that does not exist, or a value that is not of its type or range.
  static Result<Arguments> check(std::span<const Parameter> declared,
                                 const std::vector<std::pair<std::string, PassValue>>& given);

  [[nodiscard]] const PassValue& value(std::string_view name) const;
  [[nodiscard]] bool is_given(std::string_view name) const { return !value(name).is_none(); }
  // Of a parameter of that type that is not none; whole numbers are numbers too.
  [[nodiscard]] bool boolean(std::string_view name) const;
  [[nodiscard]] std::int64_t integer(std::string_view name) const;  // bytes, too
  [[nodiscard]] double number(std::string_view name) const;
  [[nodiscard]] const std::string& text(std::string_view name) const;
  [[nodiscard]] const PassValue::List& list(std::string_view name) const;
  // Of a list whose members are all texts.
  [[nodiscard]] std::vector<std::string> texts(std::string_view name) const;

 private:
  std::vector<std::pair<std::string, PassValue>> values_;  // every declared parameter
};

// "5GiB", "500MB", "1024": bytes. Nothing if it is none.
std::optional<std::int64_t> parse_byte_count(std::string_view text);

}  // namespace jointer
