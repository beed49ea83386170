// selective_activation_remat: applies the tags of a flat training step.
//
// Terms: a call is recomputable if it is of the forward and tagged PREFER_RECOMPUTE or
// MUST_RECOMPUTE. A region is a run of backward calls with nothing but constants between them. The
// loss and the head (modules named `loss` and `lm_head`) have their own backward before that of the
// layers. Only regions after the last loss or head node that precedes the layers' backward count.
//
// Steps:
//   1. At most one region may read recomputable values.
//   2. For every call of that region, in order, the recomputable calls that it reads, directly or
//      indirectly, are recomputed, each before the first call that needs it. If one writes to
//      memory of another, both are recomputed before the first call that needs either.
//   3. A copy of each, named NAME_recomputed, is inserted there, in the order of the originals.
//      Copies read other copies where they exist. If one reads an offloaded value (cpu_offload.h),
//      it reads the value copied back, and the copy back moves before it if necessary. Subgraphs
//      that a call runs (score_mod of attention) are constants; each copy has its own.
//   4. Backward calls after a copy read the copy instead of the original; views of it lie in the
//      copy's memory.
//   5. Originals without readers are removed, last first, except those that write to memory that
//      stays.
//   6. Every getitem is placed right after the call whose result it reads, so that the rest of the
//      tuple is freed.
//
// Cost: linear in the nodes and their readers; the edit has one change per copy, redirected reader
// and removed original.
//
// Source: torchtitan's graph trainer, its pass of the same name (2026); like torch's
// remat_using_tags_for_fwd_loss_bwd_graph, but in place. Attention whose dropout is 0 may be
// recomputed, as since torch 2.15.
//
// Deviations:
//   - A copy has no tag, so that the pass may run twice.
//   - A backward call before the copy keeps reading the original (upstream's would read a value
//     that does not exist yet).
//   - A recomputable call that writes to memory that is not recomputed is an error (upstream writes
//     twice), and so is a call that writes to recomputed memory and runs once. Both are judged by
//     whole storages. A write between a call and its copy is an error if it changes bytes that the
//     call reads.
//   - Nodes of the loss within or after the layers' backward do not count (sums of gradients have
//     the name of the module that ran last, and upstream then finds nothing to do).

#include "core/policy/remat.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_set>

#include "core/base/counted.h"
#include "core/capture/subgraph_constants.h"
#include "core/edit/make_record.h"
#include "core/edit/refuse.h"
#include "core/graph/effects.h"
#include "core/graph/layers.h"
#include "core/graph/memory_access.h"
#include "core/graph/module_tree.h"
#include "core/graph/recomputed_name.h"
#include "core/graph/users.h"
#include "core/partition/fx_names.h"
#include "core/policy/flat_step.h"
#include "core/policy/plan_makers.h"

namespace jointer {
namespace {

// A node of the resulting graph: an original node or a copy.
struct Standing {
  NodeId node;
  bool is_copy = false;
  std::size_t constant = 0;  // for the copy of a constant: its number, from 1
  friend bool operator==(const Standing&, const Standing&) = default;
};

class Rematerializer {
 public:
  explicit Rematerializer(const Graph& graph)
      : graph_(graph), users_(graph), owners_(graph), before_(graph.node_count()) {}

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
    gather();
    bring_writers_along();
    JOINTER_CHECK(check_writes());
    find_offloaded();
    find_subgraphs();
    copies_.resize(graph_.node_count());
    for (const NodeId id : gathered_)
      copies_[id.index()] = unused_name(graph_, name(id) + std::string(kRecomputedSuffix));
    changes_.reserve(2 * gathered_.size() + region_.size());
    for (const NodeId id : gathered_) copy(id);
    redirect();
    const std::size_t removed = erase();
    raise_getitems();
    edit.changes = std::move(changes_);
    edit.title = fmt::format("Recompute {} in the backward", counted(gathered_.size(), "call"));
    edit.notes.push_back(counted(removed,
                                 "original was needed only by the backward and is removed.",
                                 "originals were needed only by the backward and are removed."));
    return edit;
  }

 private:
  // The reason that a graph has no region to recompute.
  [[nodiscard]] std::string why_nothing() const {
    const auto order = graph_.order();
    const auto tagged = static_cast<std::size_t>(
        std::ranges::count_if(order, [&](NodeId id) { return is_recomputable(id); }));
    if (tagged == 0)
      return "No value is tagged for recompute; tag values first, for example with "
             "tag_with_memory_policy.";
    if (std::ranges::any_of(order, [&](NodeId id) {
          return is_backward_call(id) && graph_.node(id).has(Node::recomputed);
        }))
      return "The tagged values that the backward needs are recomputed already.";
    return fmt::format("The backward of the layers reads none of the {} tagged for recompute.",
                       counted(tagged, "value that is", "values that are"));
  }
  [[nodiscard]] std::string name(NodeId id) const { return std::string(graph_.name(id)); }

  [[nodiscard]] bool is_backward_call(NodeId id) const {
    const Node& n = graph_.node(id);
    return n.kind == NodeKind::call && n.phase == Phase::backward;
  }
  [[nodiscard]] bool is_recomputable(NodeId id) const {
    const Node& n = graph_.node(id);
    return n.kind == NodeKind::call && n.phase == Phase::forward &&
           (n.policy == MemoryPolicy::prefer_recompute || n.policy == MemoryPolicy::must_recompute);
  }

  // Attention without dropout is tagged as a random operator but draws no random numbers.
  [[nodiscard]] bool draws(const Node& n) const {
    const OperatorInfo& op = graph_.op(n);
    if (!op.has(OperatorTag::random)) return false;
    const int index = op.argument_index("dropout_p");
    if (index < 0) return true;
    const Argument* given = graph_.argument(n, "dropout_p");
    if (given == nullptr)
      return op.arguments[static_cast<std::size_t>(index)].default_value != "0.";
    return !((given->kind == Argument::Kind::real && given->real == 0) ||
             (given->kind == Argument::Kind::integer && given->integer == 0));
  }

  [[nodiscard]] Result<void> check_random() const {
    for (const NodeId id : graph_.order())
      if (is_recomputable(id) && draws(graph_.node(id)))
        return refuse(
            "{} ({}) draws random numbers and is tagged for recompute, which would draw different "
            "ones: save it",
            graph_.name(id), graph_.target(graph_.node(id)));
    return {};
  }

  // --- Steps 1 and 2: recomputed calls ---

  Result<void> find_region() {
    const ModuleTree modules(graph_);
    const auto order = graph_.order();
    std::size_t start = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
      const std::string& path = modules.module(modules.of(order[i])).path;
      if (is_backward_call(order[i]) && layer_of_path(path) != Layers::kNone) break;
      if (path == "loss" || path == "lm_head") start = i + 1;
    }
    std::vector<NodeId> run;
    const auto finish = [&]() -> Result<void> {
      const bool needs = std::any_of(run.begin(), run.end(), [&](NodeId id) {
        const auto inputs = graph_.inputs(id);
        return std::any_of(inputs.begin(), inputs.end(),
                           [&](NodeId input) { return is_recomputable(input); });
      });
      if (needs && !region_.empty())
        return refuse(
            "two parts of the backward, starting at {} and at {}, read values that are tagged for "
            "recompute, with other calls between them: only one part can do so",
            graph_.name(region_.front()), graph_.name(run.front()));
      if (needs) region_ = run;
      run.clear();
      return {};
    };
    for (std::size_t i = start; i < order.size(); ++i) {
      if (is_backward_call(order[i]))
        run.push_back(order[i]);
      else if (graph_.node(order[i]).kind != NodeKind::get_attr)
        JOINTER_CHECK(finish());
    }
    return finish();
  }

  void gather() {
    std::vector<NodeId> open;
    for (const NodeId reader : region_) {
      open.assign(graph_.inputs(reader).begin(), graph_.inputs(reader).end());
      while (!open.empty()) {
        const NodeId id = open.back();
        open.pop_back();
        if (!is_recomputable(id) || before_[id.index()]) continue;
        before_[id.index()] = reader;
        gathered_.push_back(id);
        open.insert(open.end(), graph_.inputs(id).begin(), graph_.inputs(id).end());
      }
    }
    std::sort(gathered_.begin(), gathered_.end(),
              [&](NodeId a, NodeId b) { return graph_.position(a) < graph_.position(b); });
  }

  // If recomputed calls share memory that one of them writes to, places all of them before the
  // first call that needs any of them, in their original order, so that readers see the writer's
  // result.
  void bring_writers_along() {
    std::map<NodeId, std::vector<NodeId>> groups;  // by maker
    std::vector<NodeId> written;
    for (const NodeId id : gathered_) {
      written.clear();
      written_arguments(graph_, graph_.node(id), written);
      for (const NodeId to : written) groups[makers_[to.index()]];
    }
    if (groups.empty()) return;
    for (const NodeId id : gathered_) {
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
        const NodeId first = *std::min_element(group.begin(), group.end(), [&](NodeId a, NodeId b) {
          return graph_.position(before_[a.index()]) < graph_.position(before_[b.index()]);
        });
        for (const NodeId id : group)
          has_changed = bring_before(id, before_[first.index()]) || has_changed;
      }
    }
  }

  // Moves the copy, and the copies that it reads, before `reader`. Returns true if that changed
  // anything.
  bool bring_before(NodeId id, NodeId reader) {
    bool has_changed = false;
    std::vector<NodeId> open{id};
    while (!open.empty()) {
      const NodeId at = open.back();
      open.pop_back();
      NodeId& before = before_[at.index()];
      if (!before || graph_.position(before) <= graph_.position(reader)) continue;
      before = reader;
      has_changed = true;
      open.insert(open.end(), graph_.inputs(at).begin(), graph_.inputs(at).end());
    }
    return has_changed;
  }

  [[nodiscard]] Result<void> check_writes() const {
    const auto maker_runs_again = [&](NodeId id) {
      return static_cast<bool>(before_[makers_[id.index()].index()]);
    };
    std::vector<NodeId> written;
    for (const NodeId id : gathered_) {
      written.clear();
      written_arguments(graph_, graph_.node(id), written);
      for (const NodeId to : written)
        if (!maker_runs_again(to))
          return refuse(
              "{} ({}) writes to {}, which is not recomputed, so it cannot run twice: save it",
              graph_.name(id), graph_.target(graph_.node(id)), graph_.name(to));
    }
    // The writers that run only once, keyed by the call that allocated the memory that they write
    // to.
    std::map<NodeId, std::vector<NodeId>> writers;
    for (const NodeId id : graph_.order()) {
      if (before_[id.index()]) continue;
      written.clear();
      written_arguments(graph_, graph_.node(id), written);
      for (const NodeId to : written) writers[makers_[to.index()]].push_back(id);
    }
    for (const NodeId id : gathered_) {
      JOINTER_CHECK(check_memory(id, makers_[id.index()], writers));
      for (const NodeId input : graph_.inputs(id))
        JOINTER_CHECK(check_memory(id, makers_[input.index()], writers));
    }
    return {};
  }

  // Checks that a copy of the call finds the same contents in memory as the original: no call
  // between the two writes to the bytes that it reads and, if the call that allocated the memory is
  // recomputed, all writes are recomputed too.
  [[nodiscard]] Result<void> check_memory(
      NodeId id, NodeId maker, const std::map<NodeId, std::vector<NodeId>>& writers) const {
    const auto found = writers.find(maker);
    if (found == writers.end()) return {};
    for (const NodeId writer : found->second) {
      const std::size_t place = graph_.position(writer);
      const bool is_between =
          place > graph_.position(id) && place < graph_.position(before_[id.index()]);
      const auto changes_bytes = [&] {
        return lacks_tensors(writer, maker) || lacks_tensors(id, maker) ||
               writes_to_used(graph_, writer, id);
      };
      if (before_[maker.index()] || (is_between && changes_bytes()))
        return refuse("{} writes to memory of {}, which is tagged for recompute: save it",
                      graph_.name(writer), graph_.name(id));
    }
    return {};
  }

  // True if the call or one of its inputs is at an unknown place in the maker's memory, because the
  // capture does not say which tensors that node returns.
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
    if (std::ranges::none_of(gathered_, reads_constant)) return;
    subgraphs_ = subgraph_constants(graph_.part(PartId(0)).constants);
    if (!subgraphs_.empty()) names_ = names_of(graph_, PartId(0));
  }
  [[nodiscard]] bool is_subgraph(NodeId id) const {
    return subgraphs_.contains(std::string(graph_.target(graph_.node(id))));
  }

  // Finds F -> ao.offload -> ao.wait_tensor -> ao.reload -> ao.wait_tensor, as inserted by
  // cpu_offload.h.
  void find_offloaded() {
    back_.assign(graph_.node_count(), NodeId{});
    is_read_back_.assign(graph_.node_count(), false);
    const auto reader = [&](NodeId id, std::string_view target) {
      const auto users = users_.of(id);
      const auto it = std::find_if(users.begin(), users.end(), [&](NodeId user) {
        return graph_.target(graph_.node(user)) == target && graph_.inputs(user).front() == id;
      });
      return it == users.end() ? NodeId{} : *it;
    };
    for (const NodeId id : graph_.order()) {
      if (graph_.node(id).kind != NodeKind::call ||
          graph_.target(graph_.node(id)) != "ao.offload.default" || graph_.inputs(id).empty())
        continue;
      NodeId at = reader(id, "ao.wait_tensor.default");
      if (at) at = reader(at, "ao.reload.default");
      if (at) at = reader(at, "ao.wait_tensor.default");
      if (at) back_[graph_.inputs(id).front().index()] = at;
    }
  }

  void copy(NodeId id) {
    const NodeId before = before_[id.index()];
    for (const NodeId input : graph_.inputs(id)) {
      if (const NodeId back = back_[input.index()]) {
        bring_back_before(back, before);
        is_read_back_[input.index()] = true;
        reads_back_.insert(id);
      } else if (before_[input.index()] && reads_back_.contains(input)) {
        reads_back_.insert(id);
      }
    }
    const std::unordered_map<NodeId, std::string> subgraphs = copy_subgraphs(id, before);
    const auto argument = [&](NodeId input) -> std::string_view {
      if (const auto subgraph = subgraphs.find(input); subgraph != subgraphs.end())
        return subgraph->second;
      if (const NodeId back = back_[input.index()]) return graph_.name(back);
      return copies_[input.index()];
    };
    // A view of a value that was copied back is in the same memory as that value.
    const bool is_back = reads_back_.contains(id);
    const auto owner = [&](NodeId of) -> std::string_view {
      return is_back && is_read_back_[of.index()] ? graph_.name(back_[of.index()])
                                                  : copies_[of.index()];
    };
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
      record->val = record_value(graph_, owners_, id, owner);
    changes_.emplace_back(InsertNode{.node = {record}, .before = name(before)});
    ahead_[before].push_back({id, true});
  }

  // Copies the constants that are graphs, and places the copies before the copy of the call that
  // reads them. Returns the names of the copies.
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
      ahead_[before].push_back({id, true, constants_.size()});
    }
    return copied;
  }

  // Moves an offloaded value's copy from the host, and the backward calls that it depends on,
  // before `place`.
  void bring_back_before(NodeId back, NodeId place) {
    std::vector<NodeId> chain;
    std::vector<NodeId> open{back};
    while (!open.empty()) {
      const NodeId id = open.back();
      open.pop_back();
      if (!is_backward_call(id) || place_of(id) <= graph_.position(place)) continue;
      if (std::find(chain.begin(), chain.end(), id) != chain.end()) continue;
      chain.push_back(id);
      open.insert(open.end(), graph_.inputs(id).begin(), graph_.inputs(id).end());
    }
    if (chain.empty()) return;
    std::sort(chain.begin(), chain.end(),
              [&](NodeId a, NodeId b) { return graph_.position(a) < graph_.position(b); });
    MoveNodes move{.nodes = {}, .before = name(place)};
    for (const NodeId id : chain) {
      move.nodes.push_back(name(id));
      if (const auto it = moved_before_.find(id); it != moved_before_.end())
        std::erase(ahead_[it->second], Standing{id, false});
      moved_before_[id] = place;
      ahead_[place].push_back({id, false});
    }
    changes_.emplace_back(std::move(move));
  }
  // The place of a call after the moves so far, as a position in the original graph.
  [[nodiscard]] std::size_t place_of(NodeId id) const {
    const auto it = moved_before_.find(id);
    return graph_.position(it == moved_before_.end() ? id : it->second);
  }

  // --- Steps 4 to 6 ---

  // True if a reader of a recomputed value reads the copy instead of the original.
  [[nodiscard]] bool reads_copy(NodeId reader, NodeId id) const {
    return is_backward_call(reader) &&
           graph_.position(reader) >= graph_.position(before_[id.index()]);
  }

  void redirect() {
    std::vector<bool> is_redirected(graph_.node_count(), false);
    for (const NodeId reader : graph_.order()) {
      if (!is_backward_call(reader)) continue;
      const auto inputs = graph_.inputs(reader);
      const auto reads_one = [&](NodeId input) {
        return before_[input.index()] && reads_copy(reader, input);
      };
      // A view of a redirected value also needs a new storage.
      if (std::none_of(inputs.begin(), inputs.end(), [&](NodeId input) {
            return reads_one(input) || is_redirected[input.index()];
          }))
        continue;
      ReplaceCall replace{.node = name(reader), .target = {}, .args = {}, .kwargs = {}};
      for (const NodeId input : inputs)
        if (reads_one(input)) replace.inputs.emplace_back(name(input), copies_[input.index()]);
      // Views of the original become views of the copy.
      const auto owner = [&](NodeId of) -> std::string_view { return copies_[of.index()]; };
      is_redirected[reader.index()] = std::ranges::any_of(
          graph_.tensors(reader),
          [&](const Tensor& t) { return t.storage && !owner(owners_.of(t.storage).node).empty(); });
      if (is_redirected[reader.index()]) replace.val = record_value(graph_, owners_, reader, owner);
      if (replace.is_of_call()) changes_.emplace_back(std::move(replace));
    }
  }

  std::size_t erase() {
    std::vector<bool> stays(graph_.node_count(), false);
    find_unread(stays);
    while (keep_writers(stays)) find_unread(stays);
    std::size_t removed = 0;
    for (std::size_t i = gathered_.size(); i-- > 0;) {
      if (!is_erased_[gathered_[i].index()]) continue;
      ++removed;
      changes_.emplace_back(RemoveNode{.node = name(gathered_[i])});
    }
    return removed;
  }

  void find_unread(const std::vector<bool>& stays) {
    is_erased_.assign(graph_.node_count(), false);
    for (std::size_t i = gathered_.size(); i-- > 0;) {
      const NodeId id = gathered_[i];
      const auto users = users_.of(id);
      is_erased_[id.index()] =
          !stays[id.index()] && std::none_of(users.begin(), users.end(), [&](NodeId user) {
            return !is_erased_[user.index()] && !reads_copy(user, id);
          });
    }
  }

  // Keeps calls that write to memory that stays: they have an effect even if no node reads their
  // results. Returns true if any call was kept.
  bool keep_writers(std::vector<bool>& stays) const {
    bool has_kept = false;
    std::vector<NodeId> written;
    for (const NodeId id : gathered_) {
      if (!is_erased_[id.index()]) continue;
      written.clear();
      written_arguments(graph_, graph_.node(id), written);
      for (const NodeId to : written) {
        if (is_erased_[makers_[to.index()].index()] || stays[id.index()]) continue;
        stays[id.index()] = true;
        has_kept = true;
      }
    }
    return has_kept;
  }

  // The graph after the changes so far.
  [[nodiscard]] std::vector<Standing> result() const {
    std::vector<Standing> order;
    for (const NodeId id : graph_.order()) {
      if (const auto it = ahead_.find(id); it != ahead_.end())
        order.insert(order.end(), it->second.begin(), it->second.end());
      if (!is_erased_[id.index()] && !moved_before_.contains(id)) order.push_back({id, false});
    }
    return order;
  }

  [[nodiscard]] std::string name(const Standing& at) const {
    if (at.constant > 0) return constants_[at.constant - 1];
    return at.is_copy ? copies_[at.node.index()] : name(at.node);
  }
  // The call whose element a getitem reads.
  [[nodiscard]] Standing whole_of(const Standing& getitem) const {
    const NodeId whole = graph_.inputs(getitem.node).front();
    if (!before_[whole.index()]) return {whole, false};
    return {whole, getitem.is_copy || reads_copy(getitem.node, whole)};
  }

  void raise_getitems() {
    std::vector<Standing> order = result();
    std::vector<std::size_t> places(graph_.node_count()), copy_places(graph_.node_count());
    for (std::size_t i = 0; i < order.size(); ++i)
      if (order[i].constant == 0)
        (order[i].is_copy ? copy_places : places)[order[i].node.index()] = i;
    std::map<std::size_t, std::vector<std::size_t>> parts;  // by place of the whole
    for (std::size_t i = 0; i < order.size(); ++i) {
      const Node& n = graph_.node(order[i].node);
      if (n.kind != NodeKind::call || !graph_.op(n).is_getitem) continue;
      const Standing whole = whole_of(order[i]);
      if (graph_.node(whole.node).kind == NodeKind::call)
        parts[(whole.is_copy ? copy_places : places)[whole.node.index()]].push_back(i);
    }
    // Go from last to first, so that earlier places stay valid.
    for (auto it = parts.rbegin(); it != parts.rend(); ++it) {
      const auto& [whole, of_it] = *it;
      if (of_it.back() == whole + of_it.size()) continue;  // already in place
      const bool over_wall = std::any_of(
          order.begin() + static_cast<std::ptrdiff_t>(whole),
          order.begin() + static_cast<std::ptrdiff_t>(of_it.back()), [&](const Standing& at) {
            const NodeKind kind = graph_.node(at.node).kind;
            return kind == NodeKind::placeholder || kind == NodeKind::output;
          });
      if (over_wall) continue;
      std::size_t next = whole + 1;
      while (std::find(of_it.begin(), of_it.end(), next) != of_it.end()) ++next;
      MoveNodes move{.nodes = {}, .before = name(order[next])};
      for (std::size_t i : of_it)
        if (i > next) move.nodes.push_back(name(order[i]));
      changes_.emplace_back(std::move(move));
    }
  }

  const Graph& graph_;
  Users users_;
  StorageOwners owners_;
  std::vector<NodeId> makers_;  // indexed by node id: the node that first holds its memory
  std::set<NodeId>
      reads_back_;  // copied calls that read a value copied back, or copies of such calls
  std::vector<NodeId> region_;
  std::vector<NodeId> gathered_;  // recomputed calls, in program order
  std::vector<NodeId> before_;    // indexed by node id: the call before which its copy is inserted
  std::vector<NodeId> back_;      // indexed by node id: the value copied back from the host
  std::vector<bool>
      is_read_back_;  // indexed by node id: a copy already reads the value copied back
  std::unordered_map<NodeId, NodeId> moved_before_;
  std::vector<bool> is_erased_;
  // For each call, the nodes inserted before it, in order.
  std::unordered_map<NodeId, std::vector<Standing>> ahead_;
  std::vector<std::string> copies_;            // indexed by node id: the name of its copy, or empty
  std::unordered_set<std::string> subgraphs_;  // targets of constants
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
