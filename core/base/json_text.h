#pragma once

// Parses and writes small JSON files that a user may have edited, as a tree. JsonWriter and
// simdjson handle documents that are too large for a tree.

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace jointer {

// Keeps the members in the order of the file.
using OrderedJson = nlohmann::ordered_json;

// Error (input): the text is not valid JSON, or it is nested more deeply than any file of
// Jointer's. The message says where; it starts with `name`.
Result<OrderedJson> parse_json(std::string_view text, std::string_view name);

// Writes one line. Invalid UTF-8 is replaced.
std::string write_json(const OrderedJson& json);

// Keeps members that this version does not know as `"key":value,...`, and adds them to an object
// again.
void keep_member(std::string& members, const std::string& key, const OrderedJson& value);
void add_members(OrderedJson& object, const std::string& members);

}  // namespace jointer
