// Corrects storages that a capture shares between calls by mistake.
//
// A capture numbers storages by the identity of torch's fake storages. A pass that copies a call
// together with its meta["val"], such as torchtitan's selective_activation_remat, leaves both calls
// with the same number. If that counted as aliasing, a recomputed value would stay alive from its
// first computation to its last use, which recomputing is meant to avoid.
//
// Terms
//   captured storage   the storage number that the file gives a tensor
//   shares             true of a call whose operator may return an argument's memory: its schema
//                      has an alias set; it is a wait, a getitem, or an operator whose schema omits
//                      the alias (aten._unsafe_view); or it has no schema
//
// Rules. For each call in program order and each tensor that it returns, the first of these
// applies:
//   1. The call shares, and an argument has the same captured storage: use the argument's storage,
//      as corrected so far.
//   2. The call always returns an argument's memory (a getitem, a view that cannot copy, an
//      in-place or out variant), and no argument has the same captured storage: use the storage
//      that its schema implies. This happens after passes that replace a call but leave the values
//      of its views unchanged.
//   3. No earlier node has the captured storage: keep it.
//   4. Otherwise, another node provided the captured storage, and this call cannot return it: use a
//      new storage.
//
// An edit that replaces a call leaves the call's value unchanged. The same rules then apply to the
// replaced calls and to calls that read a value whose storage changed; the storage before the edit
// counts as the captured one. A replaced view that always starts where its argument does gets the
// argument's offset, and views of it shift by the same amount. Any other replaced view shifts as
// far as its argument did, provided that the edit changed only this argument and the new argument
// has the same layout: the view then selects the same elements. All other offsets become unknown: a
// slice may now select other elements.
//
// Cost: for each call, its results times the tensors of its inputs.
//
// Deviation: torch's memory estimators use storages as captured. Graph::captured_storage returns
// these for a memory timeline by torch's rules (MemoryRules::torch).

#include "core/graph/storage_rules.h"

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>
#include <vector>

#include "core/graph/equal_arguments.h"
#include "core/graph/memory_access.h"
#include "core/graph/storage_moves.h"
#include "core/graph/storages.h"

namespace jointer {
namespace {

// Operators that are views according to their schema, but may copy, for example if the strides or
// the dtype require it.
constexpr std::array<std::string_view, 11> kMayCopy{
    "aten.reshape", "aten.reshape_as", "aten.contiguous",   "aten.to",
    "aten.flatten", "aten.ravel",      "aten.resolve_conj", "aten.resolve_neg",
    "aten.type_as", "aten.data",       "aten.lift_fresh"};

// Operators whose result has its argument's offset if it shares the argument's memory.
constexpr std::array<std::string_view, 18> kKeepOffset{
    "aten.view",      "aten.reshape",    "aten._unsafe_view",
    "aten.view_as",   "aten.reshape_as", "aten.flatten",
    "aten.unflatten", "aten.unsqueeze",  "aten.squeeze",
    "aten.expand",    "aten.expand_as",  "aten.t",
    "aten.transpose", "aten.permute",    "aten.alias",
    "aten.detach",    "aten.contiguous", "_c10d_functional.wait_tensor"};

// True for operators whose results are always in an argument's memory: views, in-place and out
// variants.
bool always_shares(const OperatorInfo& op) {
  const auto is_shared = [](const SchemaReturn& result) { return result.alias_set != 0; };
  return op.is_getitem || op.has(OperatorTag::silent_alias) ||
         (std::ranges::any_of(op.returns, is_shared) &&
          std::ranges::find(kMayCopy, op.packet()) == kMayCopy.end());
}

// The calls that an edit replaced; see correct_replaced.
struct Replaced {
  const std::unordered_set<NodeId>& nodes;
  const std::unordered_map<NodeId, Node>& was;
  const std::function<void(NodeId)>& before_change;
};

class Corrector {
 public:
  explicit Corrector(Graph& graph, const Replaced* edit = nullptr)
      : graph_(graph),
        edit_(edit),
        captured_count_(graph.storage_count()),
        met_(captured_count_, false) {}

  void run() {
    for (const NodeId id : graph_.order()) {
      own_.clear();
      if (may_change(id))
        visit_call(id);
      else
        for (const Tensor& t : graph_.tensors(id))
          if (t.storage) own_.push_back({t.storage, t.storage});
      for (const Renamed& renamed : own_)
        if (renamed.captured.index() < captured_count_) met_[renamed.captured.index()] = true;
    }
  }

  void add_facts() {
    tell(split_, first_split_,
         "shares a storage with another call's result in the file, although its operator cannot "
         "return that result: it counts as separate memory",
         "share storages with other calls' results in the file, although their operators cannot "
         "return those results: they count as separate memory");
    tell(followed_, first_followed_,
         "aliases an argument, although the file assigns it a different storage: it counts as the "
         "argument's memory",
         "alias arguments, although the file assigns them different storages: they count as the "
         "arguments' memory");
  }

 private:
  struct Renamed {
    StorageId captured, now;
  };

  bool may_change(NodeId id) const {
    const Node& node = graph_.node(id);
    if (node.kind != NodeKind::call || node.tensor_count == 0) return false;
    if (edit_ == nullptr || edit_->nodes.contains(id)) return true;
    return std::ranges::any_of(graph_.inputs(id),
                               [&](NodeId input) { return captured_.contains(input); });
  }

  void visit_call(NodeId id) {
    const OperatorInfo& op = graph_.op(graph_.node(id));
    const bool shares = op.may_share_memory();
    std::vector<Renamed> renamed;
    for (std::size_t i = 0; i < graph_.node(id).tensor_count; ++i) {
      const StorageId captured = captured_storage(id, i);
      if (!captured) continue;
      const StorageId now = find_storage(id, op, shares, captured, i);
      if (now == captured) continue;
      if (edit_ == nullptr)
        graph_.correct_storage(graph_.tensors(id)[i], now);
      else
        renamed.push_back({captured, now});
    }
    if (edit_ == nullptr || (!shares && renamed.empty())) return;
    const std::optional<std::int64_t> shift = shares ? offset_shift(id, op, renamed) : std::nullopt;
    if (!renamed.empty() || shift != 0) replace_value(id, renamed, shift);
  }

  // After an edit: the number of elements to add to the offsets of a call that shares memory;
  // nullopt if unknown. A replaced call gets its argument's offset if its operator keeps offsets;
  // otherwise, it shifts by as much as its argument. A call that only reads a changed value shifts
  // by as much as that value.
  std::optional<std::int64_t> offset_shift(NodeId id, const OperatorInfo& op,
                                           const std::vector<Renamed>& renamed) const {
    const auto inputs = graph_.inputs(id);
    const Tensor& result = graph_.tensors(id).front();
    if (!edit_->nodes.contains(id)) {
      const NodeId owner = argument_with(inputs, now(result.storage, renamed));
      if (!owner) return std::nullopt;
      const auto found = shift_.find(owner);
      if (found == shift_.end()) return 0;
      return graph_.tensors(owner).front().dtype == result.dtype ? found->second : std::nullopt;
    }
    if (std::ranges::find(kKeepOffset, op.packet()) == kKeepOffset.end())
      return shift_of_argument(id, op, renamed);
    if (inputs.empty() || graph_.tensors(inputs.front()).empty()) return std::nullopt;
    const Tensor& argument = graph_.tensors(inputs.front()).front();
    const bool are_known = argument.has(Tensor::has_offset) && result.has(Tensor::has_offset) &&
                           argument.dtype == result.dtype && !graph_.offset(argument).expression &&
                           !graph_.offset(result).expression;
    if (!are_known || now(result.storage, renamed) != argument.storage) return std::nullopt;
    return graph_.offset(argument).value - graph_.offset(result).value;
  }

  // The shift of a replaced view; nullopt if anything but its first argument changed, or if the new
  // argument has a different layout.
  std::optional<std::int64_t> shift_of_argument(NodeId id, const OperatorInfo& op,
                                                const std::vector<Renamed>& renamed) const {
    const auto found = edit_->was.find(id);
    if (found == edit_->was.end() || !op.is_view || selects_from_storage(op)) return std::nullopt;
    const Node &is = graph_.node(id), &was = found->second;
    const auto args = graph_.args(is), old_args = graph_.args(was);
    const auto is_same = [](const Argument& a, const Argument& b) { return a.index == b.index; };
    if (is.target != was.target || args.empty() || old_args.empty() ||
        args.front().kind != Argument::Kind::node ||
        old_args.front().kind != Argument::Kind::node ||
        !equal_arguments(graph_, args.subspan(1), old_args.subspan(1), is_same) ||
        !equal_arguments(graph_, is.kwargs, was.kwargs, is_same))
      return std::nullopt;
    const Tensor* argument = single_tensor(graph_.node(args.front().node()).value);
    const Tensor* old = single_tensor(value_before(old_args.front().node()));
    if (argument == nullptr || old == nullptr || !has_same_layout(*argument, *old))
      return std::nullopt;
    for (const Tensor& result : graph_.tensors(id))
      if (result.dtype != argument->dtype || result.storage != old->storage ||
          now(result.storage, renamed) != argument->storage)
        return std::nullopt;
    return graph_.offset(*argument).value - graph_.offset(*old).value;
  }

  const Tensor* single_tensor(const Value& value) const {
    return value.kind == Value::Kind::tensor ? &graph_.tensor(value.tensor()) : nullptr;
  }

  // The node's value before the edit.
  Value value_before(NodeId id) const {
    if (const auto found = edit_->was.find(id); found != edit_->was.end())
      return found->second.value;
    const auto found = value_before_.find(id);
    return found == value_before_.end() ? graph_.node(id).value : found->second;
  }

  // True if both have the same element type and shape, the same known strides, and offsets that are
  // known numbers.
  bool has_same_layout(const Tensor& a, const Tensor& b) const {
    const auto is_placed = [&](const Tensor& t) {
      return t.has(Tensor::has_stride) && t.has(Tensor::has_offset) && !graph_.offset(t).expression;
    };
    return is_placed(a) && is_placed(b) && a.dtype == b.dtype &&
           std::ranges::equal(graph_.shape(a), graph_.shape(b)) &&
           std::ranges::equal(graph_.stride(a), graph_.stride(b));
  }

  // The only input that has a tensor in this storage; none if no input or several inputs do.
  NodeId argument_with(std::span<const NodeId> inputs, StorageId storage) const {
    NodeId found;
    for (const NodeId input : inputs) {
      if (input == found || std::ranges::find(graph_.tensors(input), storage, &Tensor::storage) ==
                                graph_.tensors(input).end())
        continue;
      if (found) return {};
      found = input;
    }
    return found;
  }

  static StorageId now(StorageId captured, const std::vector<Renamed>& renamed) {
    const auto found = std::ranges::find(renamed, captured, &Renamed::captured);
    return found == renamed.end() ? captured : found->now;
  }

  // After an edit: gives the call a new value. Does not change the old value, which undo needs.
  void replace_value(NodeId id, const std::vector<Renamed>& renamed,
                     std::optional<std::int64_t> shift) {
    for (const Tensor& t : graph_.tensors(id)) captured_[id].push_back(t.storage);
    shift_[id] = shift;
    value_before_.emplace(id, graph_.node(id).value);
    edit_->before_change(id);
    move_tensors(graph_, id, [&](const Tensor& t) {
      return StorageMove{.to = now(t.storage, renamed),
                         .by = t.has(Tensor::has_offset) ? shift.value_or(0) : 0,
                         .keeps_offset = shift.has_value()};
    });
  }

  StorageId captured_storage(NodeId id, std::size_t output) const {
    if (edit_ == nullptr) return graph_.captured_storage(graph_.tensors(id)[output]);
    const auto found = captured_.find(id);
    return found == captured_.end() ? graph_.tensors(id)[output].storage : found->second[output];
  }

  StorageId find_storage(NodeId id, const OperatorInfo& op, bool shares, StorageId captured,
                         std::size_t output) {
    if (shares) {
      if (const StorageId given = storage_of_argument(id, captured)) return given;
      if (always_shares(op))
        if (const StorageId viewed = viewed_storage(id, op, output)) {
          if (viewed != captured) count(followed_, first_followed_, id);
          return viewed;
        }
    }
    for (const Renamed& renamed : own_)
      if (renamed.captured == captured) return renamed.now;
    StorageId now = captured;
    if (met_[captured.index()]) {
      now = fresh(id, captured, output);
      count(split_, first_split_, id);
    }
    own_.push_back({captured, now});
    return now;
  }

  // The current storage of the argument whose storage in the capture is `captured`.
  StorageId storage_of_argument(NodeId id, StorageId captured) const {
    for (const NodeId input : graph_.inputs(id))
      for (std::size_t i = 0; i < graph_.node(input).tensor_count; ++i)
        if (const StorageId now = graph_.tensors(input)[i].storage;
            now && captured_storage(input, i) == captured)
          return now;
    return {};
  }

  StorageId viewed_storage(NodeId id, const OperatorInfo& op, std::size_t output) {
    const Node& node = graph_.node(id);
    return StorageDeriver(graph_, node.part).shared_storage(op, node.args, node.kwargs, output);
  }

  StorageId fresh(NodeId id, StorageId captured, std::size_t output) {
    const Node& node = graph_.node(id);
    const Tensor& t = graph_.tensors(id)[output];
    Dim bytes = graph_.storage(captured).bytes;
    const auto is_fixed = [](Dim dim) { return !dim.expression; };
    const auto shape = graph_.shape(t), stride = graph_.stride(t);
    if (t.has(Tensor::has_stride) && is_fixed(bytes) && std::ranges::all_of(shape, is_fixed) &&
        std::ranges::all_of(stride, is_fixed))
      bytes.value = std::min(bytes.value, storage_extent(shape, stride, {}, t.dtype));
    const StorageId storage = graph_.add_storage(node.part, bytes);
    graph_.storage(storage).device = t.device;
    return storage;
  }

  static void count(std::size_t& counter, NodeId& first, NodeId id) {
    if (counter++ == 0) first = id;
  }

  void tell(std::size_t count, NodeId first, std::string_view one, std::string_view several) {
    if (count == 0) return;
    graph_.add_fact(Fact::Kind::derived, count == 1 ? fmt::format("{} {}", graph_.name(first), one)
                                                    : fmt::format("{} tensors, first {}, {}", count,
                                                                  graph_.name(first), several));
  }

  Graph& graph_;
  const Replaced* edit_;  // null if the graph comes from a file
  std::size_t captured_count_;
  std::vector<bool> met_;     // by captured storage: true if an earlier node has it
  std::vector<Renamed> own_;  // storages of the current node
  std::unordered_map<NodeId, std::vector<StorageId>> captured_;    // for changed nodes
  std::unordered_map<NodeId, std::optional<std::int64_t>> shift_;  // of the node's offsets
  std::unordered_map<NodeId, Value> value_before_;                 // before the edit
  std::size_t split_ = 0, followed_ = 0;
  NodeId first_split_, first_followed_;
};

}  // namespace

void correct_storages(Graph& graph) {
  Corrector corrector(graph);
  corrector.run();
  corrector.add_facts();
}

void correct_replaced(Graph& graph, const std::unordered_set<NodeId>& replaced,
                      const std::unordered_map<NodeId, Node>& was,
                      const std::function<void(NodeId)>& before_change) {
  const Replaced edit{replaced, was, before_change};
  Corrector(graph, &edit).run();
}

}  // namespace jointer
