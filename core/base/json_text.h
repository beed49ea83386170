#pragma once

// JSON as a tree, for files that a user may edit and for messages between programs. There are two
// ways to read and write JSON:
//   - trees, whose members json_fields.h maps to the fields of structs. Parsing needs a few
//     nanoseconds per byte and about ten times as much memory as the text;
//   - simdjson's on-demand parser and JsonWriter (json_writer.h), without a tree, for documents of
//     any size: captures and profiler traces.
//
// This header only declares the tree. Include <nlohmann/json.hpp> or json_fields.h where the tree
// is used.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace jointer {

// Keeps members in file order.
using OrderedJson = nlohmann::ordered_json;

// The reason why a text could not be parsed into a tree.
struct JsonDamage {
  std::size_t byte = 0;      // position of the error, from 1; 0 if it is not known
  bool is_too_deep = false;  // nested more deeply than kMaxJsonDepth
};
// Trees are written and destroyed recursively, so their depth is limited.
inline constexpr std::size_t kMaxJsonDepth = 200;
// If several members have the same name, the last one wins. Cost: linear in the length of the text;
// if simdjson rejects a valid text, such as one with an integer of more than 64 bits, quadratic in
// the number of members of an object.
tl::expected<OrderedJson, JsonDamage> parse_tree(std::string_view text);

// Error (input): the text is not valid JSON, or is nested more deeply than kMaxJsonDepth. The
// message starts with `name` and gives the position if it is known.
Result<OrderedJson> parse_json(std::string_view text, std::string_view name);

// Writes a single line. Replaces invalid UTF-8.
std::string write_json(const OrderedJson& json);
// Returns the text as a JSON string.
std::string quoted_json(std::string_view text);

// Members that this version does not know are kept as text of the form `"key":value,...`.
// `keep_member` appends one to such a text; `add_members` adds to an object those that it does not
// have yet.
void keep_member(std::string& members, const std::string& key, const OrderedJson& value);
void add_members(OrderedJson& object, const std::string& members);

}  // namespace jointer
