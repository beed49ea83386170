#include "core/pass/parameter.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/byte_units.h"
#include "core/base/nearest_name.h"
#include "core/base/units.h"

namespace jointer {
namespace {

std::string listed(const std::vector<std::string>& choices) {
  return fmt::format("{}", fmt::join(choices, ", "));
}

// Describes the allowed values: "one of dp, greedy", "an integer of at least 1".
std::string expected(const Parameter& p) {
  static constexpr std::array<std::string_view, 6> kExpected{
      "true or false",     "an integer", "a number",
      "a number of bytes", "text",       "a list such as [a,b]"};
  std::string text(kExpected[static_cast<std::size_t>(p.type)]);
  if (!p.choices.empty())
    text = (p.type == Parameter::Type::list ? "a list of any of " : "one of ") + listed(p.choices);
  if (p.min && p.max)
    text += fmt::format(" from {:g} to {:g}", *p.min, *p.max);
  else if (p.min)
    text += fmt::format(" of at least {:g}", *p.min);
  else if (p.max)
    text += fmt::format(" of at most {:g}", *p.max);
  if (p.type == Parameter::Type::bytes) text += ", such as 5GiB";
  return p.takes_none() ? text + ", or none" : text;
}

tl::unexpected<Error> no_such_parameter(const std::string& name,
                                        std::span<const Parameter> declared) {
  std::vector<std::string_view> names;
  for (const Parameter& each : declared) names.emplace_back(each.name);
  if (names.empty())
    return fail(Error::Kind::usage, "there is no parameter {}; the pass has no parameters", name);
  return fail(Error::Kind::usage, "there is no parameter {}{} the parameters are {}", name,
              nearest_name_question(name, names), fmt::join(names, ", "));
}

std::optional<double> number_of(const PassValue& value) {
  if (const auto* whole = value.as<std::int64_t>()) return static_cast<double>(*whole);
  if (const auto* number = value.as<double>(); number != nullptr && std::isfinite(*number))
    return *number;
  return std::nullopt;
}

// Converts the value to the type; nullopt if it cannot be converted.
std::optional<PassValue> converted(Parameter::Type type, const PassValue& value) {
  switch (type) {
    case Parameter::Type::boolean:
      return value.as<bool>() ? std::optional(value) : std::nullopt;
    case Parameter::Type::integer:
      if (const auto* whole = value.as<std::int64_t>()) return PassValue(*whole);
      return std::nullopt;
    case Parameter::Type::number:
      if (const auto number = number_of(value)) return PassValue(*number);
      return std::nullopt;
    case Parameter::Type::bytes:
      if (const auto* whole = value.as<std::int64_t>()) return PassValue(*whole);
      if (const auto* text = value.as<std::string>(); text != nullptr && !lacks_unit(*text))
        if (const auto bytes = parse_byte_count(*text)) return PassValue(*bytes);
      return std::nullopt;
    case Parameter::Type::text:
      // A text without quotes that looks like a number was parsed as a number. to_text writes it as
      // it was given.
      if (value.as<std::string>()) return value;
      if (number_of(value)) return PassValue(to_text(value));
      return std::nullopt;
    case Parameter::Type::list:
      return value.as<PassValue::List>() ? std::optional(value) : std::nullopt;
  }
  return std::nullopt;
}

bool is_in_range(const Parameter& parameter, const PassValue& value) {
  if (const auto number = number_of(value))
    return !(parameter.min && *number < *parameter.min) &&
           !(parameter.max && *number > *parameter.max);
  if (parameter.choices.empty()) return true;
  const auto is_choice = [&](const PassValue& each) {
    const auto* text = each.as<std::string>();
    return text != nullptr &&
           std::ranges::find(parameter.choices, *text) != parameter.choices.end();
  };
  if (const auto* list = value.as<PassValue::List>())
    return std::all_of(list->begin(), list->end(), is_choice);
  return is_choice(value);
}

Result<void> check_texts(std::string_view name, const PassValue& value) {
  const PassValue::List& members = *value.as<PassValue::List>();
  for (std::size_t i = 0; i < members.size(); ++i)
    if (members[i].as<std::string>() == nullptr)
      return fail(Error::Kind::usage, "{}[{}]: expected a string, got {}", name, i,
                  to_text(members[i]));
  return {};
}

}  // namespace

std::string_view to_string(Parameter::Type type) {
  static constexpr std::array<std::string_view, 6> kNames{"boolean", "integer", "number",
                                                          "bytes",   "text",    "list"};
  return kNames[static_cast<std::size_t>(type)];
}

std::string range_text(const Parameter& p) {
  std::string text;
  if (!p.choices.empty())
    text = "one of " + listed(p.choices);
  else if (p.min && p.max)
    text = fmt::format("{:g} .. {:g}", *p.min, *p.max);
  else if (p.min)
    text = fmt::format("at least {:g}", *p.min);
  else if (p.max)
    text = fmt::format("at most {:g}", *p.max);
  if (p.may_be_none && !text.empty()) text += ", or none";
  return text;
}

std::string default_text(const Parameter& parameter) {
  const auto* number = parameter.default_value.as<std::int64_t>();
  return parameter.type == Parameter::Type::bytes && number != nullptr
             ? format_tick_bytes(*number)
             : to_text(parameter.default_value);
}

Result<Arguments> Arguments::check(std::span<const Parameter> declared,
                                   const std::vector<std::pair<std::string, PassValue>>& given) {
  Arguments arguments;
  for (const Parameter& parameter : declared)
    arguments.values_.emplace_back(parameter.name, parameter.default_value);
  for (const auto& each : given) {
    const auto& [name, value] = each;
    const auto found =
        std::ranges::find_if(declared, [&](const Parameter& p) { return p.name == each.first; });
    if (found == declared.end()) return no_such_parameter(name, declared);
    PassValue& held = arguments.values_[static_cast<std::size_t>(found - declared.begin())].second;
    if (value.is_none() && found->takes_none()) {
      held = {};
      continue;
    }
    const auto fits = converted(found->type, value);
    const auto wrong = [&] {
      return fail(Error::Kind::usage, "{}: expected {}, got {}", each.first, expected(*found),
                  to_text(each.second));
    };
    if (!fits) return wrong();
    if (found->is_of_texts) JOINTER_CHECK(check_texts(name, *fits));
    if (!is_in_range(*found, *fits)) return wrong();
    held = *fits;
  }
  return arguments;
}

const PassValue& Arguments::value(std::string_view name) const {
  static const PassValue kNone;
  for (const auto& [each, value] : values_)
    if (each == name) return value;
  return kNone;
}

bool Arguments::boolean(std::string_view name) const {
  const bool* held = value(name).as<bool>();
  return held != nullptr && *held;
}

std::int64_t Arguments::integer(std::string_view name) const {
  const auto* held = value(name).as<std::int64_t>();
  return held != nullptr ? *held : 0;
}

std::optional<std::int64_t> Arguments::optional_integer(std::string_view name) const {
  return has_value(name) ? std::optional(integer(name)) : std::nullopt;
}

double Arguments::number(std::string_view name) const {
  return number_of(value(name)).value_or(0);
}

const std::string& Arguments::text(std::string_view name) const {
  static const std::string kEmpty;
  const auto* held = value(name).as<std::string>();
  return held != nullptr ? *held : kEmpty;
}

const PassValue::List& Arguments::list(std::string_view name) const {
  static const PassValue::List kEmpty;
  const auto* held = value(name).as<PassValue::List>();
  return held != nullptr ? *held : kEmpty;
}

std::vector<std::string> Arguments::texts(std::string_view name) const {
  std::vector<std::string> texts;
  for (const PassValue& each : list(name))
    if (const auto* text = each.as<std::string>()) texts.push_back(*text);
  return texts;
}

}  // namespace jointer
