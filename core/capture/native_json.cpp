#include "core/capture/native_json.h"

#include <charconv>
#include <nlohmann/json.hpp>

#include "core/base/json_text.h"
#include "core/base/number_text.h"
#include "core/base/trimmed.h"
#include "core/base/utf8.h"

namespace jointer::native {

std::string_view raw(json::value value) {
  const json::json_type type = value.type();
  if (type == json::json_type::object || type == json::json_type::array)
    return trimmed(simdjson::to_json_string(value).value());
  return trimmed(value.raw_json_token());
}

void check_json(std::string_view text) {
  if (!nlohmann::json::accept(text)) give_up("invalid JSON near `{}`", first_characters(text, 40));
}

std::int64_t to_int(std::string_view token) {
  std::int64_t number = 0;
  const auto [end, status] = std::from_chars(token.data(), token.data() + token.size(), number);
  if (status == std::errc::result_out_of_range)
    give_up("number {} does not fit in 64 bits", first_characters(token, 40));
  if (status != std::errc{} || end != token.data() + token.size())
    give_up("`{}` is not an integer", first_characters(token, 40));
  return number;
}

std::int64_t get_int(json::value value) {
  const json::json_type type = value.type();
  const std::string_view token = raw(value);
  if (type != json::json_type::number)
    give_up("expected an integer, got `{}`", first_characters(token, 40));
  return to_int(token);
}

std::optional<std::int64_t> get_count(json::value value) {
  if (value.type() == json::json_type::number) {
    const std::string_view token = raw(value);
    const auto number = number_of<std::uint64_t>(token);
    if (number && *number > INT64_MAX) return std::nullopt;
  }
  return get_int(value);
}

std::optional<std::int64_t> get_bound(json::value value) {
  switch (value.type()) {
    case json::json_type::number:
      return to_int(raw(value));
    case json::json_type::string:
      return number_of<std::int64_t>(get_text(value));
    default:
      raw(value);
      return std::nullopt;
  }
}

std::string_view get_hint(json::value value) {
  const std::string_view text = raw(value);
  if (text != "null") to_int(text);
  return text;
}

void append_member(std::string& members, std::string_view key, std::string_view value) {
  if (!members.empty()) members += ',';
  members += quoted_json(key) + ':';
  check_json(value);
  members += value;
}

}  // namespace jointer::native
