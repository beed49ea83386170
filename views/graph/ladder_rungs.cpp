// Finds the rungs of a ladder. A rung is one storage. Its readers are the backward nodes that read
// a forward value in the storage, or a view of such a value.
//
// Without a plan, the rungs are the storages that the memory timeline classifies as saved
// activations, and those that recomputed nodes produce and other backward nodes read.
//
// With a plan, the graph is the one that the plan was made for: a joint graph as the partitioner
// has cleaned it up, or a flat training step. The rungs are:
//   1. All storages that the plan saves for backward (activations, gathered parameters, values read
//      only by recomputation), except those that exist for the entire step: storages of inputs,
//      constants and forward outputs.
//   2. Storages that the forward produces and the backward reads but the plan does not save. They
//      are recomputed.
//   3. Storages that the graph itself recomputes, as above.
//
// The producer of a saved or offloaded storage is the first value in it that the plan saves, as in
// the rows of the SAC pane (SaveCandidate::bytes): a view, if the plan saves only that. The
// producer of any other storage is the first call that returns a tensor in it.
//
// A storage that is saved only for recomputation has one reader: the first backward node that reads
// a value recomputed from it, which is about when recomputation runs.
//
// The bytes of the saved rungs add up to PlanFigures::saved_bytes, and those of the offloaded rungs
// to PlanFigures::offloaded_bytes, except that these totals also count two kinds of storage that
// are not rungs: random generator states, if host and device share memory, and the host copy of a
// value with a storage that also stays on the device, because another value in it is saved or
// because it exists for the entire step.

#include "views/graph/ladder_rungs.h"

#include <algorithm>
#include <utility>

#include "core/base/index.h"
#include "core/partition/joint_parts.h"

namespace jointer::views {
namespace {

RungState state_of(const Graph& graph, const Node& producer) {
  if (const auto state = rung_state(producer.policy))
    // In a pair, the partitioner has already decided to save the value.
    return *state == RungState::recompute && graph.is_pair() ? RungState::save : *state;
  return graph.part(PartId(0)).kind == CaptureKind::joint ? RungState::automatic : RungState::save;
}

class RungFinder {
 public:
  RungFinder(const Graph& graph, const Ladder& ladder)
      : graph_(graph), ladder_(ladder), rung_by_storage_(graph.storage_count(), -1) {}

  LadderRungs without_plan(const MemoryTimeline& memory) {
    for (const Lifetime& l : memory.lifetimes()) {
      const bool is_saved = l.category == MemoryCategory::saved_activation;
      if (!l.producer || !l.storage) continue;
      if (!is_saved && l.category != MemoryCategory::recomputed) continue;
      const NodeId producer = source_of(graph_, l.producer);
      add(l.storage,
          {.producer = is_saved ? producer : origin_of(producer),
           .bytes = l.bytes,
           .state = is_saved ? state_of(graph_, graph_.node(producer)) : RungState::recompute,
           .is_saved = is_saved});
    }
    read_rungs();
    // Remove values that are recomputed only as intermediate results.
    std::erase_if(found_.rungs, [](const Rung& r) { return !r.is_saved && r.reader_count == 0; });
    return std::move(found_);
  }

  LadderRungs of_plan(const SavePlan& plan, const MemoryOptions& memory) {
    decide(plan, memory.runs_on.value_or(graph_.main_device()));
    for (const NodeId id : graph_.order()) {
      const Node& n = graph_.node(id);
      // An edit made after the plan may have removed nodes.
      if (n.kind != NodeKind::call || ladder_.row_of(id) < 0) continue;
      for (const Tensor& t : graph_.tensors(n))
        if (t.storage && counts(t)) add_made_by(id, n, graph_.real_storage(t.storage));
    }
    read_rungs();
    read_through_recomputation();
    std::erase_if(found_.rungs, [](const Rung& r) {
      return r.state == RungState::recompute && r.reader_count == 0;
    });
    return std::move(found_);
  }

 private:
  // The decision of a plan about a storage. `held`: the storage exists for the entire step.
  // `of_backward`: the backward allocates it.
  enum class Fate : std::uint8_t { none, held, save, offload, of_backward };

  int& rung_in(StorageId storage) { return rung_by_storage_[storage.index()]; }

  void add(StorageId storage, Rung rung) {
    rung_in(storage) = static_cast<int>(found_.rungs.size());
    found_.rungs.push_back(rung);
  }

  // --- With a plan ---

  void decide(const SavePlan& plan, DeviceType runs_on) {
    runs_on_ = runs_on;
    is_given_.assign(graph_.node_count(), 0);
    fates_.assign(graph_.storage_count(), Fate::none);
    bytes_on_host_.assign(plan.offloaded.empty() ? 0 : graph_.storage_count(), 0);
    const auto each_storage = [&](NodeId id, const auto& visit) {
      for (const Tensor& t : graph_.tensors(id))
        if (t.storage && counts(t)) visit(graph_.real_storage(t.storage).index());
    };
    const auto hold = [&](NodeId id) {
      each_storage(id, [&](std::size_t storage) { fates_[storage] = Fate::held; });
    };
    for (const NodeId id : graph_.order())
      if (const NodeKind kind = graph_.node(id).kind;
          kind == NodeKind::placeholder || kind == NodeKind::get_attr)
        hold(id);
    const auto& outputs = graph_.part(PartId(0)).outputs;
    const std::size_t of_forward = forward_output_count(graph_);
    for (std::size_t i = 0; i < of_forward; ++i)
      if (outputs[i].node) hold(outputs[i].node);

    first_saved_.assign(graph_.storage_count(), NodeId{});
    for (const NodeId id : plan.saved) {
      is_given_[id.index()] = 1;
      if (is_forward_call(id))
        each_storage(id, [&](std::size_t storage) {
          NodeId& first = first_saved_[storage];
          if (!first || graph_.position(id) < graph_.position(first)) first = id;
        });
      const bool is_offloaded =
          std::binary_search(plan.offloaded.begin(), plan.offloaded.end(), id);
      each_storage(id, [&](std::size_t storage) {
        if (is_offloaded)
          // Only the value is copied to the host, not its whole storage.
          bytes_on_host_[storage] +=
              allocated_bytes(graph_.output_bytes(graph_.node(id)), runs_on_);
        if (fates_[storage] == Fate::none || (fates_[storage] == Fate::offload && !is_offloaded))
          fates_[storage] = is_offloaded ? Fate::offload : Fate::save;
      });
    }
  }

  [[nodiscard]] bool counts(const Tensor& t) const {
    const DeviceType type = graph_.device_type(t);
    return type == graph_.main_device() || type == runs_on_;
  }

  // True if the ladder has the call; an edit made after the plan may have removed it.
  [[nodiscard]] bool is_forward_call(NodeId id) const {
    const Node& n = graph_.node(id);
    return n.kind == NodeKind::call && n.phase == Phase::forward && graph_.is_live(id) &&
           ladder_.row_of(id) >= 0;
  }

  void add_made_by(NodeId id, const Node& n, StorageId storage) {
    Fate& fate = fates_[storage.index()];
    if (fate == Fate::held || fate == Fate::of_backward || rung_in(storage) >= 0) return;
    if (fate == Fate::save || fate == Fate::offload)
      if (const NodeId first = first_saved_[storage.index()]; first && first != id) return;
    const bool is_recomputed = fate == Fate::none && n.has(Node::recomputed);
    if (fate == Fate::none && !is_recomputed && n.phase != Phase::forward) {
      fate = Fate::of_backward;
      return;
    }
    const std::int64_t bytes = fate == Fate::offload
                                   ? bytes_on_host_[storage.index()]
                                   : allocated_bytes(graph_.storage(storage).bytes.value, runs_on_);
    if (bytes == 0) return;
    add(storage, {.producer = is_recomputed ? origin_of(id) : id,
                  .bytes = bytes,
                  .state = fate == Fate::save      ? RungState::save
                           : fate == Fate::offload ? RungState::offload
                                                   : RungState::recompute,
                  .is_saved = !is_recomputed});
  }

  void read_through_recomputation() {
    const auto has_no_reader = [](const Rung& r) {
      return r.state != RungState::recompute && r.reader_count == 0;
    };
    if (std::none_of(found_.rungs.begin(), found_.rungs.end(), has_no_reader)) return;
    // For each node, the first backward node that reads its value or a value recomputed from it.
    std::vector<NodeId> first(graph_.node_count());
    const auto is_sooner = [&](NodeId a, NodeId b) {
      return a && (!b || graph_.position(a) < graph_.position(b));
    };
    const auto order = graph_.order();
    for (std::size_t i = order.size(); i-- > 0;) {
      const NodeId id = order[i];
      const Node& n = graph_.node(id);
      if (n.kind != NodeKind::call) continue;
      const NodeId reader = n.phase == Phase::backward ? id
                            : is_given_[id.index()]    ? NodeId{}
                                                       : first[id.index()];
      for (const NodeId input : graph_.inputs(n))
        if (is_sooner(reader, first[input.index()])) first[input.index()] = reader;
    }
    std::vector<NodeId> readers(found_.rungs.size());
    for (const NodeId id : order) {
      if (!is_given_[id.index()] || ladder_.row_of(first[id.index()]) < 0) continue;
      for (const Tensor& t : graph_.tensors(id)) {
        const int rung = t.storage ? rung_in(graph_.real_storage(t.storage)) : -1;
        if (rung >= 0 && is_sooner(first[id.index()], readers[as_index(rung)]))
          readers[as_index(rung)] = first[id.index()];
      }
    }
    for (std::size_t i = 0; i < readers.size(); ++i) {
      Rung& rung = found_.rungs[i];
      if (!readers[i] || !has_no_reader(rung)) continue;
      rung.first_reader = static_cast<std::uint32_t>(found_.readers.size());
      rung.reader_count = 1;
      found_.readers.push_back(readers[i]);
    }
  }

  // --- Readers ---

  // The forward node that a backward node recomputes, or the backward node itself if the forward
  // node is unknown or was removed.
  [[nodiscard]] NodeId origin_of(NodeId id) const {
    const auto is_here = [this](NodeId node) {
      return ladder_.row_of(node) >= 0 && graph_.node(node).phase == Phase::forward;
    };
    if (const NodeId origin = graph_.node(id).origin; is_here(origin)) return origin;
    std::string_view name = graph_.name(id);
    if (constexpr std::string_view kEnd = "_recomputed"; name.ends_with(kEnd))
      name.remove_suffix(kEnd.size());
    const NodeId first = graph_.find(PartId(0), name);
    return is_here(first) ? first : id;
  }

  // True for forward values, including those that are inputs of the backward half of a pair, and
  // for values that the plan saves.
  [[nodiscard]] bool is_from_forward(NodeId source) const {
    const Node& n = graph_.node(source);
    return n.phase == Phase::forward || n.role == Role::saved ||
           (!is_given_.empty() && is_given_[source.index()] != 0);
  }

  void read_rungs() {
    std::vector<Rung>& rungs = found_.rungs;
    std::vector<std::pair<int, NodeId>> reads;
    for (const NodeId id : graph_.order()) {
      const Node& n = graph_.node(id);
      if (n.phase != Phase::backward || n.kind != NodeKind::call || ladder_.row_of(id) < 0)
        continue;
      for (const NodeId input : graph_.inputs(n)) {
        const NodeId source = source_of(graph_, input);
        for (const Tensor& t : graph_.tensors(source)) {
          const int rung = t.storage ? rung_in(graph_.real_storage(t.storage)) : -1;
          if (rung < 0) continue;
          const bool reads_it =
              rungs[as_index(rung)].is_saved ? is_from_forward(source) : !n.has(Node::recomputed);
          if (reads_it) reads.emplace_back(rung, id);
        }
      }
    }
    std::ranges::stable_sort(reads, {}, [](const auto& each) { return each.first; });
    reads.erase(std::unique(reads.begin(), reads.end()), reads.end());
    found_.readers.reserve(reads.size());
    for (const auto& [rung, reader] : reads) {
      Rung& r = rungs[as_index(rung)];
      if (r.reader_count == 0) r.first_reader = static_cast<std::uint32_t>(found_.readers.size());
      ++r.reader_count;
      found_.readers.push_back(reader);
    }
  }

  const Graph& graph_;
  const Ladder& ladder_;
  LadderRungs found_;
  std::vector<int> rung_by_storage_;  // -1 if the storage has no rung
  // Used only if a plan is shown.
  DeviceType runs_on_ = DeviceType::cpu;
  std::vector<std::uint8_t> is_given_;       // by node: the plan saves it for backward
  std::vector<Fate> fates_;                  // by storage
  std::vector<NodeId> first_saved_;          // by storage; may be null
  std::vector<std::int64_t> bytes_on_host_;  // by storage
};

}  // namespace

LadderRungs find_rungs(const Graph& graph, const MemoryTimeline& memory, const Ladder& ladder) {
  return RungFinder(graph, ladder).without_plan(memory);
}

LadderRungs find_rungs_of_plan(const Graph& joint, const SavePlan& plan,
                               const MemoryOptions& memory, const Ladder& ladder) {
  return RungFinder(joint, ladder).of_plan(plan, memory);
}

}  // namespace jointer::views
