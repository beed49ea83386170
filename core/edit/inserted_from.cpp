#include "core/edit/inserted_from.h"

#include <simdjson.h>

#include <string_view>

#include "core/edit/half_name.h"

namespace jointer {

InsertedFrom inserted_from(const InsertNode& insert) {
  const simdjson::padded_string padded(insert.node);
  simdjson::ondemand::parser parser;
  simdjson::ondemand::document document;
  simdjson::ondemand::object record;
  InsertedFrom found;
  if (parser.iterate(padded).get(document) != simdjson::SUCCESS ||
      document.get_object().get(record) != simdjson::SUCCESS)
    return found;
  const std::string prefix(split_half(insert.before).prefix);
  for (const auto& [key, node] : {std::pair{"copy", &found.copy}, {"like", &found.like}}) {
    std::string_view name;
    if (record.find_field_unordered(key).get_string().get(name) == simdjson::SUCCESS)
      *node = std::string(prefix).append(name);
  }
  return found;
}

}  // namespace jointer
