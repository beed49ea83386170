// Common subexpressions as torch._functorch.compile_utils.fx_graph_cse merges them.
//
// In program order, a call is replaced by an earlier one if both call the same operator with the
// same arguments, after replacement, in the same nesting, and no write stands between them (torch's
// mutation regions: they are numbered by the writing calls before a node). Kept apart are
// placeholders, constants, the output; random operators and aten.empty (`unmerged` in the operator
// table); and whatever shares a storage with a tensor that the graph returns, since eager mode
// returns separate tensors.
//
// Views of a call that goes become views of its twin's storage. (Torch leaves them described as
// views of the one that is gone, and counts its memory again.)
//
// Deviations: 0.0 and -0.0 are different arguments (Python takes them as equal, and merges calls
// that give different results); an argument that the capture could not describe is equal to none.
//
// Cost: linear in the arguments, by hashing.

#include "core/partition/common_subexpressions.h"

#include <algorithm>
#include <bit>
#include <unordered_map>

#include "core/graph/effects.h"

namespace jointer {
namespace {

using Kind = Argument::Kind;

class Merger {
 public:
  explicit Merger(Graph& graph) : graph_(graph), replacement_(graph.node_count()) {
    for (std::size_t i = 0; i < replacement_.size(); ++i) replacement_[i] = NodeId(i);
  }

  void run() {
    find_returned_storages();
    std::vector<NodeId> merged;
    const std::vector<NodeId> order(graph_.order().begin(), graph_.order().end());
    for (const NodeId id : order) {
      if (writes(id)) ++region_;
      regions_.emplace(id, region_);
      rewire(id);
      if (!may_merge(id)) continue;
      auto& [first, twin] = find_twin(id);
      if (!twin) {
        twin = id;
      } else if (regions_.at(twin) == region_) {
        replacement_[id.index()] = twin;
        join_storages(id, twin);
        merged.push_back(id);
      } else {
        twin = id;  // later twins are compared with the one after the write
      }
    }
    graph_.erase(merged);
    move_views();
    // What the graph returns may be read from another call now.
    for (OutputEntry& entry : graph_.part(PartId(0)).outputs)
      if (entry.node) entry.node = replacement_[entry.node.index()];
  }

 private:
  using Entry = std::pair<const std::size_t, NodeId>;

  void find_returned_storages() {
    is_returned_.assign(graph_.storage_count(), false);
    const auto order = graph_.order();
    if (order.empty()) return;
    for (const NodeId id : graph_.inputs(order.back()))
      if (const Tensor* tensor = graph_.single_tensor(graph_.node(id));
          tensor != nullptr && tensor->storage)
        is_returned_[tensor->storage.index()] = true;
  }

  bool writes(NodeId id) {
    written_.clear();
    written_arguments(graph_, graph_.node(id), written_);
    return !written_.empty();
  }

  [[nodiscard]] bool may_merge(NodeId id) const {
    const Node& node = graph_.node(id);
    if (node.kind != NodeKind::call || graph_.op(node).has(OperatorTag::unmerged)) return false;
    const Tensor* tensor = graph_.single_tensor(node);
    return tensor == nullptr || !tensor->storage || !is_returned_[tensor->storage.index()];
  }

  // What the twin made stands for what the call would have made.
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

  // What holds a storage's tensors now. A call that is kept may itself view what a call that went
  // made, so this is asked before two are joined: they would go round in circles.
  [[nodiscard]] StorageId resolved(StorageId storage) const {
    storage = graph_.real_storage(storage);
    while (!twin_storage_.empty() && twin_storage_[storage.index()])
      storage = twin_storage_[storage.index()];
    return storage;
  }

  // Captures number what a wait returns apart from its collective's buffer, which is one storage
  // with it only while the wait is there: what viewed the wait that went views the one that stays.
  [[nodiscard]] StorageId number_now(StorageId storage) const {
    const StorageId now = resolved(storage), number = number_of(storage);
    return graph_.real_storage(number) == now ? number : now;
  }
  // Joined by their last ones, like `resolved`: what views a wait that went may itself be kept for
  // what views the wait that stays.
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

  // Lets a node read what its inputs were replaced by.
  void rewire(NodeId id) {
    const auto inputs = graph_.inputs(id);
    const bool changes = std::any_of(inputs.begin(), inputs.end(), [&](NodeId input) {
      return replacement_[input.index()] != input;
    });
    if (!changes) return;
    Node& node = graph_.node(id);
    node.args = replaced(node.args);
    node.kwargs = replaced(node.kwargs);
    graph_.refresh(id);
  }

  Argument replaced(const Argument& argument) {
    if (argument.kind == Kind::node)
      return argument.node() ? Argument::of_node(replacement_[argument.node().index()]) : argument;
    if (!argument.has_children()) return argument;
    const auto children = graph_.children(argument);
    std::vector<Argument> copies(children.begin(), children.end());
    for (Argument& copy : copies) copy = replaced(copy);
    return graph_.make_children(argument.kind, copies);
  }

  // The place of the last call that this one is equal to, or a free place for it.
  Entry& find_twin(NodeId id) {
    const Node& node = graph_.node(id);
    const std::size_t hash =
        mix(mix(node.target.index(), hash_of(node.args)), hash_of(node.kwargs));
    auto [begin, end] = calls_.equal_range(hash);
    for (auto it = begin; it != end; ++it) {
      const Node& other = graph_.node(it->second);
      if (other.target == node.target && equal(node.args, other.args) &&
          equal(node.kwargs, other.kwargs))
        return *it;
    }
    return *calls_.emplace(hash, NodeId{});
  }

  static std::size_t mix(std::size_t a, std::size_t b) {
    return (a ^ (b + 0x9e3779b97f4a7c15ULL + (a << 6) + (a >> 2))) * 0xff51afd7ed558ccdULL;
  }

  [[nodiscard]] std::size_t hash_of(const Argument& argument) const {
    std::size_t hash = mix(static_cast<std::size_t>(argument.kind), argument.count);
    if (argument.has_children())
      for (const Argument& child : graph_.children(argument)) hash = mix(hash, hash_of(child));
    else if (argument.kind != Kind::none)
      hash = mix(hash, static_cast<std::size_t>(payload(argument)));
    return hash;
  }

  // Whichever member of the union counts.
  static std::uint64_t payload(const Argument& argument) {
    switch (argument.kind) {
      case Kind::boolean:
      case Kind::integer:
        return static_cast<std::uint64_t>(argument.integer);
      case Kind::real:
        return std::bit_cast<std::uint64_t>(argument.real);
      default:
        return argument.index;
    }
  }

  [[nodiscard]] bool equal(const Argument& a, const Argument& b) const {
    if (a.kind != b.kind || a.count != b.count) return false;
    if (a.kind == Kind::none) return true;
    if (a.kind == Kind::opaque || a.kind == Kind::raw) return false;
    if (!a.has_children())
      return payload(a) == payload(b) && (a.kind != Kind::real || a.real == b.real);
    const auto left = graph_.children(a), right = graph_.children(b);
    return std::equal(left.begin(), left.end(), right.begin(),
                      [&](const Argument& x, const Argument& y) { return equal(x, y); });
  }

  Graph& graph_;
  std::vector<NodeId> replacement_;      // by node
  std::vector<bool> is_returned_;        // by storage
  std::vector<StorageId> twin_storage_;  // by real storage
  std::vector<StorageId> kept_number_;   // by storage of a call that went: its twin's
  std::vector<NodeId> written_;
  std::size_t region_ = 0;
  std::unordered_map<NodeId, std::size_t> regions_;
  std::unordered_multimap<std::size_t, NodeId> calls_;  // by hash
};

}  // namespace

void merge_common_subexpressions(Graph& graph) {
  Merger(graph).run();
}

}  // namespace jointer
