#pragma once

// What the files of the native reader share: failures and small values of simdjson's on-demand
// parser. Private to core/capture/native_*.cpp.
//
// Inside the reader errors are exceptions (simdjson's and ours), because a malformed value can turn
// up at every leaf; they end at the reader's public functions.

#include <fmt/format.h>
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

// The value's text as it stands in the file. Objects and arrays are skipped, not checked.
std::string_view raw(json::value value);
// Fails unless the text is valid JSON: what is kept unread is written back as it is.
void check_json(std::string_view text);

// A whole number from its text; fails on anything else and on what does not fit 64 bits.
std::int64_t to_int(std::string_view token);
std::int64_t get_int(json::value value);
// A number that may come as a number, as text ("0"), or not at all (null, "int_oo", an expression).
std::optional<std::int64_t> get_bound(json::value value);

// A whole number as torch counts: none for one that does not fit 63 bits, such as the 2^64 - 1 that
// autograd gives as the number of a call that has none.
std::optional<std::int64_t> get_count(json::value value);

// A number with a fraction or an exponent.
bool is_real(std::string_view token);

// The hint of a symbolic size as it stands: a number or null.
std::string_view get_hint(json::value value);

inline std::string_view get_text(json::value value) {
  return value.get_string().value();
}

// `"key":value`, the key escaped, appended to a list of such members.
void append_member(std::string& members, std::string_view key, json::value value);

}  // namespace jointer::native
