#pragma once

// A node that an edit inserts, as recipes describe it (docs/recipe.md), independent of a graph.
// Members that are not given are empty.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/shared_value.h"
#include "core/edit/argument_record.h"
#include "core/edit/value_record.h"
#include "core/graph/node.h"

namespace jointer {

// Pairs of names: an input of a call, and the node that the call reads instead.
using InputNames = std::vector<std::pair<std::string, std::string>>;

// A node's metadata, without its call and its value, as in a capture.
struct NodeMarks {
  // JSON, as in Node.
  std::optional<std::string> schema_alias = {}, custom = {}, desc = {};
  std::optional<std::string> stack = {};
  std::optional<std::vector<std::pair<std::string, std::string>>> module = {};  // path, class
  std::optional<bool> module_from_fwd = {};
  std::optional<std::int64_t> seq_nr = {};
  std::optional<std::string> partitioner_tag = {};
  std::optional<bool> autograd_backward = {}, is_gradient_acc = {};
  std::optional<std::int64_t> ac_graph_id = {};
  std::optional<std::string> original_aten = {};
  std::optional<MemoryPolicy> recompute = {};
  std::string extra = {};  // members that this version does not know, `"key":value,...`
  friend bool operator==(const NodeMarks&, const NodeMarks&) = default;
};

struct NodeRecord {
  std::string name = {};
  std::optional<NodeKind> op = {};
  // The node whose call this node repeats. If set, `op`, `target`, `args` and `kwargs` must not be.
  std::optional<std::string> copy = {};
  std::optional<InputNames> inputs = {};  // the inputs of the copied call to replace
  std::optional<std::string> target = {};
  std::optional<ArgumentRecords> args = {}, kwargs = {};
  std::optional<ValueRecord> val = {};
  std::string like = {};  // the node that provides most of the marks that are not given
  Shared<NodeMarks> marks = {};
  friend bool operator==(const NodeRecord&, const NodeRecord&) = default;
};

}  // namespace jointer
