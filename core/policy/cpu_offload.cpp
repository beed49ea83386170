// apply_cpu_offload: copies values to the host between forward and backward.
//
// Terms: a view of F is a forward call that reads F and either calls an operator in upstream's list
// of views or returns F's memory. Views of views count as views, and so do elements (getitem) of
// views. The readers of F include the readers of its views. A run is a maximal sequence of calls in
// one layer, or in no layer.
//
// Steps, for each forward call F that is tagged MUST_CPU_OFFLOAD, returns a single tensor and has a
// reader in the backward:
//   1. Insert right after F: cpu = ao.offload(F), which starts the copy, and done =
//      ao.wait_tensor(cpu, F, last), after which F's memory is free. `last` is the last reader in
//      the forward, or F if there is none; for a reader that returns several tensors, it is the
//      first call that reads one of them.
//   2. Insert before the first reader in the backward: gpu = ao.reload(done, device, size, stride),
//      and back = ao.wait_tensor(gpu, done). The backward reads `back` instead of F.
//   3. After `back`, repeat the views of F if the backward reads any of them; the backward reads
//      the repeated views instead.
//   4. Move each wait for a copy to the host after the last call of the run that is `defer_layers`
//      runs after F's (the forward's last run if there are fewer), or of the run of `last` if that
//      is later.
//   5. Move each reload before the first backward call of the layer that the backward visits
//      `prefetch_layers` layers before F's or, if there is no such layer, before the first call of
//      the backward. If `prefetch_layers` is 0 or F is in no layer, the reload stays. The waits for
//      reloads always stay.
//
// Cost: linear in the nodes, plus the readers of offloaded values.
//
// Source: apply_cpu_offload_pass of torchtitan 0.3.0's graph trainer (cpu_offload.py). In a graph
// captured with torch before 2.15, wait_tensor has no third argument, and reload has no size and
// stride, as in torchtitan 0.2. Deviations:
//   - F stays on the device, with a note, if its memory is written to after F (upstream restores
//     the old value), if F is returned, or if the forward still reads F after the backward first
//     does (upstream frees memory that is in use).
//   - Views that are missing from upstream's list, and elements of a split, count as views too
//     (upstream lets the backward read them after their memory is freed).
//   - If `defer_layers` is 0, a wait follows `last` (upstream leaves the wait before `last`,
//     although it reads `last`).
//   - A reload that would start before the copy to the host is done stays before the first reader.

#include "core/policy/cpu_offload.h"

#include <algorithm>
#include <array>
#include <map>

#include "core/base/counted.h"
#include "core/base/units.h"
#include "core/edit/edit.h"
#include "core/edit/make_record.h"
#include "core/edit/refuse.h"
#include "core/graph/users.h"
#include "core/partition/fx_names.h"
#include "core/partition/step_offload.h"
#include "core/policy/flat_step.h"

namespace jointer {
namespace {

// Maps each storage to the new node whose first tensor's storage replaces it.
class Moves {
 public:
  void add(StorageId storage, const std::string& to) { to_[storage] = to; }
  // True if the node has a tensor in one of these storages but does not own it.
  [[nodiscard]] bool affect(const Graph& graph, const StorageOwners& owners, NodeId id) const {
    return std::ranges::any_of(graph.tensors(id), [&](const Tensor& t) {
      return t.storage && to_.contains(t.storage) && owners.of(t.storage).node != id;
    });
  }
  // The node's value with its tensors moved to the new storages.
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

// Returns the edit without its changes.
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
        users_(graph),
        owners_(graph),
        offloads_(graph, users_),
        order_(offload_nodes(graph)),
        has_long_forms_(has_long_copy_forms(graph)) {}

  Result<Edit> run() {
    std::vector<StepOffload> offloads;
    std::array<std::size_t, StepOffloads::kReasons> staying{};
    std::int64_t bytes = 0;
    for (const NodeId id : graph_.order()) {
      const Node& n = graph_.node(id);
      if (!is_tagged_for_offload(n) || graph_.single_tensor(n) == nullptr) continue;
      StepOffload offload = offloads_.readers_of(id);
      if (!offload.first) continue;
      if (const auto reason = offloads_.stay_reason(offload)) {
        ++staying[static_cast<std::size_t>(*reason)];
        continue;
      }
      offloads.push_back(std::move(offload));
      bytes += graph_.output_bytes(n);
    }
    if (!offloads.empty()) {
      names_ = names_of(graph_, PartId(0));
      std::vector<OffloadOrder::Copies> copies;
      for (const StepOffload& offload : offloads) copies.push_back(insert(offload));
      order_.defer(copies, options_.defer_layers);
      order_.prefetch(copies, options_.prefetch_layers);
      emit();
      redirect();
    }
    Edit edit = edit_of(options_, offloads.size(), bytes);
    edit.changes = std::move(changes_);
    for (std::size_t i = 0; i < kReasons.size(); ++i)
      if (staying[i] > 0)
        edit.notes.push_back(fmt::format(
            "{}: {}",
            counted(staying[i], "result stays on the device", "results stay on the device"),
            staying[i] == 1 ? kReasons[i].one : kReasons[i].several));
    return edit;
  }

 private:
  struct Reason {
    std::string_view one, several;
  };
  static constexpr std::array<Reason, StepOffloads::kReasons> kReasons{
      {{"its memory is written to later.", "their memory is written to later."},
       {"it is returned.", "they are returned."},
       {"the forward still reads it after the backward first does.",
        "the forward still reads them after the backward first does."}}};

  [[nodiscard]] std::string name(NodeId id) const { return std::string(graph_.name(id)); }

  // --- Steps 1 to 3: insert calls ---

  // Appends a call to `inserted_`. Must be called in the order in which `order_` numbers inserted
  // calls. Returns the call's name.
  std::string add(std::string_view target, ArgumentRecords args, TensorRecord val, NodeId like,
                  bool in_backward) {
    return add(target,
               {.target = std::string(target),
                .args = std::move(args),
                .kwargs = ArgumentRecords{},
                .val = ValueRecord::of_tensor(std::move(val))},
               like, in_backward);
  }
  // Repeats a call in the backward. `now`: maps names of old inputs to names of new ones.
  std::string add_repeated(NodeId copied, const std::map<std::string, std::string>& now,
                           ValueRecord val) {
    NodeRecord record{.copy = name(copied), .inputs = InputNames{}, .val = std::move(val)};
    for (const NodeId input : graph_.inputs(copied))
      if (const auto it = now.find(name(input)); it != now.end())
        record.inputs->emplace_back(it->first, it->second);
    return add(graph_.target(graph_.node(copied)), std::move(record), copied, true);
  }
  std::string add(std::string_view target, NodeRecord record, NodeId like, bool in_backward) {
    record.name = names_.create(fx_call_name(target));
    record.like = name(like);
    if (in_backward) record.marks = in_backward_;
    inserted_.push_back({.node = std::move(record), .before = {}});
    return inserted_.back().node->name;
  }

  static TensorRecord in_storage_of(TensorRecord value, const std::string& owner) {
    value.storage = {.of = owner};
    return value;
  }
  // Converts sizes to an argument.
  static ArgumentRecord list_of(const std::vector<SizeRecord>& sizes) {
    using Kind = ArgumentRecord::Kind;
    ArgumentRecord list{.kind = Kind::list};
    for (const SizeRecord& size : sizes)
      list.children.push_back(size.symbol
                                  ? ArgumentRecord::of_text(Kind::symbol, size.symbol->expression)
                                  : ArgumentRecord::of_int(size.value));
    return list;
  }

  OffloadOrder::Copies insert(const StepOffload& offload) {
    const auto item = [&](NodeId id) {
      return static_cast<OffloadOrder::Item>(graph_.position(id));
    };
    const bool repeats_views = !offload.of_views.empty();
    const OffloadOrder::Copies copies =
        order_.insert(item(offload.node), item(offload.last), item(offload.first),
                      repeats_views ? offload.views.size() : 0);
    const auto node = [](std::string_view name) { return ArgumentRecord::of_node(name); };
    const NodeId id = offload.node;
    const std::string from = name(id);
    const TensorRecord value = record_tensor(graph_, id);
    TensorRecord on_host = value;
    on_host.device = "cpu";
    const std::string cpu = add("ao.offload.default", {node(from)}, on_host, id, false);
    ArgumentRecords kept{node(cpu), node(from)};
    if (has_long_forms_)
      kept.push_back(offloads_.is_tensor(offload.last) ? node(name(offload.last))
                                                       : ArgumentRecord());
    const std::string done = add("ao.wait_tensor.default", std::move(kept),
                                 in_storage_of(std::move(on_host), cpu), id, false);
    ArgumentRecords copied{node(done),
                           ArgumentRecord::of_text(ArgumentRecord::Kind::device, value.device)};
    if (has_long_forms_) {
      copied.push_back(list_of(value.shape));
      copied.push_back(value.stride ? list_of(*value.stride) : ArgumentRecord());
    }
    const std::string gpu = add("ao.reload.default", std::move(copied), value, id, true);
    ArgumentRecords gone{node(gpu)};
    if (has_long_forms_) gone.push_back(node(done));
    const std::string back =
        add("ao.wait_tensor.default", std::move(gone), in_storage_of(value, gpu), id, true);
    for (const NodeId reader : offload.direct) reads_[reader][from] = back;
    std::map<std::string, std::string> repeated{{from, back}};
    Moves moves;
    const auto move = [&](StorageId storage, const std::string& to) {
      if (!storage) return;
      moves.add(storage, to);
      lies_in_.add(storage, to);
    };
    move(graph_.single_tensor(graph_.node(id))->storage, back);
    if (!repeats_views) return copies;
    for (const NodeId view : offload.views) {
      const std::string made = add_repeated(view, repeated, moves.value_of(graph_, owners_, view));
      repeated[name(view)] = made;
      const auto tensors = graph_.tensors(view);
      if (offloads_.shares_memory(view, id) || tensors.empty()) continue;
      const StorageId storage = tensors.front().storage;
      if (storage && owners_.of(storage).node == view) move(storage, made);
    }
    for (const auto& [view, reader] : offload.of_views)
      reads_[reader][name(view)] = repeated.at(name(view));
    return copies;
  }

  void emit() {
    const OffloadOrder::Item first_inserted = order_.first_inserted();
    const std::vector<OffloadOrder::Item> items = order_.items();
    NodeId before;
    std::vector<std::size_t> numbers;
    for (std::size_t i = items.size(); i-- > 0;) {
      if (items[i] < first_inserted) {
        before = graph_.order()[items[i]];
        continue;
      }
      numbers.push_back(items[i] - first_inserted);
      inserted_[numbers.back()].before = graph_.name(before);
    }
    changes_.reserve(2 * numbers.size());
    for (std::size_t i = numbers.size(); i-- > 0;)
      changes_.emplace_back(std::move(inserted_[numbers[i]]));
  }

  // Makes the backward read the values that were copied back, and moves its views of them to the
  // same storages.
  void redirect() {
    std::vector<bool> is_redirected(graph_.node_count(), false);
    for (const NodeId reader : graph_.order()) {
      const Node& n = graph_.node(reader);
      if (n.kind != NodeKind::call || n.phase != Phase::backward) continue;
      const auto it = reads_.find(reader);
      const auto inputs = graph_.inputs(reader);
      if (it == reads_.end() &&
          std::ranges::none_of(inputs, [&](NodeId input) { return is_redirected[input.index()]; }))
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
  Users users_;
  StorageOwners owners_;
  StepOffloads offloads_;
  OffloadOrder order_;
  FxNames names_;
  bool has_long_forms_;
  std::vector<InsertNode> inserted_;
  // For each reader in the backward: maps the nodes that it reads to those that it will read
  // instead.
  std::unordered_map<NodeId, std::map<std::string, std::string>> reads_;
  Shared<NodeMarks> in_backward_{NodeMarks{.autograd_backward = true}};
  Moves lies_in_;  // the new storages of all offloaded values, for calls of the backward
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
  if (std::ranges::none_of(order, [&](NodeId id) { return is_tagged_for_offload(graph.node(id)); }))
    return Edit{.title = "Nothing is offloaded", .by = "apply_cpu_offload"};
  return Offloader(graph, options).run();
}

}  // namespace jointer
