#include "core/edit/copied_node.h"

#include <simdjson.h>

#include <string_view>

#include "core/edit/half_name.h"

namespace jointer {
namespace {

std::string named_node(const InsertNode& insert, std::string_view key) {
  const simdjson::padded_string padded(insert.node);
  simdjson::ondemand::parser parser;
  simdjson::ondemand::document document;
  simdjson::ondemand::object record;
  std::string_view name;
  if (parser.iterate(padded).get(document) != simdjson::SUCCESS ||
      document.get_object().get(record) != simdjson::SUCCESS ||
      record.find_field_unordered(key).get_string().get(name) != simdjson::SUCCESS)
    return {};
  return std::string(split_half(insert.before).prefix).append(name);
}

}  // namespace

std::string copied_node(const InsertNode& insert) {
  return named_node(insert, "copy");
}

std::string model_node(const InsertNode& insert) {
  return named_node(insert, "like");
}

}  // namespace jointer
