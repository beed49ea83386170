#pragma once

// JSON of files that people may have had in their hands, as a tree. For documents too large for
// that, see JsonWriter and simdjson.

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace jointer {

// Members stay in the order in which they are written.
using OrderedJson = nlohmann::ordered_json;

// Error (input): `name`, where, and what is wrong; also what is nested deeper than any file of
// ours.
Result<OrderedJson> parse_json(std::string_view text, std::string_view name);

// One line; bytes that are no UTF-8 are replaced.
std::string write_json(const OrderedJson& json);

// Members as `"key":value,...` for keeping what a version does not know, and back into an object.
void keep_member(std::string& members, const std::string& key, const OrderedJson& value);
void add_members(OrderedJson& object, const std::string& members);

}  // namespace jointer
