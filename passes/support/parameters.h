#pragma once

// Functions that declare a pass parameter in one call each.

#include <string>
#include <utility>
#include <vector>

#include "core/pass/parameter.h"

namespace jointer {

inline Parameter parameter(std::string name, Parameter::Type type, PassValue default_value,
                           std::string doc) {
  Parameter made;
  made.name = std::move(name);
  made.type = type;
  made.default_value = std::move(default_value);
  made.doc = std::move(doc);
  return made;
}

inline Parameter flag(std::string name, bool default_value, std::string doc) {
  return parameter(std::move(name), Parameter::Type::boolean, default_value, std::move(doc));
}

inline Parameter at_least(double min, Parameter made) {
  made.min = min;
  return made;
}

// An integer of at least `min`.
inline Parameter count(std::string name, std::int64_t default_value, double min, std::string doc) {
  return at_least(
      min, parameter(std::move(name), Parameter::Type::integer, default_value, std::move(doc)));
}

// An integer of at least 0; none by default.
inline Parameter optional_count(std::string name, std::string doc) {
  return at_least(0, parameter(std::move(name), Parameter::Type::integer, {}, std::move(doc)));
}

// A number of at least 0.
inline Parameter number(std::string name, double default_value, std::string doc) {
  return at_least(
      0, parameter(std::move(name), Parameter::Type::number, default_value, std::move(doc)));
}

// A number of at least 0; none by default.
inline Parameter optional_number(std::string name, std::string doc) {
  return at_least(0, parameter(std::move(name), Parameter::Type::number, {}, std::move(doc)));
}

// A number of at least 0. The value may also be none, but only if given explicitly.
inline Parameter number_or_none(std::string name, double default_value, std::string doc) {
  Parameter made = number(std::move(name), default_value, std::move(doc));
  made.may_be_none = true;
  return made;
}

// A number of bytes of at least 0; `default_value` may be none.
inline Parameter bytes(std::string name, PassValue default_value, std::string doc) {
  return at_least(0, parameter(std::move(name), Parameter::Type::bytes, std::move(default_value),
                               std::move(doc)));
}

// A text; `default_value` may be none.
inline Parameter text(std::string name, PassValue default_value, std::string doc) {
  return parameter(std::move(name), Parameter::Type::text, std::move(default_value),
                   std::move(doc));
}

inline Parameter choice(std::string name, std::vector<std::string> choices,
                        std::string default_value, std::string doc) {
  Parameter made =
      parameter(std::move(name), Parameter::Type::text, std::move(default_value), std::move(doc));
  made.choices = std::move(choices);
  return made;
}

// A list of texts; `default_value` may be none.
inline Parameter texts(std::string name, PassValue default_value, std::string doc) {
  Parameter made =
      parameter(std::move(name), Parameter::Type::list, std::move(default_value), std::move(doc));
  made.is_of_texts = true;
  return made;
}

inline Parameter texts(std::string name, std::string doc) {
  return texts(std::move(name), PassValue::List{}, std::move(doc));
}

}  // namespace jointer
