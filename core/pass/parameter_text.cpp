#include "core/pass/parameter_text.h"

#include "core/base/units.h"

namespace jointer {

std::string default_text(const Parameter& parameter) {
  const auto* number = parameter.default_value.as<std::int64_t>();
  return parameter.type == Parameter::Type::bytes && number != nullptr
             ? format_tick_bytes(*number)
             : to_text(parameter.default_value);
}

}  // namespace jointer
