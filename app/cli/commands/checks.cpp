#include "app/cli/commands/checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include "core/base/byte_units.h"
#include "core/base/number_text.h"

namespace jointer::cli {
namespace {

// Returns a validator that accepts the values for which `fits` returns true. For any other value,
// its message says what was expected and what was given.
template <class Fits>
CLI::Validator check(std::string expected, std::string shown_in_help, Fits fits) {
  return {[expected = std::move(expected), fits](const std::string& text) {
            return fits(text) ? std::string()
                              : fmt::format("expected {}, got `{}`", expected, text);
          },
          std::move(shown_in_help)};
}

}  // namespace

CLI::Validator whole_number(std::int64_t min, std::int64_t max) {
  const bool is_open = max == kNoMax;
  return check(is_open ? fmt::format("an integer of at least {}", min)
                       : fmt::format("an integer from {} to {}", min, max),
               is_open ? std::string() : fmt::format("{} to {}", min, max),
               [=](std::string_view text) {
                 const auto number = number_of<std::int64_t>(text);
                 return number && *number >= min && *number <= max;
               });
}

CLI::Validator non_negative_number() {
  return check("a number of at least 0", {}, [](std::string_view text) {
    const auto number = number_of<double>(text);
    return number && std::isfinite(*number) && *number >= 0;
  });
}

CLI::Validator positive_number() {
  return check("a number above 0", {}, [](std::string_view text) {
    const auto number = number_of<double>(text);
    return number && std::isfinite(*number) && *number > 0;
  });
}

std::string with_likely_unit(std::string_view number) {
  constexpr double kMaxGiB = 1e3, kMaxMiB = 1e6;
  const double size = std::abs(number_of<double>(number).value_or(0));
  return fmt::format("{}{}", number, size < kMaxGiB ? "GiB" : size < kMaxMiB ? "MiB" : "KiB");
}

Result<std::int64_t> bytes_of_option(std::string_view option, std::string_view value,
                                     std::string_view expected, std::int64_t min) {
  std::string text(value);
  std::erase(text, ' ');
  const auto bytes = parse_byte_count(text);
  if (!bytes || *bytes < min)
    return fail(Error::Kind::usage, "option {}: expected {}, got `{}`", option, expected, value);
  if (lacks_unit(text))
    return fail(Error::Kind::usage, "option {}: `{}` has no unit; add one, as in {}", option, value,
                with_likely_unit(text));
  return *bytes;
}

CLI::Option* set_choices(CLI::Option* option, const std::vector<std::string>& choices) {
  const auto is_choice = [choices](std::string_view text) {
    return std::ranges::find(choices, text) != choices.end();
  };
  return option->type_name(fmt::format("{}", fmt::join(choices, "|")))
      ->check(
          check(fmt::format("{}{}", choices.size() > 1 ? "one of " : "", fmt::join(choices, ", ")),
                {}, is_choice));
}

}  // namespace jointer::cli
