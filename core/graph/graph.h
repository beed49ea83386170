#pragma once

// The graph: nodes in program order, the tensors they make, the storages behind them.
//
// Ids are dense and stable; the order is a list of ids of its own, so moving a node changes no id.
// An erased node leaves the order and gives its name back, but keeps its id, so that it can be
// restored. Everything variable-sized (arguments, values, sizes, texts) lies in pools that only
// grow, so a graph is copied by copying a few arrays, and a changed node leaves its old ranges
// behind.

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

// [path, class] of one module on the way from the root to the one that called an operator.
struct ModuleFrame {
  StringId path, type;
};

struct ModuleStack {
  std::uint32_t first = 0, count = 0;  // in Graph's frames, outermost first
  PartId part;
};

struct StackTrace {
  StringId text;
  PartId part;
};

// Something about the graph that was not in the file but derived, assumed, or looks wrong.
struct Fact {
  enum class Kind : std::uint8_t { derived, assumed, warning };
  Kind kind = Kind::derived;
  std::string text;
};

class Graph {
 public:
  // --- Looking ---

  // The size of the id space, for arrays by id: erased nodes are in it. order().size() nodes are
  // live.
  [[nodiscard]] std::size_t node_count() const { return nodes_.size(); }
  [[nodiscard]] const Node& node(NodeId id) const { return nodes_[id.index()]; }
  // Program order: every live node once.
  [[nodiscard]] std::span<const NodeId> order() const { return order_; }
  // Of a live node.
  [[nodiscard]] std::size_t position(NodeId id) const { return positions_[id.index()]; }
  [[nodiscard]] bool is_live(NodeId id) const { return positions_[id.index()] != kNowhere; }
  [[nodiscard]] bool any_erased() const { return order_.size() != nodes_.size(); }

  [[nodiscard]] std::string_view text(StringId id) const { return strings_[id]; }
  [[nodiscard]] std::string_view name(NodeId id) const { return text(node(id).name); }
  [[nodiscard]] const OperatorInfo& op(OperatorId id) const { return operators_[id.index()]; }
  [[nodiscard]] const OperatorInfo& op(const Node& node) const { return op(node.target); }
  [[nodiscard]] std::size_t operator_count() const { return operators_.size(); }
  [[nodiscard]] std::string_view target(const Node& node) const { return op(node).name; }

  // Elements of a list, tuple, dict, slice or complex; empty for anything else.
  [[nodiscard]] std::span<const Argument> children(const Argument& argument) const;
  [[nodiscard]] std::span<const Argument> args(const Node& node) const {
    return children(node.args);
  }
  // The argument that the schema calls `name`: by keyword, else by position. Null if not given.
  [[nodiscard]] const Argument* argument(const Node& node, std::string_view name) const;
  [[nodiscard]] std::span<const Value> children(const Value& value) const;
  // Producers of its inputs, each once, in the order of the arguments (FX: all_input_nodes).
  [[nodiscard]] std::span<const NodeId> inputs(const Node& node) const {
    return std::span(inputs_).subspan(node.first_input, node.input_count);
  }
  [[nodiscard]] std::span<const NodeId> inputs(NodeId id) const { return inputs(node(id)); }
  // Every tensor a node returns, nested ones included.
  [[nodiscard]] std::span<const Tensor> tensors(const Node& node) const {
    return std::span(tensors_).subspan(node.first_tensor, node.tensor_count);
  }
  [[nodiscard]] std::span<const Tensor> tensors(NodeId id) const { return tensors(node(id)); }
  [[nodiscard]] const Tensor& tensor(TensorId id) const { return tensors_[id.index()]; }
  // The tensor of a node that returns exactly one, else null.
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
  // Elements times item size: what the tensor would take if it were its own.
  [[nodiscard]] std::int64_t bytes(const Tensor& t) const;
  // Sum over all tensors a node returns, views counted in full.
  [[nodiscard]] std::int64_t output_bytes(const Node& node) const;

  [[nodiscard]] std::size_t storage_count() const { return storages_.size(); }
  [[nodiscard]] const Storage& storage(StorageId id) const { return storages_[id.index()]; }
  // The storage that really holds what `id` holds: a wait_tensor returns its collective's buffer,
  // and a backward's saved placeholder is the forward's tensor, though captures number them apart.
  [[nodiscard]] StorageId real_storage(StorageId id) const { return real_storages_[id.index()]; }

  // The storage that the capture says a tensor lies in. It differs from Tensor::storage where an
  // operator cannot do what the capture says (storage_rules.h).
  [[nodiscard]] StorageId captured_storage(const Tensor& tensor) const;

  [[nodiscard]] const Device& device(DeviceId id) const { return devices_[id.index()]; }
  [[nodiscard]] std::size_t device_count() const { return devices_.size(); }
  [[nodiscard]] DeviceType device_type(const Tensor& t) const {
    return t.device ? device(t.device).type : DeviceType::other;
  }

  [[nodiscard]] std::size_t part_count() const { return parts_.size(); }
  [[nodiscard]] const Part& part(PartId id) const { return parts_[id.index()]; }
  [[nodiscard]] bool is_pair() const { return parts_.size() > 1; }
  // The capture's name; of a pair, what both halves' names have in common.
  [[nodiscard]] std::string_view title() const { return title_; }

  // Members of a `pair` document beside its halves, as JSON: `"info":{...}`.
  [[nodiscard]] std::string_view pair_extra() const { return pair_extra_; }

  [[nodiscard]] std::size_t group_count() const { return groups_.size(); }
  [[nodiscard]] const ProcessGroup& group(GroupId id) const { return groups_[id.index()]; }
  // desc where there is one, else the name.
  [[nodiscard]] std::string_view group_label(GroupId id) const;
  // Ranks in the group of a collective; its group_size argument where the group is not known.
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
  // The `hint` member as it was: empty if there was none, else JSON ("null", "64").
  [[nodiscard]] std::string_view expression_hint(ExpressionId id) const;

  [[nodiscard]] const std::vector<SymbolValue>& symbols() const { return symbol_values_; }
  [[nodiscard]] const Assumptions& assumptions() const { return assumptions_; }
  [[nodiscard]] const std::vector<Fact>& facts() const { return facts_; }

  // The node of that name, or none. In a pair the forward is asked first; `backward:NAME` and
  // `forward:NAME` ask one half.
  [[nodiscard]] NodeId find(std::string_view name) const;
  [[nodiscard]] NodeId find(PartId part, std::string_view name) const;
  // The start of the collective, or of the transfer, that a wait_tensor waits for: looked for
  // through getitem, a repeated wait, and the partner of a pair's placeholder. None if the graph
  // does not have it.
  [[nodiscard]] NodeId collective_of_wait(const Node& wait) const;
  [[nodiscard]] bool is_collective_start(const Node& node) const {
    return node.kind == NodeKind::call && op(node).collective != CollectiveKind::none;
  }
  // A copy to the host or back that runs beside the compute stream, until its wait.
  [[nodiscard]] bool is_transfer(const Node& node) const {
    return node.kind == NodeKind::call && op(node).is_transfer;
  }
  // What a wait may wait for.
  [[nodiscard]] bool is_asynchronous(const Node& node) const {
    return is_collective_start(node) || is_transfer(node);
  }
  [[nodiscard]] bool is_wait(const Node& node) const {
    return node.kind == NodeKind::call && op(node).is_wait;
  }
  // The type of device that most bytes are on: what "memory" means for this graph.
  [[nodiscard]] DeviceType main_device() const { return main_device_; }

  // --- Assuming ---

  // Gives symbols numbers and evaluates every size anew. Error: an unknown symbol, or a size that
  // overflows; the graph is then as it was.
  Result<void> assume(const Assumptions& assumptions);

  // --- Building ---
  // Readers and passes call these and `finish` at the end; `validate` says whether the result is
  // sound. Appending keeps ids that were handed out.

  PartId add_part(Part part);
  Part& part(PartId id) { return parts_[id.index()]; }
  void set_title(std::string title) { title_ = std::move(title); }
  void set_pair_extra(std::string members) { pair_extra_ = std::move(members); }
  StringId intern(std::string_view text) { return strings_.intern(text); }
  OperatorId intern_operator(std::string_view target);
  // How operators are described from here on, and those that were named before: as this torch
  // registers them, with the schemas that the capture itself gives.
  void set_operator_version(std::string_view torch_version);
  void add_operator_schema(std::string_view target, std::string_view schema);
  // The schemas that were added, in the order of their names.
  [[nodiscard]] const std::map<std::string, std::string, std::less<>>& operator_schemas() const {
    return operator_schemas_;
  }
  DeviceId intern_device(std::string_view name);
  // Error: the text is not an expression.
  Result<ExpressionId> intern_expression(PartId part, std::string_view text, std::string_view hint);
  GroupId add_group(ProcessGroup group);
  ModuleStackId add_module_stack(PartId part, std::span<const ModuleFrame> frames);
  StackId add_stack(PartId part, std::string_view text);
  StorageId add_storage(PartId part, Dim bytes);
  Storage& storage(StorageId id) { return storages_[id.index()]; }
  // `stride` is empty, or as long as `shape`.
  TensorId add_tensor(Tensor tensor, std::span<const Dim> shape, std::span<const Dim> stride,
                      Dim offset);
  // Copies the children into the pool.
  Argument make_children(Argument::Kind kind, std::span<const Argument> children);
  Value make_children(Value::Kind kind, std::span<const Value> children);
  Tensor& tensor(TensorId id) { return tensors_[id.index()]; }
  // Moves a tensor to another storage; captured_storage remembers the one before.
  void correct_storage(const Tensor& tensor, StorageId storage);
  // Appends at the end of the program order. Its name must be new in its part, and the tensors of
  // its value must have been added one after another.
  NodeId add_node(Node node);
  Node& node(NodeId id) { return nodes_[id.index()]; }
  // Reads producers and tensors of a node anew, after its args, kwargs or value were set.
  void refresh(NodeId id);
  // Every live node once.
  void set_order(std::vector<NodeId> order);
  void add_fact(Fact::Kind kind, std::string text) { facts_.push_back({kind, std::move(text)}); }
  void reserve(std::size_t nodes, std::size_t text_bytes);

  // How many of each there were when `finish` was first called: what edits add comes after.
  struct Captured {
    std::size_t storages = 0, module_stacks = 0, stacks = 0;
  };
  [[nodiscard]] Captured captured() const {
    if (is_finished_) return captured_;
    return {storages_.size(), module_stacks_.size(), stacks_.size()};
  }

  // Evaluates symbolic sizes, finds each collective's group, joins storages that are one (through
  // waits, through aten.view and through the partners of a pair). Error: as `assume`.
  Result<void> finish();

  // --- Editing ---
  // Whether an edit is legal is not asked here (core/edit). `before` is a live node, not one of
  // those that are moved.

  // The nodes stand side by side, in this order, right before `before`. Costs what the distance
  // costs.
  void move(std::span<const NodeId> nodes, NodeId before);
  // As add_node, but right before `before`. Costs the distance to the end, as the next two do.
  NodeId insert(Node node, NodeId before);
  // No live node may read it. Its name may be given to another node.
  void erase(NodeId id);
  // Several at once, each once, for what erasing one costs.
  void erase(std::span<const NodeId> ids);
  // Back under its name, which must be free.
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
  // What a collective calls its process group: by name, or by the group itself, which is a value
  // where one rank compiles for all of them. None where it says neither.
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
  std::vector<std::uint32_t> marks_;          // by node: the last `refresh` that met it as an input
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
