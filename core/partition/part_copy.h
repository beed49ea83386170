#pragma once

// Nodes of one graph, copied into a part of another.

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/json_text.h"
#include "core/base/result.h"
#include "core/graph/graph.h"

namespace jointer {

class PartCopy {
 public:
  // Adds a part to `to` that has what that of `from` has: groups, symbols, kernels. Both graphs
  // must outlive it.
  PartCopy(const Graph& from, Graph& to, CaptureKind kind, std::string name, PartId of = PartId(0));
  // Into a part that `to` has: symbols and groups that it lacks are added to it.
  PartCopy(const Graph& from, Graph& to, PartId into, PartId of);

  // Appends a copy, with its arguments pointing at the copies that were made before. Storages,
  // module stacks and traces are copied when a node first has them.
  NodeId copy(NodeId id);
  // Under another name, or calling another target: of a constant, what it is called.
  NodeId copy_as(NodeId id, std::string_view name);
  NodeId copy_as(NodeId id, std::string_view name, std::string_view target);
  // As a placeholder that is given the node's value, of the same name or another.
  NodeId copy_as_placeholder(NodeId id);
  NodeId copy_as_placeholder(NodeId id, std::string_view name);
  // As a higher-order operator that is called with the node's operator and arguments; what reads
  // the node reads that.
  struct Wrapping {
    std::string_view name, target;
    NodeId before;             // the first argument, ahead of the operator; may be none
    std::string_view keyword;  // a keyword argument more; empty for none
    NodeId keyword_value;
    std::optional<Value> also_returns;  // ahead of what the node returns
  };
  NodeId copy_wrapped(NodeId id, const Wrapping& wrapping);
  // As a getitem with these arguments that returns what the node returns.
  NodeId copy_as_getitem(NodeId id, std::string_view name, const Argument& args);
  // Appends a node that is no copy; its texts and arguments are those of the new graph.
  NodeId add(Node node);
  // Appends the output: a tuple of these, which are nodes of the new graph; none for a null.
  // `like`: the output whose name and target it gets. `desc`: JSON, may be empty.
  NodeId add_output(NodeId like, std::span<const NodeId> values, std::string_view desc);
  // Descriptions of the constants that were copied.
  void finish_constants();

  // None of nodes that were not copied.
  [[nodiscard]] NodeId copy_of(NodeId id) const { return copies_[id.index()]; }
  [[nodiscard]] PartId part() const { return part_; }
  [[nodiscard]] Graph& target() { return to_; }

 private:
  void add_groups();
  // Copies what constants name by number, and gives them the copies' numbers.
  void copy_table_entries(OrderedJson& constants);
  StorageId storage(StorageId id);
  void find_storages(const Node& node);
  Node copied_members(const Node& node);
  StringId text(StringId id) { return id ? to_.intern(from_.text(id)) : StringId{}; }
  ExpressionId expression(ExpressionId id);
  Dim dim(const Dim& dim) { return {dim.value, expression(dim.expression)}; }
  TensorId tensor(const Tensor& tensor);
  Value value(const Value& value);
  Argument argument(const Argument& argument);
  ModuleStackId module_stack(ModuleStackId id);
  StackId stack(StackId id);

  const Graph& from_;
  Graph& to_;
  PartId of_, part_;
  bool is_addition_ = false;                  // to a part that was there
  std::vector<NodeId> copies_;                // by node
  std::vector<StorageId> storages_;           // by storage
  std::vector<ModuleStackId> module_stacks_;  // by module stack
  std::vector<StackId> stacks_;               // by stack trace
  std::vector<ExpressionId> expressions_;     // by expression
  using Constant = std::pair<std::string, std::string>;
  std::vector<Constant> constants_;  // targets that were copied, and what they are called now
};

}  // namespace jointer
