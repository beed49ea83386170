#include "core/bench/json_fields.h"

#include <cmath>
#include <limits>

#include "core/base/utf8.h"

namespace jointer {

std::optional<simdjson::dom::element> FieldReader::find(std::string_view key) const {
  simdjson::dom::element element;
  if (object_.at_key(key).get(element) != simdjson::SUCCESS || element.is_null())
    return std::nullopt;
  return element;
}

void FieldReader::read(std::string_view key, std::string& value) {
  const auto element = find(key);
  if (!element) return;
  std::string_view text;
  ok_ = ok_ && element->get(text) == simdjson::SUCCESS;
  if (ok_) value = text;
}

void FieldReader::read(std::string_view key, std::int64_t& value) {
  if (const auto element = find(key)) ok_ = ok_ && element->get(value) == simdjson::SUCCESS;
}

void FieldReader::read(std::string_view key, std::uint32_t& value) {
  std::int64_t wide = value;
  read(key, wide);
  ok_ = ok_ && wide >= 0 && wide <= std::numeric_limits<std::uint32_t>::max();
  if (ok_) value = static_cast<std::uint32_t>(wide);
}

void FieldReader::read(std::string_view key, int& value) {
  std::int64_t wide = value;
  read(key, wide);
  ok_ = ok_ && wide >= std::numeric_limits<int>::min() && wide <= std::numeric_limits<int>::max();
  if (ok_) value = static_cast<int>(wide);
}

void FieldReader::read(std::string_view key, bool& value) {
  if (const auto element = find(key)) ok_ = ok_ && element->get(value) == simdjson::SUCCESS;
}

void FieldReader::read(std::string_view key, double& value) {
  const auto element = find(key);
  if (!element) return;
  std::string_view text;
  if (element->get(text) == simdjson::SUCCESS) {
    ok_ = ok_ && (text == "nan" || text == "inf" || text == "-inf");
    value = text == "nan" ? std::numeric_limits<double>::quiet_NaN()
                          : std::numeric_limits<double>::infinity() * (text == "-inf" ? -1 : 1);
    return;
  }
  ok_ = ok_ && element->get(value) == simdjson::SUCCESS;
}

void FieldReader::read(std::string_view key, std::vector<std::int64_t>& value) {
  const auto element = find(key);
  if (!element) return;
  simdjson::dom::array array;
  ok_ = ok_ && element->get(array) == simdjson::SUCCESS;
  if (!ok_) return;
  value.clear();
  value.reserve(array.size());
  for (const simdjson::dom::element each : array) {
    std::int64_t number = 0;
    ok_ = ok_ && each.get(number) == simdjson::SUCCESS;
    value.push_back(number);
  }
}

void FieldReader::read(std::string_view key, std::vector<std::string>& value) {
  const auto element = find(key);
  if (!element) return;
  simdjson::dom::array array;
  ok_ = ok_ && element->get(array) == simdjson::SUCCESS;
  if (!ok_) return;
  value.clear();
  for (const simdjson::dom::element each : array) {
    std::string_view text;
    ok_ = ok_ && each.get(text) == simdjson::SUCCESS;
    value.emplace_back(text);
  }
}

void write_text(JsonWriter& json, std::string_view key, std::string_view value) {
  json.key(key);
  json.string(valid_utf8(value));
}

void write_integer(JsonWriter& json, std::string_view key, std::int64_t value) {
  json.key(key);
  json.integer(value);
}

void write_boolean(JsonWriter& json, std::string_view key, bool value) {
  json.key(key);
  json.boolean(value);
}

void write_real(JsonWriter& json, std::string_view key, double value) {
  json.key(key);
  if (std::isfinite(value))
    json.real(value);
  else
    json.string(std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
}

void write_integers(JsonWriter& json, std::string_view key, std::span<const std::int64_t> values) {
  json.key(key);
  json.begin_array();
  for (const std::int64_t value : values) json.integer(value);
  json.end_array();
}

void write_texts(JsonWriter& json, std::string_view key, std::span<const std::string> values) {
  json.key(key);
  json.begin_array();
  for (const std::string& value : values) json.string(valid_utf8(value));
  json.end_array();
}

}  // namespace jointer
