// Merges common subexpressions as torch._functorch.compile_utils.fx_graph_cse does.
//
// In program order, a call is replaced by an earlier one if both call the same operator with the
// same arguments (after replacement, and nested in the same way), and nothing is written between
// them. (torch compares the number of writing calls before each, its mutation region.) Some nodes
// are never merged: placeholders, constants and the output; random operators and aten.empty
// (`unmerged` in the operator table); and tensors that share a storage with a returned tensor,
// since eager mode returns separate tensors.
//
// Since torch 2.14, these are not merged either:
//  - a call that the backward depends on with one that it does not: the value would have to be
//    saved;
//  - impure calls, including waits;
//  - a call whose result auto_functionalized or a Triton kernel writes to;
//  - calls on different streams or memory pools, as their annotations (`custom`) say.
// Also since 2.14, floating-point numbers are equal if their bits are; before, NaN equals nothing.
//
// Like torch, this compares a call with only one earlier call: the first with the same hash, or the
// last one of its equals that a write separates from the others. The hash is of the operator, of
// the leaves of the arguments, and since 2.14 of the side; it excludes how arguments are nested,
// the names of keywords, and streams. To Python, -1 has the hash of -2. So if `sum(x, -2)` comes
// first, no two calls of `sum(x, -1)` are merged.
//
// Views of an erased call become views of its twin's storage. (torch leaves them described as views
// of the erased call, and counts its memory a second time.)
//
// Deviations: 0.0 and -0.0 are different arguments (torch before 2.14 treats them as equal, and
// merges calls with different results); an argument that the capture could not describe equals no
// other.
//
// Cost: linear in the arguments, by hashing.

#include "core/partition/common_subexpressions.h"

#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>
#include <string>
#include <unordered_map>

#include "core/graph/effects.h"
#include "core/graph/replace_inputs.h"
#include "core/graph/torch_version.h"
#include "core/partition/dead_code.h"
#include "core/partition/joint_parts.h"

namespace jointer {
namespace {

using ArgumentKind = Argument::Kind;

class Merger {
 public:
  explicit Merger(Graph& graph)
      : graph_(graph),
        is_strict_(torch_version_of(graph) >= TorchVersion{2, 14}),
        replacement_(graph.node_count()) {
    for (std::size_t i = 0; i < replacement_.size(); ++i) replacement_[i] = NodeId(i);
  }

  void run() {
    find_returned_storages();
    if (is_strict_) {
      find_backward_needs();
      find_written_buffers();
    }
    std::vector<NodeId> merged;
    const std::vector<NodeId> order(graph_.order().begin(), graph_.order().end());
    for (const NodeId id : order) {
      if (writes(id)) ++region_;
      regions_.emplace(id, region_);
      rewire(id);
      if (!may_merge(id)) continue;
      NodeId& twin = calls_[hash_of(id)];
      if (!twin) {
        twin = id;
      } else if (!are_equal(id, twin)) {
        continue;  // only the hashes are equal; the table keeps `twin`
      } else if (regions_.at(twin) == region_) {
        replacement_[id.index()] = twin;
        join_storages(id, twin);
        merged.push_back(id);
      } else {
        twin = id;  // later calls are compared with the one after the write
      }
    }
    graph_.erase(merged);
    move_views();
    // The graph's outputs may now come from another call.
    for (OutputEntry& entry : graph_.part(PartId(0)).outputs)
      if (entry.node) entry.node = replacement_[entry.node.index()];
  }

 private:
  void find_returned_storages() {
    is_returned_.assign(graph_.storage_count(), false);
    const auto order = graph_.order();
    if (order.empty()) return;
    for (const NodeId id : graph_.inputs(order.back()))
      if (const Tensor* tensor = graph_.single_tensor(graph_.node(id));
          tensor != nullptr && tensor->storage)
        is_returned_[tensor->storage.index()] = true;
  }

  void find_backward_needs() {
    is_for_backward_.assign(graph_.node_count(), false);
    if (graph_.part(PartId(0)).kind != CaptureKind::joint) return;
    const auto& outputs = graph_.part(PartId(0)).outputs;
    std::vector<NodeId> pending;
    for (std::size_t i = forward_output_count(graph_); i < outputs.size(); ++i)
      if (outputs[i].node) pending.push_back(outputs[i].node);
    while (!pending.empty()) {
      const NodeId id = pending.back();
      pending.pop_back();
      if (is_for_backward_[id.index()]) continue;
      is_for_backward_[id.index()] = true;
      for (const NodeId input : graph_.inputs(id)) pending.push_back(input);
    }
  }

  // Finds the buffers that functionalized calls would write to in their in-place forms.
  void find_written_buffers() {
    is_buffer_.assign(graph_.node_count(), false);
    const auto mark = [&](const auto& self, const Argument& argument) -> void {
      if (argument.kind == ArgumentKind::node && argument.node())
        is_buffer_[argument.node().index()] = true;
      for (const Argument& child : graph_.children(argument)) self(self, child);
    };
    for (const NodeId id : graph_.order()) {
      const Node& node = graph_.node(id);
      if (node.kind != NodeKind::call) continue;
      const std::string_view target = graph_.target(node);
      if (target == "auto_functionalized_v2") {
        if (const Argument* bases = graph_.member(node.kwargs, "_all_bases")) mark(mark, *bases);
      } else if (target == "auto_functionalized") {
        const auto args = graph_.args(node);
        if (args.empty() || args.front().kind != ArgumentKind::op) continue;
        const OperatorInfo op = describe_operator(graph_.text(args.front().text()));
        for (const SchemaArgument& argument : op.arguments)
          if (argument.writes)
            if (const Argument* given = graph_.member(node.kwargs, argument.name))
              mark(mark, *given);
      } else if (target == "triton_kernel_wrapper_functional") {
        const Argument* cloned = graph_.member(node.kwargs, "tensors_to_clone");
        const Argument* given = graph_.member(node.kwargs, "kwargs");
        if (cloned == nullptr || given == nullptr) continue;
        for (const Argument& name : graph_.children(*cloned))
          if (name.kind == ArgumentKind::string)
            if (const Argument* tensor = graph_.member(*given, graph_.text(name.text())))
              mark(mark, *tensor);
      }
    }
  }

  bool writes(NodeId id) {
    written_.clear();
    written_arguments(graph_, graph_.node(id), written_);
    return !written_.empty();
  }

  [[nodiscard]] bool may_merge(NodeId id) const {
    const Node& node = graph_.node(id);
    if (node.kind != NodeKind::call || graph_.op(node).has(OperatorTag::unmerged)) return false;
    if (is_strict_ && (is_impure(graph_, node) || is_buffer_[id.index()])) return false;
    const Tensor* tensor = graph_.single_tensor(node);
    return tensor == nullptr || !tensor->storage || !is_returned_[tensor->storage.index()];
  }

  // Replaces the storages of the erased call `id` with those of its twin.
  void join_storages(NodeId id, NodeId twin) {
    const auto gone = graph_.tensors(id), kept = graph_.tensors(twin);
    for (std::size_t i = 0; i < std::min(gone.size(), kept.size()); ++i) {
      if (!gone[i].storage || !kept[i].storage) continue;
      const StorageId from = resolved(gone[i].storage), to = resolved(kept[i].storage);
      twin_storage_.resize(graph_.storage_count());
      kept_number_.resize(graph_.storage_count());
      const StorageId old_number = number_of(gone[i].storage), number = number_of(kept[i].storage);
      if (old_number != number) kept_number_[old_number.index()] = number;
      if (from != to) twin_storage_[from.index()] = to;
    }
  }

  // The storage to which the tensors of `storage` have moved. A kept call may itself be a view of
  // an erased call, so resolve both storages before joining them; otherwise they could form a
  // cycle.
  [[nodiscard]] StorageId resolved(StorageId storage) const {
    storage = graph_.real_storage(storage);
    while (!twin_storage_.empty() && twin_storage_[storage.index()])
      storage = twin_storage_[storage.index()];
    return storage;
  }

  // Captures number the result of a wait separately from its collective's buffer; the two are one
  // storage only while the wait exists. Views of an erased wait become views of the wait that is
  // kept.
  [[nodiscard]] StorageId number_now(StorageId storage) const {
    const StorageId now = resolved(storage), number = number_of(storage);
    return graph_.real_storage(number) == now ? number : now;
  }
  // Follows the chain of replaced numbers to its end, like `resolved`: the replacement of a wait
  // may itself have been replaced.
  [[nodiscard]] StorageId number_of(StorageId storage) const {
    while (kept_number_[storage.index()]) storage = kept_number_[storage.index()];
    return storage;
  }

  void move_views() {
    if (twin_storage_.empty()) return;
    for (const NodeId id : graph_.order()) {
      const Node& node = graph_.node(id);
      for (std::uint32_t i = 0; i < node.tensor_count; ++i) {
        Tensor& tensor = graph_.tensor(TensorId(node.first_tensor + i));
        if (tensor.storage) tensor.storage = number_now(tensor.storage);
      }
    }
  }

  // Replaces the node's inputs with their twins.
  void rewire(NodeId id) {
    redirect_inputs(graph_, id, [this](NodeId input) { return replacement_[input.index()]; });
  }

  [[nodiscard]] std::size_t hash_of(NodeId id) const {
    const Node& node = graph_.node(id);
    std::size_t hash = mix(node.target.index(), is_strict_ && is_for_backward_[id.index()] ? 1 : 0);
    add_leaves(node.args, hash);
    hash = mix(hash, 0);  // between positional arguments and keywords
    add_leaves(node.kwargs, hash);
    return hash;
  }

  // Since torch 2.14, equal calls also are on the same side, and run on the same stream and memory
  // pool.
  [[nodiscard]] bool are_equal(NodeId a, NodeId b) {
    const Node& left = graph_.node(a);
    const Node& right = graph_.node(b);
    if (left.target != right.target || !equal(left.args, right.args) ||
        !equal(left.kwargs, right.kwargs))
      return false;
    return !is_strict_ || (is_for_backward_[a.index()] == is_for_backward_[b.index()] &&
                           place_of(left.custom) == place_of(right.custom));
  }

  // The stream and the memory pool in a node's annotations.
  const std::string& place_of(StringId custom) {
    const auto [it, is_new] = places_.try_emplace(custom);
    if (!is_new) return it->second;
    const auto json = nlohmann::json::parse(graph_.text(custom), nullptr, false);
    for (const char* key : {"stream", "mempool", "mempool_device"}) {
      // Without an annotation, the stream is 0 and there is no pool.
      const nlohmann::json none =
          key == std::string_view("stream") ? nlohmann::json(0) : nlohmann::json();
      it->second += (json.is_object() ? json.value(key, none) : none).dump() + ' ';
    }
    return it->second;
  }

  static std::size_t mix(std::size_t a, std::size_t b) {
    return (a ^ (b + 0x9e3779b97f4a7c15ULL + (a << 6) + (a >> 2))) * 0xff51afd7ed558ccdULL;
  }

  void add_leaves(const Argument& argument, std::size_t& hash) const {
    if (argument.has_children()) {
      const auto children = graph_.children(argument);
      const bool is_dict = argument.kind == ArgumentKind::dict;  // keys and values alternate
      for (std::size_t i = is_dict ? 1 : 0; i < children.size(); i += is_dict ? 2 : 1)
        add_leaves(children[i], hash);
      return;
    }
    hash = mix(hash, static_cast<std::size_t>(argument.kind));
    if (argument.kind == ArgumentKind::integer)
      hash = mix(hash, static_cast<std::size_t>(argument.integer == -1 ? -2 : argument.integer));
    else if (argument.kind == ArgumentKind::real && !is_strict_ && argument.real == -1)
      hash = mix(hash, std::bit_cast<std::uint64_t>(-2.0));
    else if (argument.kind != ArgumentKind::none)
      hash = mix(hash, static_cast<std::size_t>(payload(argument)));
  }

  // The bits of the active union member.
  static std::uint64_t payload(const Argument& argument) {
    switch (argument.kind) {
      case ArgumentKind::boolean:
      case ArgumentKind::integer:
        return static_cast<std::uint64_t>(argument.integer);
      case ArgumentKind::real:
        return std::bit_cast<std::uint64_t>(argument.real);
      default:
        return argument.index;
    }
  }

  [[nodiscard]] bool equal(const Argument& a, const Argument& b) const {
    if (a.kind != b.kind || a.count != b.count) return false;
    if (a.kind == ArgumentKind::none) return true;
    if (a.kind == ArgumentKind::opaque || a.kind == ArgumentKind::raw) return false;
    if (!a.has_children())
      return payload(a) == payload(b) &&
             (is_strict_ || a.kind != ArgumentKind::real || a.real == b.real);
    const auto left = graph_.children(a), right = graph_.children(b);
    return std::equal(left.begin(), left.end(), right.begin(),
                      [&](const Argument& x, const Argument& y) { return equal(x, y); });
  }

  Graph& graph_;
  const bool is_strict_;                           // the rules of torch 2.14 and later
  std::vector<bool> is_for_backward_, is_buffer_;  // by node; only if strict
  std::unordered_map<StringId, std::string> places_;
  std::vector<NodeId> replacement_;      // by node
  std::vector<bool> is_returned_;        // by storage
  std::vector<StorageId> twin_storage_;  // by real storage
  std::vector<StorageId> kept_number_;   // by storage of an erased call: its twin's
  std::vector<NodeId> written_;
  std::size_t region_ = 0;
  std::unordered_map<NodeId, std::size_t> regions_;
  std::unordered_map<std::size_t, NodeId> calls_;  // by hash
};

}  // namespace

void merge_common_subexpressions(Graph& graph) {
  Merger(graph).run();
}

}  // namespace jointer
