// apply_cpu_offload: copies values to the host between forward and backward.
//
// Terms: a view of F is a forward call that reads F and either is in upstream's list of views or
// returns F's memory; views of views count, and so do parts (getitem) of views. The readers of F
// are its own and those of its views. A run is a maximal sequence of calls of one layer, or of no
// layer.
//
// For each forward call F that is tagged MUST_CPU_OFFLOAD, returns one tensor and has a reader in
// the backward:
//   1. Insert right after F: cpu = ao.offload(F), which starts the copy, and done =
//      ao.wait_tensor(cpu, F, last), after which F's memory is free. `last` is the last reader in
//      the forward.
//   2. Insert before the first reader in the backward: gpu = ao.reload(done, device, size, stride),
//      and back = ao.wait_tensor(gpu, done). The backward reads `back` instead of F.
//   3. After `back`, repeat the views of F that the backward reads; the backward reads the repeated
//      views instead.
//   4. Move the waits for copies to the host: after the last call of the run that is `defer_layers`
//      after F's, or of the run of `last` if that is later.
//   5. Move the reloads: before the first backward call of the layer that is `prefetch_layers`
//      above F's, in the order in which the backward visits layers; if there is no such layer,
//      before the first call of the backward. Their waits stay.
//
// Cost: linear in the nodes, plus the readers of offloaded values.
//
// Source: apply_cpu_offload_pass of torchtitan 0.3.0's graph trainer (cpu_offload.py). For a graph
// captured with torch before 2.15, whose operators take fewer arguments, wait_tensor has no third
// argument and reload no size and stride, as in torchtitan 0.2. Deviations:
//   - F stays on the device, with a note, if its memory is written to after F (upstream restores
//     the old value), if it is returned, or if the forward still reads it when the backward first
//     does (upstream frees memory that is in use).
//   - Calls missing from upstream's list of views, and parts of a split, count as views too
//     (upstream lets the backward read them after their memory is freed).
//   - With `defer_layers` 0, a wait follows `last` (upstream leaves it before `last`, which it
//     reads).
//   - A copy from the host that would start before the copy to the host is done stays at its first
//     reader.

#include "core/policy/cpu_offload.h"

#include <algorithm>
#include <array>
#include <list>
#include <map>
#include <optional>

#include "core/base/counted.h"
#include "core/base/units.h"
#include "core/edit/edit.h"
#include "core/edit/make_record.h"
#include "core/edit/refuse.h"
#include "core/graph/effects.h"
#include "core/graph/layers.h"
#include "core/graph/module_tree.h"
#include "core/graph/torch_version.h"
#include "core/graph/users.h"
#include "core/partition/fx_names.h"
#include "core/policy/flat_step.h"
#include "core/policy/offload_choice.h"

namespace jointer {
namespace {

// Maps storages of values to the new nodes whose first tensors replace them.
class Moves {
 public:
  void add(StorageId storage, const std::string& to) { to_[storage] = to; }
  // True if the node has a tensor in one of these storages but does not own it.
  [[nodiscard]] bool affect(const Graph& graph, const StorageOwners& owners, NodeId id) const {
    return std::ranges::any_of(graph.tensors(id), [&](const Tensor& t) {
      return t.storage && to_.contains(t.storage) && owners.of(t.storage).node != id;
    });
  }
  // The node's value, with its tensors in the new storages.
  [[nodiscard]] ValueRecord value_of(const Graph& graph, const StorageOwners& owners,
                                     NodeId id) const {
    ValueRecord value = record_value(graph, owners, id);
    std::size_t next = 0;
    visit_tensors(value, [&](TensorRecord& tensor) {
      const StorageId storage = graph.tensors(id)[next++].storage;
      if (!tensor.storage || tensor.storage->bytes) return;
      if (const auto it = to_.find(storage); it != to_.end()) tensor.storage = {.of = it->second};
    });
    return value;
  }

 private:
  std::unordered_map<StorageId, std::string> to_;
};

// The edit without its changes.
Edit edit_of(const CpuOffloadOptions& options, std::size_t results, std::int64_t bytes) {
  return {.title = fmt::format("Offload {}, {}", counted(results, "result"), format_bytes(bytes)),
          .by = fmt::format("apply_cpu_offload{{defer_layers={},prefetch_layers={}}}",
                            options.defer_layers, options.prefetch_layers)};
}

class Offloader {
 public:
  Offloader(const Graph& graph, const CpuOffloadOptions& options)
      : graph_(graph),
        options_(options),
        modules_(graph),
        layers_(graph, modules_),
        users_(graph),
        owners_(graph),
        has_long_forms_(is_of_torch(graph.part(PartId(0)), 2, 15)) {}

  Result<Edit> run() {
    find_writes();
    std::vector<Offload> offloads;
    std::array<std::size_t, kReasons.size()> staying{};
    std::int64_t bytes = 0;
    for (const NodeId id : graph_.order()) {
      const Node& n = graph_.node(id);
      if (!is_tagged_for_offload(n) || graph_.single_tensor(n) == nullptr) continue;
      Offload offload = readers_of(id);
      if (!offload.first) continue;
      if (const auto reason = why_it_stays(offload)) {
        ++staying[*reason];
        continue;
      }
      offloads.push_back(std::move(offload));
      bytes += graph_.output_bytes(n);
    }
    if (!offloads.empty()) {
      start_list();
      for (Offload& offload : offloads) insert(offload);
      defer(offloads);
      prefetch(offloads);
      emit();
      redirect();
    }
    Edit edit = edit_of(options_, offloads.size(), bytes);
    edit.changes = std::move(changes_);
    for (std::size_t i = 0; i < kReasons.size(); ++i)
      if (staying[i] > 0)
        edit.notes.push_back(fmt::format("{}: {}",
                                         counted(staying[i], "result stays", "results stay"),
                                         staying[i] == 1 ? kReasons[i].one : kReasons[i].several));
    return edit;
  }

 private:
  struct Reason {
    std::string_view one, several;
  };
  static constexpr std::array<Reason, 3> kReasons{
      {{"its memory is written to later.", "their memory is written to later."},
       {"it is returned.", "they are returned."},
       {"the forward still reads it after the backward starts reading it.",
        "the forward still reads them after the backward starts reading them."}}};

  // A node of the resulting graph, in a list that allows insertion anywhere.
  static constexpr std::size_t kNoRun = SIZE_MAX;
  struct Standing {
    NodeId node;               // none for an inserted call
    std::size_t inserted = 0;  // its number in `inserted_`
    std::size_t run = kNoRun;  // in the forward; set by defer()
    std::size_t place = 0;     // set by prefetch() before it moves anything
    std::int64_t layer = Layers::kNone;
    bool is_call = false, is_backward = false, is_transfer = false;
  };
  using Place = std::list<Standing>::iterator;

  struct Offload {
    NodeId node;
    NodeId last;   // last reader in the forward, or a call that reads one of its tensors
    NodeId first;  // first reader in the backward
    std::vector<NodeId> direct;                       // readers in the backward
    std::vector<NodeId> views;                        // in program order
    std::vector<std::pair<NodeId, NodeId>> of_views;  // a view, and its reader in the backward
    bool is_returned = false;
    Place done, gpu;
  };

  [[nodiscard]] std::string name(NodeId id) const { return std::string(graph_.name(id)); }

  [[nodiscard]] bool shares_memory(NodeId a, NodeId b) const {
    for (const Tensor& s : graph_.tensors(a))
      for (const Tensor& t : graph_.tensors(b))
        if (s.storage && t.storage &&
            graph_.real_storage(s.storage) == graph_.real_storage(t.storage))
          return true;
    return false;
  }

  // --- Offloaded values and their readers ---

  [[nodiscard]] Offload readers_of(NodeId id) const {
    Offload offload{.node = id, .last = id};
    const auto meet = [&](NodeId reader) {
      if (!offload.first || graph_.position(reader) < graph_.position(offload.first))
        offload.first = reader;
    };
    std::vector<NodeId> open{id};
    while (!open.empty()) {
      const NodeId at = open.back();
      open.pop_back();
      for (const NodeId user : users_.of(at)) {
        const Node& n = graph_.node(user);
        if (n.kind == NodeKind::output) offload.is_returned = true;
        if (n.kind != NodeKind::call) continue;
        if (n.phase == Phase::backward) {
          meet(user);
          if (at == id)
            offload.direct.push_back(user);
          else
            offload.of_views.emplace_back(at, user);
          continue;
        }
        if (graph_.op(n).space() != "ao" && graph_.position(user) > graph_.position(offload.last))
          offload.last = user;
        const bool is_view = is_offload_view(graph_, user) ||
                             (at != id && graph_.op(n).is_getitem) || shares_memory(id, user);
        if (!is_view || graph_.op(n).space() == "ao" ||
            std::find(offload.views.begin(), offload.views.end(), user) != offload.views.end())
          continue;
        offload.views.push_back(user);
        open.push_back(user);
      }
    }
    std::sort(offload.views.begin(), offload.views.end(),
              [&](NodeId a, NodeId b) { return graph_.position(a) < graph_.position(b); });
    offload.last = tensor_of(offload.last);
    return offload;
  }

  [[nodiscard]] bool is_tensor(NodeId id) const {
    const Node& n = graph_.node(id);
    return n.kind == NodeKind::call && graph_.single_tensor(n) != nullptr;
  }
  // A wait reads only one tensor. If a call returns several, returns the first of its users that
  // returns a single tensor.
  [[nodiscard]] NodeId tensor_of(NodeId id) const {
    if (is_tensor(id)) return id;
    const auto users = users_.of(id);
    const auto it =
        std::find_if(users.begin(), users.end(), [&](NodeId user) { return is_tensor(user); });
    return it == users.end() ? id : *it;
  }

  void find_writes() {
    last_write_.assign(graph_.storage_count(), 0);
    std::vector<NodeId> written;
    for (const NodeId id : graph_.order()) {
      written.clear();
      written_arguments(graph_, graph_.node(id), written);
      for (const NodeId to : written)
        for (const Tensor& tensor : graph_.tensors(to))
          if (tensor.storage)
            last_write_[graph_.real_storage(tensor.storage).index()] = graph_.position(id);
    }
  }

  [[nodiscard]] bool is_written_later(NodeId id) const {
    const StorageId storage = graph_.single_tensor(graph_.node(id))->storage;
    return storage && last_write_[graph_.real_storage(storage).index()] > graph_.position(id);
  }

  // An index into kReasons; nullopt if the value can be offloaded.
  [[nodiscard]] std::optional<std::size_t> why_it_stays(const Offload& offload) const {
    if (is_written_later(offload.node)) return 0;
    if (offload.is_returned) return 1;
    if (graph_.position(offload.last) > graph_.position(offload.first)) return 2;
    return std::nullopt;
  }

  // --- Steps 1 to 3: insert calls ---

  void start_list() {
    names_ = names_of(graph_, PartId(0));
    places_.resize(graph_.node_count());
    for (const NodeId id : graph_.order()) {
      const Node& n = graph_.node(id);
      order_.push_back({.node = id,
                        .layer = layers_.of(id),
                        .is_call = n.kind == NodeKind::call,
                        .is_backward = n.phase == Phase::backward,
                        .is_transfer = n.kind == NodeKind::call && graph_.op(n).space() == "ao"});
      places_[id.index()] = std::prev(order_.end());
    }
  }

  Place insert_before(Place next, std::string_view target, ArgumentRecords args, TensorRecord val,
                      NodeId like, bool in_backward) {
    return insert_before(next, target,
                         {.target = std::string(target),
                          .args = std::move(args),
                          .kwargs = ArgumentRecords{},
                          .val = ValueRecord::of_tensor(std::move(val))},
                         like, in_backward);
  }
  // Repeats a call in the backward. `now`: maps the names of its old inputs to those of the new
  // ones.
  Place insert_copy_before(Place next, NodeId copied, const std::map<std::string, std::string>& now,
                           ValueRecord val) {
    NodeRecord record{.copy = name(copied), .inputs = InputNames{}, .val = std::move(val)};
    for (const NodeId input : graph_.inputs(copied))
      if (const auto it = now.find(name(input)); it != now.end())
        record.inputs->emplace_back(it->first, it->second);
    return insert_before(next, graph_.target(graph_.node(copied)), std::move(record), copied, true);
  }
  Place insert_before(Place next, std::string_view target, NodeRecord record, NodeId like,
                      bool in_backward) {
    record.name = names_.create(fx_call_name(target));
    record.like = name(like);
    if (in_backward) record.marks = in_backward_;
    inserted_.push_back({.node = std::move(record), .before = {}});
    return order_.insert(next, {.node = {},
                                .inserted = inserted_.size() - 1,
                                .layer = layers_.of(like),
                                .is_call = true,
                                .is_backward = in_backward,
                                .is_transfer = target.starts_with("ao.")});
  }
  [[nodiscard]] Place place_of(NodeId id) const { return places_[id.index()]; }
  [[nodiscard]] const std::string& name_of(Place inserted) const {
    return inserted_[inserted->inserted].node->name;
  }

  static TensorRecord in_storage_of(TensorRecord value, const std::string& owner) {
    value.storage = {.of = owner};
    return value;
  }
  // Sizes as an argument.
  static ArgumentRecord list_of(const std::vector<SizeRecord>& sizes) {
    using Kind = ArgumentRecord::Kind;
    ArgumentRecord list{.kind = Kind::list};
    for (const SizeRecord& size : sizes)
      list.children.push_back(size.symbol
                                  ? ArgumentRecord::of_text(Kind::symbol, size.symbol->expression)
                                  : ArgumentRecord::of_int(size.value));
    return list;
  }

  void insert(Offload& offload) {
    const auto node = [](std::string_view name) { return ArgumentRecord::of_node(name); };
    const NodeId id = offload.node;
    const std::string from = name(id);
    const Place next = std::next(place_of(id));
    const TensorRecord value = record_tensor(graph_, id);
    TensorRecord on_host = value;
    on_host.device = "cpu";
    const std::string cpu =
        name_of(insert_before(next, "ao.offload.default", {node(from)}, on_host, id, false));
    ArgumentRecords kept{node(cpu), node(from)};
    if (has_long_forms_)
      kept.push_back(is_tensor(offload.last) ? node(name(offload.last)) : ArgumentRecord());
    offload.done = insert_before(next, "ao.wait_tensor.default", std::move(kept),
                                 in_storage_of(std::move(on_host), cpu), id, false);
    const Place first = place_of(offload.first);
    ArgumentRecords copied{node(name_of(offload.done)),
                           ArgumentRecord::of_text(ArgumentRecord::Kind::device, value.device)};
    if (has_long_forms_) {
      copied.push_back(list_of(value.shape));
      copied.push_back(value.stride ? list_of(*value.stride) : ArgumentRecord());
    }
    offload.gpu = insert_before(first, "ao.reload.default", std::move(copied), value, id, true);
    ArgumentRecords gone{node(name_of(offload.gpu))};
    if (has_long_forms_) gone.push_back(node(name_of(offload.done)));
    const std::string back =
        name_of(insert_before(first, "ao.wait_tensor.default", std::move(gone),
                              in_storage_of(value, name_of(offload.gpu)), id, true));
    for (const NodeId reader : offload.direct) reads_[reader][from] = back;
    std::map<std::string, std::string> repeated{{from, back}};
    Moves moves;
    const auto move = [&](StorageId storage, const std::string& to) {
      if (!storage) return;
      moves.add(storage, to);
      lies_in_.add(storage, to);
    };
    move(graph_.single_tensor(graph_.node(id))->storage, back);
    if (offload.of_views.empty()) return;
    for (const NodeId view : offload.views) {
      const std::string made =
          name_of(insert_copy_before(first, view, repeated, moves.value_of(graph_, owners_, view)));
      repeated[name(view)] = made;
      const auto tensors = graph_.tensors(view);
      if (shares_memory(view, id) || tensors.empty()) continue;
      const StorageId storage = tensors.front().storage;
      if (storage && owners_.of(storage).node == view) move(storage, made);
    }
    for (const auto& [view, reader] : offload.of_views)
      reads_[reader][name(view)] = repeated.at(name(view));
  }

  // --- Steps 4 and 5: move waits and reloads ---

  void defer(std::vector<Offload>& offloads) {
    std::vector<Place> ends;  // last call of each run of the forward
    std::optional<std::int64_t> layer;
    for (Place at = order_.begin(); at != order_.end(); ++at) {
      if (!at->is_call) continue;
      if (at->is_backward) break;
      if (layer != at->layer) ends.push_back(at);
      layer = at->layer;
      ends.back() = at;
      at->run = ends.size() - 1;
    }
    for (const Offload& offload : offloads) {
      Place behind = place_of(offload.last);
      const std::size_t run = place_of(offload.node)->run, last_run = behind->run;
      if (options_.defer_layers > 0 && run != kNoRun && last_run != kNoRun) {
        const std::size_t left = ends.size() - 1 - run;
        const std::size_t by = static_cast<std::size_t>(
            std::min(options_.defer_layers, static_cast<std::int64_t>(left)));
        behind = ends[std::max(run + by, last_run)];
      }
      if (behind != offload.done) order_.splice(std::next(behind), order_, offload.done);
    }
  }

  void prefetch(std::vector<Offload>& offloads) {
    if (options_.prefetch_layers == 0) return;
    std::vector<Place> starts;                     // first call of each run of the backward
    std::map<std::int64_t, std::size_t> first_of;  // by layer: index of its first run
    std::vector<std::int64_t> met;  // layers in the order in which the backward visits them
    std::optional<std::int64_t> layer;
    for (Place at = order_.begin(); at != order_.end(); ++at) {
      if (!at->is_call || !at->is_backward || at->is_transfer) continue;
      if (layer == at->layer) continue;
      layer = at->layer;
      starts.push_back(at);
      if (at->layer != Layers::kNone && first_of.try_emplace(at->layer, starts.size() - 1).second)
        met.push_back(at->layer);
    }
    std::size_t count = 0;
    for (Standing& at : order_) at.place = count++;
    std::vector<Offload*> in_order;
    for (Offload& offload : offloads) in_order.push_back(&offload);
    std::sort(in_order.begin(), in_order.end(),
              [&](const Offload* a, const Offload* b) { return a->gpu->place < b->gpu->place; });
    for (Offload* offload : in_order) {
      const auto own = first_of.find(offload->gpu->layer);
      if (own == first_of.end()) continue;
      const auto place = std::find(met.begin(), met.end(), own->first) - met.begin();
      const std::size_t target =
          place < options_.prefetch_layers
              ? 0
              : first_of[met[static_cast<std::size_t>(place - options_.prefetch_layers)]];
      if (target >= own->second || starts[target]->place < offload->done->place ||
          starts[target]->place > place_of(offload->first)->place)
        continue;
      order_.splice(starts[target], order_, offload->gpu);
    }
  }

  void emit() {
    NodeId before;
    std::vector<std::size_t> numbers;
    for (Place at = order_.end(); at != order_.begin();) {
      --at;
      if (at->node) {
        before = at->node;
        continue;
      }
      inserted_[at->inserted].before = graph_.name(before);
      numbers.push_back(at->inserted);
    }
    changes_.reserve(2 * numbers.size());
    for (std::size_t i = numbers.size(); i-- > 0;)
      changes_.emplace_back(std::move(inserted_[numbers[i]]));
  }

  // Makes the backward read the values that were copied back, and moves their views to the same
  // storages.
  void redirect() {
    std::vector<bool> is_redirected(graph_.node_count(), false);
    for (const NodeId reader : graph_.order()) {
      const Node& n = graph_.node(reader);
      if (n.kind != NodeKind::call || n.phase != Phase::backward) continue;
      const auto it = reads_.find(reader);
      const auto inputs = graph_.inputs(reader);
      if (it == reads_.end() && std::none_of(inputs.begin(), inputs.end(), [&](NodeId input) {
            return is_redirected[input.index()];
          }))
        continue;
      ReplaceCall replace{.node = name(reader), .target = {}, .args = {}, .kwargs = {}};
      if (it != reads_.end()) replace.inputs.assign(it->second.begin(), it->second.end());
      if (n.has(Node::has_value) && lies_in_.affect(graph_, owners_, reader)) {
        replace.val = lies_in_.value_of(graph_, owners_, reader);
        is_redirected[reader.index()] = true;
      }
      if (replace.is_of_call()) changes_.emplace_back(std::move(replace));
    }
  }

  const Graph& graph_;
  CpuOffloadOptions options_;
  ModuleTree modules_;
  Layers layers_;
  Users users_;
  StorageOwners owners_;
  FxNames names_;
  bool has_long_forms_;
  std::vector<std::size_t> last_write_;  // indexed by storage: position of its last writer
  std::list<Standing> order_;            // the resulting graph
  std::vector<InsertNode> inserted_;
  std::vector<Place> places_;  // of the original nodes, indexed by id
  // For each reader in the backward: the nodes that it reads, and those that it will read instead.
  std::unordered_map<NodeId, std::map<std::string, std::string>> reads_;
  Shared<NodeMarks> in_backward_{NodeMarks{.autograd_backward = true}};
  Moves lies_in_;  // of all offloaded values, for the backward
  std::vector<Change> changes_;
};

}  // namespace

bool is_tagged_for_offload(const Node& node) {
  return node.policy == MemoryPolicy::must_cpu_offload && node.phase == Phase::forward;
}

Result<Edit> apply_cpu_offload(const Graph& graph, const CpuOffloadOptions& options) {
  JOINTER_CHECK(check_flat(graph));
  if (options.defer_layers < 0 || options.prefetch_layers < 0)
    return refuse("defer_layers and prefetch_layers must not be negative");
  const auto order = graph.order();
  if (std::none_of(order.begin(), order.end(),
                   [&](NodeId id) { return is_tagged_for_offload(graph.node(id)); }))
    return Edit{.title = "Nothing is offloaded", .by = "apply_cpu_offload"};
  return Offloader(graph, options).run();
}

}  // namespace jointer
