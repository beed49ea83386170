#pragma once

// Copies nodes of one graph into a part of another.

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
  // Adds a part to `to` with the properties of the part `of` in `from`, such as its groups, symbols
  // and kernels, but without its outputs. If it is the first part of `to`, also takes over the
  // version and the schemas of the operators. Both graphs must outlive this object.
  PartCopy(const Graph& from, Graph& to, CaptureKind kind, std::string name, PartId of = PartId(0));
  // Copies into the existing part `into` of `to`, and adds the symbols and groups that it lacks.
  PartCopy(const Graph& from, Graph& to, PartId into, PartId of);

  // Prepares for copying nodes of another part of `from` as well: adds the symbols and groups that
  // the target part lacks.
  void include(PartId of);
  // Makes readers of `id` that are copied later read the copy of `other` instead, and turns views
  // of `id` into views of that copy. `other` must have been copied.
  void copy_from(NodeId id, NodeId other);

  // Appends a copy whose arguments refer to the earlier copies. Storages, module stacks and stack
  // traces are copied with the first node that has them.
  NodeId copy(NodeId id);
  // Copies the node under a different name, optionally with a different target. For a constant, the
  // target is its new name.
  NodeId copy_as(NodeId id, std::string_view name);
  NodeId copy_as(NodeId id, std::string_view name, std::string_view target);
  // Appends a placeholder for the node's value, under the same or a different name.
  NodeId copy_as_placeholder(NodeId id);
  NodeId copy_as_placeholder(NodeId id, std::string_view name);
  // Copies the node as a call of a higher-order operator that runs the node's operator with its
  // arguments; readers of the node then read the result of that call.
  struct Wrapping {
    std::string_view name, target;
    NodeId before;             // the first argument, before the operator; may be none
    std::string_view keyword;  // an additional keyword argument; may be empty
    NodeId keyword_value;
    std::optional<Value> also_returns;  // returned before the node's value
  };
  NodeId copy_wrapped(NodeId id, const Wrapping& wrapping);
  // Copies a call of a higher-order operator as a direct call of the operator that is its argument
  // number `first`, with the arguments that follow and without the keyword argument `keyword`.
  struct Unwrapping {
    std::string_view name;
    std::size_t first = 0;
    std::string_view keyword;  // may be empty
    NodeId described;          // the node that has the call's value, module, stack trace and tags
    // If the value is missing: nodes with the elements of the tuple; none for unknown elements.
    std::vector<NodeId> elements = {};
  };
  NodeId copy_unwrapped(NodeId id, const Unwrapping& unwrapping);
  // Copies the node as a getitem with these arguments that returns the node's value.
  NodeId copy_as_getitem(NodeId id, std::string_view name, const Argument& args);
  // Appends a node that is not a copy; its strings and arguments must belong to `target()`.
  NodeId add(Node node);
  // Appends the output: a tuple of `values`, which are nodes of `target()`, or none for a null.
  // Its name and target come from `like`. `desc`: JSON; may be empty.
  NodeId add_output(NodeId like, std::span<const NodeId> values, std::string_view desc);
  // Writes the descriptions of the copied constants. Call this after the last copy.
  void finish_constants();

  // None if the node was not copied.
  [[nodiscard]] NodeId copy_of(NodeId id) const { return copies_[id.index()]; }
  [[nodiscard]] PartId part() const { return part_; }
  [[nodiscard]] Graph& target() { return to_; }

 private:
  PartCopy(const Graph& from, Graph& to, PartId of);
  void add_tables(PartId of);
  void add_groups(PartId of);
  // Copies the table entries that constants refer to by index, and updates the indices.
  void copy_table_entries(PartId of, OrderedJson& constants);
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
  std::vector<PartId> of_;
  PartId part_;
  bool is_first_ = false;                     // the part is new
  std::vector<NodeId> copies_;                // by node
  std::vector<StorageId> storages_;           // by storage
  std::vector<ModuleStackId> module_stacks_;  // by module stack
  std::vector<StackId> stacks_;               // by stack trace
  std::vector<ExpressionId> expressions_;     // by expression
  struct Constant {
    PartId part;
    std::string target, name;  // in `from`; in the copy
  };
  std::vector<Constant> constants_;
};

}  // namespace jointer
