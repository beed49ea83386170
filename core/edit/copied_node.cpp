#include "core/edit/copied_node.h"

#include <simdjson.h>

#include <string_view>

namespace jointer {

std::string copied_node(const InsertNode& insert) {
  const simdjson::padded_string padded(insert.node);
  simdjson::ondemand::parser parser;
  simdjson::ondemand::document document;
  simdjson::ondemand::object record;
  std::string_view copied;
  if (parser.iterate(padded).get(document) != simdjson::SUCCESS ||
      document.get_object().get(record) != simdjson::SUCCESS ||
      record.find_field_unordered("copy").get_string().get(copied) != simdjson::SUCCESS)
    return {};
  const std::string_view before = insert.before;
  std::string_view half;
  for (const std::string_view each : {"forward:", "backward:"})
    if (before.starts_with(each) && !before.substr(each.size()).starts_with(':')) half = each;
  return std::string(half).append(copied);
}

}  // namespace jointer
