#pragma once

// Reads and writes fields of JSON objects by name, for the runner's messages. The run of a large
// graph reports hundreds of thousands of numbers, hence simdjson.

#include <simdjson.h>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json_writer.h"

namespace jointer {

// Reads fields of an object. A field that is missing or null leaves its value unchanged; one of
// another type makes ok() false. Other fields are ignored.
class FieldReader {
 public:
  explicit FieldReader(simdjson::dom::object object) : object_(object) {}

  void read(std::string_view key, std::string& value);
  void read(std::string_view key, std::int64_t& value);
  void read(std::string_view key, std::uint32_t& value);
  void read(std::string_view key, int& value);
  void read(std::string_view key, bool& value);
  // Also accepts the texts "nan", "inf" and "-inf", which are not numbers in JSON.
  void read(std::string_view key, double& value);
  void read(std::string_view key, std::vector<std::int64_t>& value);
  void read(std::string_view key, std::vector<std::string>& value);
  template <class T>
  void read(std::string_view key, std::optional<T>& value) {
    if (!find(key)) return;
    T read_value{};
    read(key, read_value);
    value = read_value;
  }
  // Calls `take(FieldReader&)` with the object.
  template <class Take>
  void read_object(std::string_view key, Take take) {
    const auto element = find(key);
    if (!element) return;
    simdjson::dom::object inner;
    if (element->get(inner) != simdjson::SUCCESS) {
      ok_ = false;
      return;
    }
    FieldReader reader(inner);
    take(reader);
    ok_ = ok_ && reader.ok();
  }
  // Calls `take(FieldReader&)` with each object of the array.
  template <class Take>
  void read_objects(std::string_view key, Take take) {
    const auto element = find(key);
    if (!element) return;
    simdjson::dom::array array;
    ok_ = ok_ && element->get(array) == simdjson::SUCCESS;
    if (!ok_) return;
    for (const simdjson::dom::element each : array) {
      simdjson::dom::object inner;
      ok_ = ok_ && each.get(inner) == simdjson::SUCCESS;
      if (!ok_) return;
      FieldReader reader(inner);
      take(reader);
      ok_ = reader.ok();
    }
  }
  void refuse() { ok_ = false; }
  [[nodiscard]] bool ok() const { return ok_; }

 private:
  [[nodiscard]] std::optional<simdjson::dom::element> find(std::string_view key) const;

  simdjson::dom::object object_;
  bool ok_ = true;
};

void write_text(JsonWriter& json, std::string_view key, std::string_view value);
void write_integer(JsonWriter& json, std::string_view key, std::int64_t value);
void write_boolean(JsonWriter& json, std::string_view key, bool value);
// In the form that FieldReader reads back.
void write_real(JsonWriter& json, std::string_view key, double value);
void write_integers(JsonWriter& json, std::string_view key, std::span<const std::int64_t> values);
void write_texts(JsonWriter& json, std::string_view key, std::span<const std::string> values);

}  // namespace jointer
