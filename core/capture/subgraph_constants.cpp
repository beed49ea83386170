// Reads only the member names of each constant and skips the values, since graphs can be long.

#include "core/capture/subgraph_constants.h"

#include "core/capture/native_json.h"

namespace jointer {

std::unordered_set<std::string> subgraph_constants(std::string_view constants) {
  namespace json = native::json;
  std::unordered_set<std::string> names;
  if (constants.empty()) return names;
  try {
    const simdjson::padded_string padded(constants);
    json::parser parser;
    json::document document = parser.iterate(padded);
    for (json::field field : document.get_object()) {
      const std::string_view name = field.unescaped_key();
      json::value value = field.value();
      if (value.type() != json::json_type::object) continue;
      json::object constant = value.get_object();
      if (constant.find_field_unordered("subgraph").error() == simdjson::SUCCESS)
        names.emplace(name);
    }
  } catch (const simdjson::simdjson_error&) {
    return {};
  }
  return names;
}

}  // namespace jointer
