#pragma once

// Builds the changes of edits that insert or replace calls.

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/edit/edit.h"
#include "core/graph/graph.h"

namespace jointer {

// The keyword arguments with which `aten.clone` makes a contiguous copy.
ArgumentRecords contiguous_format();

// Collects changes that insert or replace calls in one half of a graph, which must outlive this
// object. Numbers the names of new nodes as FX does: view, view_1, view_2.
class CallBuilder {
 public:
  CallBuilder(const Graph& graph, PartId part) : graph_(graph), part_(part) {}

  // Adds the change and returns the new node's name. `target` is the full name of the operator,
  // `like` the node from which the new node gets its metadata, and `before` the node before which
  // it is inserted, by its name in edits.
  std::string insert(std::string_view target, ArgumentRecords args, ArgumentRecords kwargs,
                     ValueRecord val, NodeId like, std::string_view before);
  // The same for a call that returns one tensor and has no keyword arguments.
  std::string insert(std::string_view target, ArgumentRecords args, TensorRecord val, NodeId like,
                     std::string_view before) {
    return insert(target, std::move(args), {}, ValueRecord::of_tensor(std::move(val)), like,
                  before);
  }
  // Adds a change that makes the node call `target` with `args` and without keyword arguments. The
  // node keeps its value.
  void replace(NodeId node, std::string_view target, ArgumentRecords args);
  void add(Change change) { changes_.push_back(std::move(change)); }
  [[nodiscard]] std::size_t count() const { return changes_.size(); }
  // Returns the changes added since the last call of take(). The names of their new nodes stay
  // reserved.
  [[nodiscard]] std::vector<Change> take() { return std::exchange(changes_, {}); }

  static ArgumentRecord node(std::string_view name) { return ArgumentRecord::of_node(name); }

 private:
  std::string fresh_name(std::string_view base);

  const Graph& graph_;
  PartId part_;
  std::unordered_set<std::string> taken_;
  std::unordered_map<std::string, int> next_;  // by base name
  std::vector<Change> changes_;
};

}  // namespace jointer
