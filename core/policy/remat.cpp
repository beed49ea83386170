// selective_activation_remat: applies the tags of a flat training step.
//
// Terms: a call is recomputable if it is a forward call that is tagged PREFER_RECOMPUTE or
// MUST_RECOMPUTE. A region is a run of backward calls with nothing but constants between them. The
// loss and the head (the modules `loss` and `lm_head`) have their own backward before that of the
// layers. Regions count only if they come after all nodes of the loss and the head that precede the
// layers' backward.
//
// Steps:
//   1. At most one region may read recomputable values.
//   2. All recomputable calls that a call in that region reads, directly or through other
//      recomputable calls, are recomputed, each before the first call that needs it. If one of them
//      writes to the memory of another, both are recomputed before the first call that needs
//      either.
//   3. A copy of each, named NAME_recomputed, is inserted there, in the order of the originals. If
//      an input has a copy, the copy reads that. If an input is offloaded (cpu_offload.h), the copy
//      reads the value copied back from the host, which moves before the copy if necessary.
//      Subgraphs that a call runs (such as score_mod in attention) are constants; each copy has its
//      own.
//   4. Backward calls after a copy read the copy instead of the original; views of the original
//      then use the copy's memory.
//   5. Originals without readers are removed, last first, except those that write to memory that
//      other nodes keep.
//   6. Every getitem is moved right after the call whose result it reads, so that the rest of the
//      tuple is freed. If a placeholder is in between, the elements of that tuple stay.
//
// Cost: linear in the nodes and their readers; the edit has one change per copy of a call or
// subgraph, redirected reader, removed original and moved group of nodes.
//
// Source: the pass of the same name in torchtitan's graph trainer (2026); it resembles torch's
// remat_using_tags_for_fwd_loss_bwd_graph, but works in place. Attention with a dropout of 0 may be
// recomputed, as in torch since 2.15.
//
// Deviations:
//   - A copy has no tag, so that the pass can run twice.
//   - A backward call before the copy still reads the original (with upstream, it reads a value
//     that does not exist yet).
//   - Writes may be errors (upstream writes twice): a recomputed call that writes to memory that is
//     not recomputed, and a call that writes to recomputed memory but is not recomputed itself.
//     Both checks consider whole storages. A write between a call and its copy is an error if it
//     changes bytes that the call reads.
//   - Nodes of the loss within or after the layers' backward do not count. Sums of gradients belong
//     to the module that ran last, so upstream may find nothing to recompute.

#include "core/policy/remat.h"

#include <algorithm>
#include <functional>
#include <map>
#include <unordered_set>

#include "core/base/counted.h"
#include "core/capture/subgraph_constants.h"
#include "core/edit/make_record.h"
#include "core/edit/refuse.h"
#include "core/graph/effects.h"
#include "core/graph/memory_access.h"
#include "core/graph/recomputed_name.h"
#include "core/partition/fx_names.h"
#include "core/partition/half_order.h"
#include "core/partition/random_states.h"
#include "core/partition/recompute_tags.h"
#include "core/partition/remat_order.h"
#include "core/partition/step_offload.h"
#include "core/policy/flat_step.h"
#include "core/policy/plan_makers.h"

namespace jointer {
namespace {

// The nodes of a tagged flat training step, for RematOrder.
class TaggedNodes : public GraphNodes {
 public:
  explicit TaggedNodes(const Graph& graph) : GraphNodes(graph), back_(values_copied_back(graph)) {}

  [[nodiscard]] NodeId back(NodeId id) const { return back_[id.index()]; }
  [[nodiscard]] bool is_call(NodeId id) const { return graph_.node(id).kind == NodeKind::call; }
  [[nodiscard]] bool is_backward_call(NodeId id) const {
    return is_call(id) && graph_.node(id).phase == Phase::backward;
  }
  [[nodiscard]] bool is_recomputable(NodeId id) const {
    const jointer::Node& n = graph_.node(id);
    return is_call(id) && n.phase == Phase::forward && must_recompute(n);
  }
  [[nodiscard]] bool is_wall(NodeId id) const {
    const NodeKind kind = graph_.node(id).kind;
    return kind == NodeKind::placeholder || kind == NodeKind::output;
  }

 private:
  std::vector<NodeId> back_;  // indexed by node id: the value copied back from the host
};

using OrderedNode = RematOrder<TaggedNodes>::OrderedNode;

class Rematerializer {
 public:
  explicit Rematerializer(const Graph& graph)
      : graph_(graph), owners_(graph), nodes_(graph), order_(nodes_) {}

  Result<Edit> run() {
    JOINTER_CHECK(check_flat(graph_));
    Edit edit{.title = "Nothing is recomputed", .by = "selective_activation_remat"};
    JOINTER_CHECK(check_random());
    JOINTER_CHECK(find_region());
    if (region_.empty()) {
      edit.notes.push_back(why_nothing());
      return edit;
    }
    makers_ = memory_makers(graph_);
    order_.gather(region_);
    bring_writers_along();
    JOINTER_CHECK(check_writes());
    find_subgraphs();
    copies_.resize(graph_.node_count());
    for (const NodeId id : gathered())
      copies_[id.index()] = unused_name(graph_, name(id) + std::string(kRecomputedSuffix));
    changes_.reserve(2 * gathered().size() + region_.size());
    for (const NodeId id : gathered()) copy(id);
    redirect();
    const std::size_t removed = erase();
    raise_getitems();
    edit.changes = std::move(changes_);
    edit.title = fmt::format("Recompute {} in the backward", counted(gathered().size(), "call"));
    if (removed > 0)
      edit.notes.push_back(counted(removed,
                                   "original was needed only by the backward and is removed.",
                                   "originals were needed only by the backward and are removed."));
    return edit;
  }

 private:
  // Explains why the graph has no region that reads recomputable values.
  [[nodiscard]] std::string why_nothing() const {
    const auto order = graph_.order();
    const auto tagged = static_cast<std::size_t>(
        std::ranges::count_if(order, [&](NodeId id) { return is_recomputable(id); }));
    if (tagged == 0)
      return "No value is tagged for recomputation; tag values first, for example, with "
             "tag_with_memory_policy.";
    if (std::ranges::any_of(order, [&](NodeId id) {
          return is_backward_call(id) && graph_.node(id).has(Node::recomputed);
        }))
      return "The tagged values that the backward needs are already recomputed.";
    if (tagged == 1)
      return "The backward of the layers does not read the only value that is tagged for "
             "recomputation.";
    return fmt::format(
        "The backward of the layers reads none of the {} that are tagged for recomputation.",
        counted(tagged, "value"));
  }
  [[nodiscard]] std::string name(NodeId id) const { return std::string(graph_.name(id)); }

  [[nodiscard]] bool is_backward_call(NodeId id) const { return nodes_.is_backward_call(id); }
  [[nodiscard]] bool is_recomputable(NodeId id) const { return nodes_.is_recomputable(id); }
  [[nodiscard]] const std::vector<NodeId>& gathered() const { return order_.gathered(); }

  // Attention without dropout is tagged as a random operator but draws no random numbers.
  [[nodiscard]] bool draws(const Node& n) const {
    return graph_.op(n).has(OperatorTag::random) && !draws_nothing(graph_, n);
  }

  [[nodiscard]] Result<void> check_random() const {
    for (const NodeId id : graph_.order())
      if (is_recomputable(id) && draws(graph_.node(id)))
        return refuse(
            "{} ({}) is tagged for recomputation but draws random numbers, which would be "
            "different the second time; save it",
            graph_.name(id), graph_.target(graph_.node(id)));
    return {};
  }

  // --- Steps 1 and 2: recomputed calls ---

  Result<void> find_region() {
    for (std::vector<NodeId>& run : backward_runs(graph_)) {
      const bool needs = std::ranges::any_of(run, [&](NodeId id) {
        return std::ranges::any_of(graph_.inputs(id),
                                   [&](NodeId input) { return is_recomputable(input); });
      });
      if (needs && !region_.empty())
        return refuse(
            "two parts of the backward, starting at {} and at {}, read values that are tagged for "
            "recomputation, but only one part can; save the values that the other reads",
            graph_.name(region_.front()), graph_.name(run.front()));
      if (needs) region_ = std::move(run);
    }
    return {};
  }

  // If recomputed calls share memory that one of them writes to, recomputes all of them before the
  // first call that needs any of them, in their original order, so that readers see what was
  // written.
  void bring_writers_along() {
    std::map<NodeId, std::vector<NodeId>> groups;  // by the node that allocated the memory
    for (const NodeId id : gathered()) {
      for (const NodeId to : written_arguments(graph_, graph_.node(id)))
        groups[makers_[to.index()]];
    }
    if (groups.empty()) return;
    for (const NodeId id : gathered()) {
      const auto join = [&](NodeId maker) {
        const auto group = groups.find(maker);
        if (group != groups.end()) group->second.push_back(id);
      };
      join(makers_[id.index()]);
      for (const NodeId input : graph_.inputs(id)) join(makers_[input.index()]);
    }
    for (bool has_changed = true; has_changed;) {
      has_changed = false;
      for (const auto& [maker, group] : groups) {
        std::size_t first = order_.before(group.front());
        for (const NodeId id : group) first = std::min(first, order_.before(id));
        for (const NodeId id : group) has_changed = order_.bring_before(id, first) || has_changed;
      }
    }
  }

  [[nodiscard]] Result<void> check_writes() const {
    const auto maker_runs_again = [&](NodeId id) {
      return order_.is_gathered(makers_[id.index()]);
    };
    for (const NodeId id : gathered()) {
      for (const NodeId to : written_arguments(graph_, graph_.node(id)))
        if (!maker_runs_again(to))
          return refuse(
              "{0} ({1}) cannot run twice because it writes to {2}, which is not recomputed; save "
              "{0}",
              graph_.name(id), graph_.target(graph_.node(id)), graph_.name(to));
    }
    // The writers that run only once, by the call that allocated the memory to which they write.
    std::map<NodeId, std::vector<NodeId>> writers;
    for (const NodeId id : graph_.order()) {
      if (order_.is_gathered(id)) continue;
      for (const NodeId to : written_arguments(graph_, graph_.node(id)))
        writers[makers_[to.index()]].push_back(id);
    }
    for (const NodeId id : gathered()) {
      JOINTER_CHECK(check_memory(id, makers_[id.index()], writers));
      for (const NodeId input : graph_.inputs(id))
        JOINTER_CHECK(check_memory(id, makers_[input.index()], writers));
    }
    return {};
  }

  // Checks that the copy of a call reads the same memory contents as the original: no call between
  // the two may write to the bytes that they read and, if the call that allocated the memory is
  // recomputed, all writes to it must be recomputed too.
  [[nodiscard]] Result<void> check_memory(
      NodeId id, NodeId maker, const std::map<NodeId, std::vector<NodeId>>& writers) const {
    const auto found = writers.find(maker);
    if (found == writers.end()) return {};
    for (const NodeId writer : found->second) {
      const std::size_t place = graph_.position(writer);
      const bool is_between = place > graph_.position(id) && place < order_.before(id);
      const auto changes_bytes = [&] {
        return lacks_tensors(writer, maker) || lacks_tensors(id, maker) ||
               writes_to_used(graph_, writer, id);
      };
      if (order_.is_gathered(maker) || (is_between && changes_bytes()))
        return refuse(
            "{0} writes to memory that {1} uses, but {1} is tagged for recomputation; save {1}",
            graph_.name(writer), graph_.name(id));
    }
    return {};
  }

  // True if the capture does not say which tensors the call or one of its inputs returns in the
  // maker's memory, so that their offsets are unknown.
  [[nodiscard]] bool lacks_tensors(NodeId call, NodeId maker) const {
    const auto is_unknown = [&](NodeId id) {
      return makers_[id.index()] == maker && graph_.tensors(id).empty();
    };
    return is_unknown(call) || std::ranges::any_of(graph_.inputs(call), is_unknown);
  }

  // --- Step 3: copies ---

  void find_subgraphs() {
    const auto reads_constant = [&](NodeId id) {
      return std::ranges::any_of(graph_.inputs(id), [&](NodeId input) {
        return graph_.node(input).kind == NodeKind::get_attr;
      });
    };
    if (std::ranges::none_of(gathered(), reads_constant)) return;
    subgraphs_ = subgraph_constants(graph_.part(PartId(0)).constants);
    if (!subgraphs_.empty()) names_ = names_of(graph_, PartId(0));
  }
  [[nodiscard]] bool is_subgraph(NodeId id) const {
    return subgraphs_.contains(std::string(graph_.target(graph_.node(id))));
  }

  void copy(NodeId id) {
    const NodeId before = graph_.order()[order_.before(id)];
    for (const NodeId input : graph_.inputs(id))
      if (const NodeId back = nodes_.back(input)) bring_back_before(back, before);
    const std::unordered_map<NodeId, std::string> subgraphs = copy_subgraphs(id, before);
    const auto argument = [&](NodeId input) -> std::string_view {
      if (const auto subgraph = subgraphs.find(input); subgraph != subgraphs.end())
        return subgraph->second;
      if (const NodeId back = nodes_.back(input)) return graph_.name(back);
      return copies_[input.index()];
    };
    find_memory(id, true, [&](NodeId input) { return order_.is_gathered(input); });
    const auto record = std::make_shared<NodeRecord>();
    record->name = copies_[id.index()];
    record->copy = graph_.name(id);
    record->inputs.emplace();
    record->like = graph_.name(id);
    record->marks = in_backward_;
    for (const NodeId input : graph_.inputs(id))
      if (const std::string_view now = argument(input); !now.empty())
        record->inputs->emplace_back(graph_.name(input), now);
    if (graph_.node(id).has(Node::has_value))
      record->val = record_value(graph_, owners_, id, memory_of(id));
    changes_.emplace_back(InsertNode{.node = {record}, .before = name(before)});
    order_.insert_before(order_.before(id), {id, true});
  }

  // `id` is a copied call or a call that reads a copy. If its tensors are in the memory of an
  // input, records where they are now: in the memory of a copy or of a value copied back from the
  // host, or where they were.
  template <class ReadsCopy>
  void find_memory(NodeId id, bool is_copy, ReadsCopy reads_copy) {
    for (const Tensor& t : graph_.tensors(id)) {
      if (!t.storage) continue;
      const NodeId owner = owners_.of(t.storage).node;
      const auto lies_in = [&](NodeId input) {
        return std::ranges::any_of(graph_.tensors(input), [&](const Tensor& of) {
          return of.storage && owners_.of(of.storage).node == owner;
        });
      };
      const auto inputs = graph_.inputs(id);
      const auto input = std::ranges::find_if(inputs, lies_in);
      Memory now;
      if (input == inputs.end()) {
        if (is_copy) now.node = copies_[owner.index()];
      } else if (const NodeId back = is_copy ? nodes_.back(*input) : NodeId{}) {
        now = {.node = graph_.name(back), .is_copied_back = true};
      } else if (const auto known = memory_.find({*input, owner});
                 known != memory_.end() && (reads_copy(*input) || !order_.is_gathered(*input))) {
        now = known->second;
      }
      if (!now.node.empty()) memory_[{id, owner}] = now;
    }
  }
  // For record_value: maps an owner of memory to the tensor in whose memory the tensors of the
  // copied or redirected call are now. A copy has the tensors of its original; a value copied back
  // from the host is one tensor, even if the offloaded one was part of a tuple.
  [[nodiscard]] std::function<NamedTensor(StorageOwners::Owner)> memory_of(NodeId id) const {
    return [this, id](StorageOwners::Owner owner) -> NamedTensor {
      const auto known = memory_.find({id, owner.node});
      if (known == memory_.end()) return {};
      const Memory& now = known->second;
      return {.node = now.node, .tensor = now.is_copied_back ? 0 : owner.tensor};
    };
  }

  // Copies the subgraphs that a call reads, and places them before the copy of the call. Returns
  // the names of the copied constants.
  std::unordered_map<NodeId, std::string> copy_subgraphs(NodeId reader, NodeId before) {
    std::unordered_map<NodeId, std::string> copied;
    for (const NodeId id : graph_.inputs(reader)) {
      if (graph_.node(id).kind != NodeKind::get_attr || !is_subgraph(id)) continue;
      const std::string target(graph_.target(graph_.node(id)));
      constants_.push_back(names_.create(fx_attribute_name(target)));
      copied.emplace(id, constants_.back());
      changes_.emplace_back(InsertNode{.node = NodeRecord{.name = constants_.back(),
                                                          .op = NodeKind::get_attr,
                                                          .target = target,
                                                          .like = name(id)},
                                       .before = name(before)});
      order_.insert_before(graph_.position(before), {id, true, constants_.size()});
    }
    return copied;
  }

  // Moves `back`, a value copied back from the host, to the position right before `place`, together
  // with the backward calls on which it depends.
  void bring_back_before(NodeId back, NodeId place) {
    const std::vector<NodeId> moved = order_.bring_back_before(back, graph_.position(place));
    if (moved.empty()) return;
    MoveNodes move{.nodes = {}, .before = name(place)};
    for (const NodeId id : moved) move.nodes.push_back(name(id));
    changes_.emplace_back(std::move(move));
  }

  // --- Steps 4 to 6 ---

  void redirect() {
    std::vector<bool> is_redirected(graph_.node_count(), false);
    for (const NodeId reader : graph_.order()) {
      if (!is_backward_call(reader)) continue;
      const auto inputs = graph_.inputs(reader);
      const auto reads_one = [&](NodeId input) {
        return order_.is_gathered(input) && order_.reads_copy(reader, input);
      };
      // Views of a redirected value also change their storage.
      if (std::none_of(inputs.begin(), inputs.end(), [&](NodeId input) {
            return reads_one(input) || is_redirected[input.index()];
          }))
        continue;
      ReplaceCall replace{.node = name(reader), .target = {}, .args = {}, .kwargs = {}};
      for (const NodeId input : inputs)
        if (reads_one(input)) replace.inputs.emplace_back(name(input), copies_[input.index()]);
      // Views of the original become views of the copy.
      find_memory(reader, false, reads_one);
      is_redirected[reader.index()] =
          std::ranges::any_of(graph_.tensors(reader), [&](const Tensor& t) {
            return t.storage && memory_.contains({reader, owners_.of(t.storage).node});
          });
      if (is_redirected[reader.index()])
        replace.val = record_value(graph_, owners_, reader, memory_of(reader));
      if (replace.is_of_call()) changes_.emplace_back(std::move(replace));
    }
  }

  std::size_t erase() {
    std::vector<std::uint8_t> stays(graph_.node_count(), 0);
    order_.find_unread(stays);
    while (keep_writers(stays)) order_.find_unread(stays);
    std::size_t removed = 0;
    for (std::size_t i = gathered().size(); i-- > 0;) {
      if (!order_.is_erased(gathered()[i])) continue;
      ++removed;
      changes_.emplace_back(RemoveNode{.node = name(gathered()[i])});
    }
    return removed;
  }

  // Keeps calls that write to memory that is not removed, since they have an effect even if no node
  // reads their results. Returns true if any call was kept.
  bool keep_writers(std::vector<std::uint8_t>& stays) const {
    bool has_kept = false;
    for (const NodeId id : gathered()) {
      if (!order_.is_erased(id)) continue;
      for (const NodeId to : written_arguments(graph_, graph_.node(id))) {
        if (order_.is_erased(makers_[to.index()]) || stays[id.index()] != 0) continue;
        stays[id.index()] = 1;
        has_kept = true;
      }
    }
    return has_kept;
  }

  [[nodiscard]] std::string name(const OrderedNode& at) const {
    if (at.constant > 0) return constants_[at.constant - 1];
    return at.is_copy ? copies_[at.node.index()] : name(at.node);
  }
  void raise_getitems() {
    const std::vector<OrderedNode> order = order_.order();
    for (const auto& raise : order_.raises(order)) {
      MoveNodes move{.nodes = {}, .before = name(order[raise.next])};
      for (const std::size_t i : raise.parts) move.nodes.push_back(name(order[i]));
      changes_.emplace_back(std::move(move));
    }
  }

  const Graph& graph_;
  StorageOwners owners_;
  TaggedNodes nodes_;
  RematOrder<TaggedNodes> order_;
  std::vector<NodeId> makers_;  // indexed by node id: the node that allocated its memory
  std::vector<NodeId> region_;
  // The node in whose memory tensors are now; `is_copied_back` if it copies them from the host.
  struct Memory {
    std::string_view node;
    bool is_copied_back = false;
  };
  // Maps a copied or redirected call and a former owner of its tensors' memory to the node in whose
  // memory these tensors are now.
  std::map<std::pair<NodeId, NodeId>, Memory> memory_;
  std::vector<std::string> copies_;            // indexed by node id: the name of its copy, or empty
  std::unordered_set<std::string> subgraphs_;  // targets of the constants that are subgraphs
  std::vector<std::string> constants_;         // names of copied constants, by number
  FxNames names_;
  Shared<NodeMarks> in_backward_{NodeMarks{.autograd_backward = true}};
  std::vector<Change> changes_;
};

}  // namespace

Result<Edit> selective_activation_remat(const Graph& graph) {
  return Rematerializer(graph).run();
}

}  // namespace jointer
