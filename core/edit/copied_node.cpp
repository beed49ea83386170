#include "core/edit/copied_node.h"

#include <simdjson.h>

#include <string_view>

#include "core/edit/half_name.h"

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
  return std::string(split_half(insert.before).prefix).append(copied);
}

}  // namespace jointer
