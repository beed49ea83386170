#pragma once

// Errors of the native reader, which parses with simdjson on demand, and functions that read small
// values. Private to core/capture.
//
// Inside the reader, errors are exceptions (simdjson's and its own), because any value can be
// malformed. The reader's public functions catch them.

#include <fmt/core.h>
#include <simdjson.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace jointer::native {

namespace json = simdjson::ondemand;

struct Failure {
  std::string message;
};
struct Cancelled {};

template <class... Args>
[[noreturn]] void give_up(fmt::format_string<Args...> format, Args&&... args) {
  throw Failure{fmt::format(format, std::forward<Args>(args)...)};
}

// Returns the value's text as written in the file. Objects and arrays are skipped without checking
// them.
std::string_view raw(json::value value);
// Fails unless the text is valid JSON. Used for values that are not interpreted but written back
// verbatim.
void check_json(std::string_view text);

// Parses an integer. Fails on any other text and on numbers that exceed 64 bits.
std::int64_t to_int(std::string_view token);
std::int64_t get_int(json::value value);
// Reads a bound: an integer, or a string that contains one ("0"). Returns nullopt for any other
// string ("int_oo", an expression) and for values of other types, such as null. Fails on a number
// that is not an integer of 64 bits.
std::optional<std::int64_t> get_bound(json::value value);

// Reads a sequence number or count that torch wrote. Like get_int, but returns nullopt for numbers
// from 2^63 to 2^64 - 1: autograd uses 2^64 - 1 for a call without a sequence number.
std::optional<std::int64_t> get_count(json::value value);

// Returns the hint of a symbolic size, as written. Fails unless it is an integer or null.
std::string_view get_hint(json::value value);

inline std::string_view get_text(json::value value) {
  return value.get_string().value();
}

// Appends `"key":value`, with the key escaped, to a comma-separated list of members. Fails unless
// the value is valid JSON.
void append_member(std::string& members, std::string_view key, std::string_view value);

}  // namespace jointer::native
