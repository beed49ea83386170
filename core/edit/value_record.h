#pragma once

// The value that a node returns, independent of a graph. Sizes, strides and offsets count elements.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/graph/dtype.h"
#include "core/graph/value.h"

namespace jointer {

struct SymbolRecord {
  std::string expression;
  std::string hint;  // an integer, `null`, or empty
  friend bool operator==(const SymbolRecord&, const SymbolRecord&) = default;
};

struct SizeRecord {
  std::int64_t value = 0;
  std::shared_ptr<const SymbolRecord> symbol = {};  // if set, replaces `value`
  friend bool operator==(const SizeRecord& a, const SizeRecord& b) {
    return a.value == b.value &&
           (a.symbol == b.symbol || (a.symbol && b.symbol && *a.symbol == *b.symbol));
  }
};

inline std::vector<SizeRecord> sizes(const std::vector<std::int64_t>& values) {
  std::vector<SizeRecord> records;
  records.reserve(values.size());
  for (const std::int64_t value : values) records.push_back({.value = value});
  return records;
}

// A storage: that of another tensor, or a new one with a given size.
struct StorageRecord {
  std::string of = {};     // a node's name; may be the recorded node itself
  std::size_t tensor = 0;  // the index of its tensor
  std::optional<SizeRecord> bytes = {};
  std::string extra = {};  // members that this version does not know, `"key":value,...`
  friend bool operator==(const StorageRecord&, const StorageRecord&) = default;
};

struct TensorRecord {
  std::vector<SizeRecord> shape = {};
  std::optional<std::vector<SizeRecord>> stride = {};
  std::optional<SizeRecord> offset = {};
  DType dtype = DType::float32;
  std::string device = {};                    // empty if unknown
  std::optional<StorageRecord> storage = {};  // nullopt: a new storage of the tensor's size
  std::optional<bool> requires_grad = {}, conj = {}, neg = {};
  std::string extra = {};
  friend bool operator==(const TensorRecord&, const TensorRecord&) = default;
};

struct ValueRecord {
  using Kind = Value::Kind;

  Kind kind = Kind::none;
  std::string text = {};    // as in Value; a symbol's expression
  std::string detail = {};  // an opaque's repr, or a symbol's hint as JSON; may be empty
  std::vector<ValueRecord> children = {};
  std::optional<TensorRecord> tensor = {};

  static ValueRecord of_tensor(TensorRecord tensor) {
    return {.kind = Kind::tensor, .tensor = std::move(tensor)};
  }
  friend bool operator==(const ValueRecord&, const ValueRecord&) = default;
};

// Calls `visit(TensorRecord&)` with each tensor of the value, in order.
template <class Record, class Visit>
void visit_tensors(Record& value, const Visit& visit) {
  if (value.tensor) visit(*value.tensor);
  for (auto& child : value.children) visit_tensors(child, visit);
}

}  // namespace jointer
