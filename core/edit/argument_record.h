#pragma once

// An argument of a call, independent of a graph: nodes, texts and symbols are stored as text.

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/graph/value.h"

namespace jointer {

struct ArgumentRecord {
  using Kind = Argument::Kind;

  Kind kind = Kind::none;
  std::int64_t integer = 0;  // for a boolean, 0 or 1; for a float, its bits
  // A node's name, a symbol's expression, or the text as in Argument.
  std::string text = {};
  std::string detail = {};  // an opaque's repr, or empty
  std::vector<ArgumentRecord> children = {};

  static ArgumentRecord of_int(std::int64_t value) {
    return {.kind = Kind::integer, .integer = value};
  }
  static ArgumentRecord of_bool(bool value) {
    return {.kind = Kind::boolean, .integer = value ? 1 : 0};
  }
  static ArgumentRecord of_real(double value) {
    return {.kind = Kind::real, .integer = std::bit_cast<std::int64_t>(value)};
  }
  static ArgumentRecord of_text(Kind kind, std::string_view text) {
    return {.kind = kind, .text = std::string(text)};
  }
  static ArgumentRecord of_node(std::string_view name) { return of_text(Kind::node, name); }
  static ArgumentRecord of_children(Kind kind, std::vector<ArgumentRecord> children) {
    return {.kind = kind, .children = std::move(children)};
  }
  static ArgumentRecord of_ints(const std::vector<std::int64_t>& values) {
    ArgumentRecord list{.kind = Kind::list};
    for (const std::int64_t value : values) list.children.push_back(of_int(value));
    return list;
  }

  [[nodiscard]] double real() const { return std::bit_cast<double>(integer); }
  friend bool operator==(const ArgumentRecord&, const ArgumentRecord&) = default;
};

// Positional arguments, or keyword arguments as alternating names and values, like the children of
// a dict.
using ArgumentRecords = std::vector<ArgumentRecord>;

}  // namespace jointer
