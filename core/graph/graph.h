#pragma once

// The graph: nodes in program order, the tensors they return, and the storages of these tensors.
//
// Ids are dense and stable. The order is a separate list of ids, so moving a node does not change
// any id. An erased node leaves the order and frees its name, but keeps its id so that it can be
// restored. Data of variable size (arguments, values, sizes, texts) is stored in pools that only
// grow. Copying a graph copies a few arrays; changing a node leaves its old ranges in the pools
// unused.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "core/base/id.h"
#include "core/base/result.h"
#include "core/graph/expression.h"
#include "core/graph/node.h"
#include "core/graph/part.h"
#include "core/graph/string_table.h"
#include "core/graph/symbols.h"
#include "core/graph/tensor.h"
#include "core/graph/value.h"
#include "core/ops/operator_table.h"

namespace jointer {

// One module in a module stack: its path and its class.
struct ModuleFrame {
  StringId path, type;
};

struct ModuleStack {
  std::uint32_t first = 0, count = 0;  // range of Graph's frames, outermost first
  PartId part;
};

struct StackTrace {
  StringId text;
  PartId part;
};

// A note about the graph: something that was derived because the file lacks it, something that was
// assumed, or something suspicious.
struct Fact {
  enum class Kind : std::uint8_t { derived, assumed, warning };
  Kind kind = Kind::derived;
  std::string text;
};

class Graph {
 public:
  // --- Queries ---

  // The number of ids, for arrays indexed by id. Includes erased nodes; order().size() is the
  // number of live nodes.
  [[nodiscard]] std::size_t node_count() const { return nodes_.size(); }
  [[nodiscard]] const Node& node(NodeId id) const { return nodes_[id.index()]; }
  // The live nodes in program order, each once.
  [[nodiscard]] std::span<const NodeId> order() const { return order_; }
  // The node's index in order(). The node must be live.
  [[nodiscard]] std::size_t position(NodeId id) const { return positions_[id.index()]; }
  [[nodiscard]] bool is_live(NodeId id) const { return positions_[id.index()] != kNowhere; }
  [[nodiscard]] bool any_erased() const { return order_.size() != nodes_.size(); }

  [[nodiscard]] std::string_view text(StringId id) const { return strings_[id]; }
  [[nodiscard]] std::string_view name(NodeId id) const { return text(node(id).name); }
  [[nodiscard]] const OperatorInfo& op(OperatorId id) const { return operators_[id.index()]; }
  [[nodiscard]] const OperatorInfo& op(const Node& node) const { return op(node.target); }
  [[nodiscard]] std::size_t operator_count() const { return operators_.size(); }
  [[nodiscard]] std::string_view target(const Node& node) const { return op(node).name; }

  // The elements of a list, tuple, dict, slice or complex number; empty for other kinds.
  [[nodiscard]] std::span<const Argument> children(const Argument& argument) const;
  [[nodiscard]] std::span<const Argument> args(const Node& node) const {
    return children(node.args);
  }
  // The value of a string key in a dict; null if the dict lacks the key.
  [[nodiscard]] const Argument* member(const Argument& dict, std::string_view key) const;
  // The argument that the schema calls `name`, whether passed by keyword or by position. Null if it
  // is not passed.
  [[nodiscard]] const Argument* argument(const Node& node, std::string_view name) const;
  [[nodiscard]] std::span<const Value> children(const Value& value) const;
  // The nodes that the node reads, each once, in argument order (FX: all_input_nodes).
  [[nodiscard]] std::span<const NodeId> inputs(const Node& node) const {
    return std::span(inputs_).subspan(node.first_input, node.input_count);
  }
  [[nodiscard]] std::span<const NodeId> inputs(NodeId id) const { return inputs(node(id)); }
  // The tensors that a node returns, including nested ones.
  [[nodiscard]] std::span<const Tensor> tensors(const Node& node) const {
    return std::span(tensors_).subspan(node.first_tensor, node.tensor_count);
  }
  [[nodiscard]] std::span<const Tensor> tensors(NodeId id) const { return tensors(node(id)); }
  [[nodiscard]] const Tensor& tensor(TensorId id) const { return tensors_[id.index()]; }
  // The tensor of a node that returns a single tensor; null for other nodes.
  [[nodiscard]] const Tensor* single_tensor(const Node& node) const {
    return node.value.kind == Value::Kind::tensor ? &tensor(node.value.tensor()) : nullptr;
  }

  [[nodiscard]] std::span<const Dim> shape(const Tensor& t) const {
    return std::span(dims_).subspan(t.dims, t.rank);
  }
  [[nodiscard]] std::span<const Dim> stride(const Tensor& t) const {
    return std::span(dims_).subspan(t.dims + t.rank, t.rank);
  }
  [[nodiscard]] Dim offset(const Tensor& t) const { return dims_[t.dims + 2U * t.rank]; }
  [[nodiscard]] std::int64_t numel(const Tensor& t) const;
  // The number of elements times the element size: the size of a separate storage for the tensor.
  [[nodiscard]] std::int64_t bytes(const Tensor& t) const;
  // The sum of `bytes` over the tensors that a node returns; views count in full.
  [[nodiscard]] std::int64_t output_bytes(const Node& node) const;

  [[nodiscard]] std::size_t storage_count() const { return storages_.size(); }
  [[nodiscard]] std::size_t tensor_count() const { return tensors_.size(); }
  [[nodiscard]] const Storage& storage(StorageId id) const { return storages_[id.index()]; }
  // The storage that actually holds the bytes of `id`. Captures number some storages separately
  // although they are the same memory: a wait_tensor returns its collective's buffer, and the
  // backward's placeholder for a saved value is the forward's tensor.
  [[nodiscard]] StorageId real_storage(StorageId id) const { return real_storages_[id.index()]; }

  // The storage of a tensor in the capture. It differs from Tensor::storage if the capture
  // contradicts the operator (storage_rules.h).
  [[nodiscard]] StorageId captured_storage(const Tensor& tensor) const;

  [[nodiscard]] const Device& device(DeviceId id) const { return devices_[id.index()]; }
  [[nodiscard]] std::size_t device_count() const { return devices_.size(); }
  [[nodiscard]] DeviceType device_type(const Tensor& t) const {
    return t.device ? device(t.device).type : DeviceType::other;
  }

  [[nodiscard]] std::size_t part_count() const { return parts_.size(); }
  [[nodiscard]] const Part& part(PartId id) const { return parts_[id.index()]; }
  [[nodiscard]] bool is_pair() const { return parts_.size() > 1; }
  // The capture's name; for a pair of separate captures, the common part of their names.
  [[nodiscard]] std::string_view title() const { return title_; }

  // The members of a `pair` document besides its halves, as JSON: `"info":{...}`.
  [[nodiscard]] std::string_view pair_extra() const { return pair_extra_; }

  [[nodiscard]] std::size_t group_count() const { return groups_.size(); }
  [[nodiscard]] const ProcessGroup& group(GroupId id) const { return groups_[id.index()]; }
  // The group's desc, or its name if it has none.
  [[nodiscard]] std::string_view group_label(GroupId id) const;
  // The number of ranks in a collective's group; if the group is unknown, the call's group_size
  // argument or, without one, a number derived from the sizes of an all-gather's or a
  // reduce-scatter's input and result; else 1.
  [[nodiscard]] std::int64_t group_size(const Node& node) const;

  [[nodiscard]] std::size_t module_stack_count() const { return module_stacks_.size(); }
  [[nodiscard]] const ModuleStack& module_stack(ModuleStackId id) const {
    return module_stacks_[id.index()];
  }
  [[nodiscard]] std::span<const ModuleFrame> frames(const ModuleStack& stack) const {
    return std::span(frames_).subspan(stack.first, stack.count);
  }
  [[nodiscard]] std::size_t stack_count() const { return stacks_.size(); }
  [[nodiscard]] const StackTrace& stack(StackId id) const { return stacks_[id.index()]; }

  [[nodiscard]] std::size_t expression_count() const { return expressions_.size(); }
  [[nodiscard]] const Expression& expression(ExpressionId id) const {
    return expressions_[id.index()].expression;
  }
  [[nodiscard]] std::string_view expression_text(ExpressionId id) const;
  [[nodiscard]] std::int64_t expression_value(ExpressionId id) const {
    return expressions_[id.index()].value;
  }
  // The `hint` member as written in the file: JSON ("null", "64"), or empty if missing.
  [[nodiscard]] std::string_view expression_hint(ExpressionId id) const;

  [[nodiscard]] const std::vector<SymbolValue>& symbols() const { return symbol_values_; }
  [[nodiscard]] const Assumptions& assumptions() const { return assumptions_; }
  [[nodiscard]] const std::vector<Fact>& facts() const { return facts_; }

  // Returns the node with this name, if any. In a pair, `forward:NAME` and `backward:NAME` search
  // one half; a plain name searches the forward first.
  [[nodiscard]] NodeId find(std::string_view name) const;
  [[nodiscard]] NodeId find(PartId part, std::string_view name) const;
  // Returns the node that starts the collective or transfer that a wait_tensor waits for, if it is
  // in the graph. Follows getitem, repeated waits, and the partner of a pair's placeholder, up to
  // seven of these in total.
  [[nodiscard]] NodeId collective_of_wait(const Node& wait) const;
  [[nodiscard]] bool is_collective_start(const Node& node) const {
    return node.kind == NodeKind::call && op(node).collective != CollectiveKind::none;
  }
  // True for a copy to or from the host that overlaps with the compute stream until its wait.
  [[nodiscard]] bool is_transfer(const Node& node) const {
    return node.kind == NodeKind::call && op(node).is_transfer;
  }
  // True for nodes that a wait_tensor can wait for.
  [[nodiscard]] bool is_asynchronous(const Node& node) const {
    return is_collective_start(node) || is_transfer(node);
  }
  [[nodiscard]] bool is_wait(const Node& node) const {
    return node.kind == NodeKind::call && op(node).is_wait;
  }
  // The device type with the most bytes. Elsewhere, "memory" without a device means memory of this
  // type.
  [[nodiscard]] DeviceType main_device() const { return main_device_; }

  // --- Assumptions ---

  // Assigns numbers to symbols and distances to the ranks of groups (rank_stride), and reevaluates
  // every size. Error: an assumption does not fit the graph, or a size becomes invalid; the graph
  // is then unchanged.
  Result<void> assume(const Assumptions& assumptions);

  // --- Building ---
  // Readers and passes call these, then `finish`; afterwards `validate` tells whether the result is
  // valid. Appending does not invalidate ids.

  PartId add_part(Part part);
  Part& part(PartId id) { return parts_[id.index()]; }
  void set_title(std::string title) { title_ = std::move(title); }
  void set_pair_extra(std::string members) { pair_extra_ = std::move(members); }
  StringId intern(std::string_view text) { return strings_.intern(text); }
  OperatorId intern_operator(std::string_view target);
  // Describes operators, including those already interned, by the schemas of this version of torch
  // and those that the capture adds.
  void set_operator_version(std::string_view torch_version);
  void add_operator_schema(std::string_view target, std::string_view schema);
  // The added schemas, sorted by name.
  [[nodiscard]] const std::map<std::string, std::string, std::less<>>& operator_schemas() const {
    return operator_schemas_;
  }
  DeviceId intern_device(std::string_view name);
  // Errors: same as Expression::parse.
  Result<ExpressionId> intern_expression(PartId part, std::string_view text, std::string_view hint);
  GroupId add_group(ProcessGroup group);
  ModuleStackId add_module_stack(PartId part, std::span<const ModuleFrame> frames);
  StackId add_stack(PartId part, std::string_view text);
  StorageId add_storage(PartId part, Dim bytes);
  Storage& storage(StorageId id) { return storages_[id.index()]; }
  // `stride` must be empty or have the length of `shape`.
  TensorId add_tensor(Tensor tensor, std::span<const Dim> shape, std::span<const Dim> stride,
                      Dim offset);
  // Copies the children into the graph's pool.
  Argument make_children(Argument::Kind kind, std::span<const Argument> children);
  Value make_children(Value::Kind kind, std::span<const Value> children);
  Tensor& tensor(TensorId id) { return tensors_[id.index()]; }
  // Moves a tensor to a different storage; captured_storage still returns the original storage.
  void correct_storage(const Tensor& tensor, StorageId storage);
  // Appends the node to the program order. Its name must be unique in its part, and the tensors of
  // its value must have been added consecutively.
  NodeId add_node(Node node);
  Node& node(NodeId id) { return nodes_[id.index()]; }
  // Updates the inputs and tensors of a node. Call it after changing the node's args, kwargs or
  // value.
  void refresh(NodeId id);
  // `order` must contain every live node exactly once.
  void set_order(std::vector<NodeId> order);
  void add_fact(Fact::Kind kind, std::string text) { facts_.push_back({kind, std::move(text)}); }
  void reserve(std::size_t nodes, std::size_t text_bytes);

  // The sizes of the tables when `finish` was first called (before that, the current sizes).
  // Entries added by edits follow.
  struct Captured {
    std::size_t tensors = 0, storages = 0, module_stacks = 0, stacks = 0;
  };
  [[nodiscard]] Captured captured() const {
    if (is_finished_) return captured_;
    return {tensors_.size(), storages_.size(), module_stacks_.size(), stacks_.size()};
  }

  // Evaluates symbolic sizes, finds the group of each collective and the main device, and joins
  // storages that are the same memory (through waits, aten.view, and the partners of a pair).
  // Error: a size cannot be evaluated.
  Result<void> finish();

  // --- Editing ---
  // These do not check whether an edit is legal; core/edit does. `before` is a live node that is
  // not one of the nodes to move.

  // Places the nodes consecutively, in this order, directly before `before`. Cost: linear in the
  // distance.
  void move(std::span<const NodeId> nodes, NodeId before);
  // Like add_node, but inserts the node directly before `before`. The cost is linear in the
  // distance to the end, as is that of `erase` and `restore`.
  NodeId insert(Node node, NodeId before);
  // Erases a node that no live node reads. Its name becomes free.
  void erase(NodeId id);
  // Erases several distinct nodes at once. The cost is linear in the live nodes.
  void erase(std::span<const NodeId> ids);
  // Restores an erased node. Its name must be free.
  void restore(NodeId id, NodeId before);

 private:
  static constexpr std::uint32_t kNowhere = 0xffffffff;  // position of an erased node
  struct SymbolicSize {
    StringId text, hint;
    PartId part;
    Expression expression;
    std::int64_t value = 0;
  };

  Result<void> evaluate_symbols(const Assumptions& assumptions);
  void resolve_groups();
  // Returns the name by which a collective refers to its process group. If one rank compiles for
  // all, the argument may instead be the group itself, as a value. Empty if the call has neither.
  [[nodiscard]] StringId group_name(const Node& collective) const;
  void join_storages();
  void find_main_device();
  [[nodiscard]] OperatorInfo describe(std::string_view target) const;
  void collect_inputs(const Argument& argument);
  void take_name(NodeId id);
  void renumber(std::size_t first, std::size_t last);

  StringTable strings_;
  std::vector<OperatorInfo> operators_;
  std::unordered_map<StringId, OperatorId> operator_ids_;
  std::string operator_version_;
  std::map<std::string, std::string, std::less<>> operator_schemas_;
  std::vector<Device> devices_;
  std::vector<Part> parts_;
  std::vector<ProcessGroup> groups_;
  std::vector<ModuleFrame> frames_;
  std::vector<ModuleStack> module_stacks_;
  std::vector<StackTrace> stacks_;
  std::vector<SymbolicSize> expressions_;
  std::map<std::tuple<PartId, StringId, StringId>, ExpressionId> expression_ids_;
  std::vector<SymbolValue> symbol_values_;
  Assumptions assumptions_;

  std::vector<Node> nodes_;
  std::vector<NodeId> order_;
  std::vector<std::uint32_t> positions_;
  std::vector<std::vector<NodeId>> by_name_;  // by part, then by the name's StringId
  std::vector<std::uint32_t> marks_;          // by node: mark_ when the node was last marked
  std::uint32_t mark_ = 0;
  std::vector<Argument> arguments_;
  std::vector<Value> values_;
  std::vector<NodeId> inputs_;
  std::vector<Tensor> tensors_;
  std::vector<Dim> dims_;
  std::vector<Storage> storages_;
  std::vector<StorageId> real_storages_;
  std::vector<std::pair<TensorId, StorageId>> captured_storages_;  // of corrected tensors, sorted

  std::vector<Fact> facts_;
  std::string title_, pair_extra_;
  DeviceType main_device_ = DeviceType::cpu;
  Captured captured_;
  bool is_finished_ = false;
};

}  // namespace jointer
