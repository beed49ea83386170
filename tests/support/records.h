#pragma once

// Reads inserted nodes, arguments and values from JSON as in recipes.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/edit/edit.h"
#include "core/edit/record_json.h"

namespace jointer::test {

template <class T>
T must_read(Result<T> read) {
  EXPECT_TRUE(read) << read.error().message;
  return read ? *std::move(read) : T{};
}

inline OrderedJson tree(std::string_view json) {
  return must_read(parse_json(json, "record"));
}

inline InsertNode insert_of(std::string_view json, std::string before) {
  return {.node = must_read(read_node(tree(json), "record")), .before = std::move(before)};
}
inline ArgumentRecords args_of(std::string_view json) {
  return must_read(read_args(tree(json)));
}
inline ValueRecord value_of(std::string_view json) {
  return must_read(read_value(tree(json)));
}

}  // namespace jointer::test
