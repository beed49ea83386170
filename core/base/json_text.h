#pragma once

// JSON as a tree, for files that a user may edit and for messages between programs. There are two
// ways to read and write JSON:
//   - trees, whose members json_fields.h maps to the fields of structs. Parsing takes a few
//     nanoseconds per byte and about ten times the memory of the text;
//   - simdjson's on-demand parser and JsonWriter (json_writer.h), without a tree, for documents of
//     any size: captures and profiler traces.
//
// This header only declares the tree. Include <nlohmann/json.hpp> or json_fields.h where the tree
// is used, but not in a header.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace jointer {

// Keeps the members in the order of the file.
using OrderedJson = nlohmann::ordered_json;

// Why a text is not a tree.
struct JsonDamage {
  std::size_t byte = 0;      // position; 0: a number is too large
  bool is_too_deep = false;  // nested more deeply than kMaxJsonDepth
};
// A tree is written and deleted recursively, so its depth is limited.
inline constexpr std::size_t kMaxJsonDepth = 200;
// Cost: linear in the text. If several members have the same name, the last one counts.
tl::expected<OrderedJson, JsonDamage> parse_tree(std::string_view text);

// Error (input): the text is not valid JSON, or it is nested more deeply than any file that Jointer
// writes. The message starts with `name` and gives the position.
Result<OrderedJson> parse_json(std::string_view text, std::string_view name);

// Writes one line. Invalid UTF-8 is replaced.
std::string write_json(const OrderedJson& json);
// The text as a JSON string.
std::string quoted_json(std::string_view text);

// Append a member that this version does not know to text of the form `"key":value,...`, and add
// such members to an object.
void keep_member(std::string& members, const std::string& key, const OrderedJson& value);
void add_members(OrderedJson& object, const std::string& members);

}  // namespace jointer
