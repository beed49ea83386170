// apply_cpu_offload: values that wait on the host for the backward.
//
// For each forward call F that is tagged MUST_CPU_OFFLOAD, returns one tensor and is read by the
// backward:
//   1. right behind F: cpu = ao.offload(F), which starts the copy;
//   2. later: done = ao.wait_tensor(cpu, F), after which F's memory is free;
//   3. before the first backward call that reads F: gpu = ao.reload(done, device), and
//      back = ao.wait_tensor(gpu), which all backward calls read instead of F.
// Where the first wait stands: behind the last call of the layer that is `defer_layers` behind the
// last layer that uses F's memory, views included (a value of no layer: behind the last use). Where
// the reload stands: before the first backward call of the layer that is `prefetch_layers` above
// F's; its wait stays where it is needed. Layers that are missing are passed over.
//
// Cost: linear in the nodes, and the readers of what is offloaded.
//
// Source: apply_cpu_offload_pass of torchtitan's graph trainer (cpu_offload.py, 2026). Deviations:
//   - Where the backward reads a view of F that the forward made, F is left on the device, and a
//     note says so (upstream frees the memory under the view). Not so if the view is tagged to be
//     made again: selective_activation_remat, which comes next, makes it from what came back.
//   - Where F's memory is written to behind F, F is left on the device, and a note says so
//   (upstream
//     brings back what F was when it left).
//   - Upstream's wait has a third argument, the call that it stands behind, to hold it there. The
//     place says it here.
//   - A copy back that would start before its copy out is over is left at its first reader.

#include "core/policy/cpu_offload.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "core/base/units.h"
#include "core/capture/node_record.h"
#include "core/edit/call_builder.h"
#include "core/edit/refuse.h"
#include "core/graph/effects.h"
#include "core/graph/module_tree.h"
#include "core/graph/users.h"
#include "core/policy/flat_step.h"
#include "core/policy/layers.h"
#include "core/policy/offload_choice.h"

namespace jointer {
namespace {

class Offloader {
 public:
  Offloader(const Graph& graph, const CpuOffloadOptions& options)
      : graph_(graph),
        options_(options),
        modules_(graph),
        layers_(graph, modules_),
        users_(graph),
        owners_(graph),
        build_(graph, PartId(0)) {}

  Result<Edit> run() {
    JOINTER_CHECK(check_flat(graph_));
    if (options_.defer_layers < 0 || options_.prefetch_layers < 0)
      return refuse("a number of layers is negative");
    find_ends_of_layers();
    find_writes();
    Edit edit{.title = {}, .by = pipeline_text()};
    std::int64_t count = 0, bytes = 0, viewed = 0, written = 0;
    for (const NodeId id : graph_.order()) {
      const Node& n = graph_.node(id);
      if (n.policy != MemoryPolicy::must_cpu_offload || n.phase != Phase::forward ||
          graph_.single_tensor(n) == nullptr)
        continue;
      const std::vector<NodeId> readers = backward_readers(id);
      if (readers.empty()) continue;
      if (is_viewed_by_backward(id)) {
        ++viewed;
        continue;
      }
      if (is_written_later(id)) {
        ++written;
        continue;
      }
      offload(id, readers);
      ++count;
      bytes += graph_.output_bytes(n);
    }
    redirect();
    edit.changes = build_.take();
    edit.title = fmt::format("Offload {} results, {}", format_count(count), format_bytes(bytes));
    if (viewed > 0)
      edit.notes.push_back(
          fmt::format("{} results stay: the backward reads a view of them that the forward made.",
                      format_count(viewed)));
    if (written > 0)
      edit.notes.push_back(
          fmt::format("{} results stay: their memory is written to later.", format_count(written)));
    return edit;
  }

 private:
  [[nodiscard]] std::string pipeline_text() const {
    return fmt::format("apply_cpu_offload{{defer_layers={},prefetch_layers={}}}",
                       options_.defer_layers, options_.prefetch_layers);
  }

  [[nodiscard]] bool is_call(NodeId id, Phase phase) const {
    const Node& n = graph_.node(id);
    return n.kind == NodeKind::call && n.phase == phase;
  }

  [[nodiscard]] std::vector<NodeId> backward_readers(NodeId id) const {
    std::vector<NodeId> readers;
    for (const NodeId user : users_.of(id))
      if (is_call(user, Phase::backward)) readers.push_back(user);
    return readers;
  }

  [[nodiscard]] bool is_viewed_by_backward(NodeId id) const {
    const auto readers = storage_readers(graph_, users_, id).forward;
    return std::any_of(readers.begin(), readers.end(), [&](NodeId reader) {
      const MemoryPolicy policy = graph_.node(reader).policy;
      const bool again =
          policy == MemoryPolicy::prefer_recompute || policy == MemoryPolicy::must_recompute;
      return is_offload_view(graph_, reader) && !again && !backward_readers(reader).empty();
    });
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

  // The first and last calls of each layer in either half.
  void find_ends_of_layers() {
    for (const NodeId id : graph_.order()) {
      const std::int64_t layer = layers_.of(id);
      if (graph_.node(id).kind != NodeKind::call || layer == Layers::kNone) continue;
      if (is_call(id, Phase::backward))
        first_backward_.try_emplace(layer, id);
      else
        last_forward_[layer] = id;
    }
  }

  // The layer so many behind or above it, of those that there are.
  static std::int64_t shifted(const std::map<std::int64_t, NodeId>& layers, std::int64_t layer,
                              std::int64_t by) {
    auto it = layers.find(layer);
    if (it == layers.end()) return layer;
    for (; by > 0 && std::next(it) != layers.end(); --by) ++it;
    return it->first;
  }

  // The forward call that the wait for the copy out stands behind.
  [[nodiscard]] NodeId place_of_wait(NodeId id) const {
    NodeId last = id;
    std::int64_t layer = layers_.of(id);
    for (const NodeId reader : storage_readers(graph_, users_, id).forward) {
      if (graph_.position(reader) > graph_.position(last)) last = reader;
      layer = std::max(layer, layers_.of(reader));
    }
    if (layers_.of(id) == Layers::kNone) return last;
    const auto it = last_forward_.find(shifted(last_forward_, layer, options_.defer_layers));
    if (it == last_forward_.end() || graph_.position(it->second) < graph_.position(last))
      return last;
    return it->second;
  }

  // The call right behind, for what is inserted before it.
  [[nodiscard]] NodeId behind(NodeId id) const { return graph_.order()[graph_.position(id) + 1]; }

  // The backward call that the copy back stands before.
  [[nodiscard]] NodeId place_of_reload(NodeId id, NodeId first, NodeId wait) const {
    const std::int64_t layer = layers_.of(id);
    if (layer == Layers::kNone || options_.prefetch_layers == 0) return first;
    const auto it = first_backward_.find(shifted(first_backward_, layer, options_.prefetch_layers));
    if (it == first_backward_.end() || it->first == layer ||
        graph_.position(it->second) > graph_.position(first) ||
        graph_.position(it->second) <= graph_.position(wait))
      return first;
    return it->second;
  }

  [[nodiscard]] OrderedJson value_of(NodeId id, const std::string& device,
                                     const std::string& storage_of) const {
    OrderedJson value = OrderedJson::parse(write_call(graph_, owners_, id).val);
    OrderedJson& tensor = value["t"];
    if (!device.empty()) tensor["device"] = device;
    tensor.erase("storage");
    if (!storage_of.empty()) tensor["storage"] = {{"of", storage_of}};
    return value;
  }

  void offload(NodeId id, const std::vector<NodeId>& readers) {
    const auto no_keywords = OrderedJson::object();
    const auto node = [](std::string_view name) { return CallBuilder::node(name); };
    const std::string name(graph_.name(id));
    const std::string cpu =
        build_.insert("ao.offload.default", CallBuilder::list(node(name)), no_keywords,
                      value_of(id, "cpu", {}), id, graph_.name(behind(id)));
    const NodeId wait_behind = place_of_wait(id);
    const std::string done =
        build_.insert("ao.wait_tensor.default", CallBuilder::list(node(cpu), node(name)),
                      no_keywords, value_of(id, "cpu", cpu), id, graph_.name(behind(wait_behind)));
    const NodeId first = *std::min_element(readers.begin(), readers.end(), [&](NodeId a, NodeId b) {
      return graph_.position(a) < graph_.position(b);
    });
    const std::string device(
        graph_.text(graph_.device(graph_.single_tensor(graph_.node(id))->device).name));
    const OrderedJson on = {{"device", device}};
    const std::string gpu = build_.insert(
        "ao.reload.default", CallBuilder::list(node(done), on), no_keywords, value_of(id, {}, {}),
        id, graph_.name(place_of_reload(id, first, wait_behind)), true);
    const std::string back =
        build_.insert("ao.wait_tensor.default", CallBuilder::list(node(gpu)), no_keywords,
                      value_of(id, {}, gpu), id, graph_.name(first), true);
    for (const NodeId reader : readers) reads_[reader].add(name, back);
  }

  void redirect() {
    for (const NodeId reader : graph_.order()) {
      const auto it = reads_.find(reader);
      if (it == reads_.end()) continue;
      const CallRecord call = write_call(graph_, owners_, reader);
      build_.add(ReplaceCall{.node = std::string(graph_.name(reader)),
                             .target = {},
                             .args = it->second.in_arguments(call.args).dump(),
                             .kwargs = it->second.in_arguments(call.kwargs).dump()});
    }
  }

  const Graph& graph_;
  CpuOffloadOptions options_;
  ModuleTree modules_;
  Layers layers_;
  Users users_;
  StorageOwners owners_;
  CallBuilder build_;
  std::vector<std::size_t> last_write_;  // by storage: the place of who writes to it last
  std::map<std::int64_t, NodeId> last_forward_, first_backward_;  // by layer
  std::unordered_map<NodeId, Renames> reads_;                     // by backward reader
};

}  // namespace

Result<Edit> apply_cpu_offload(const Graph& graph, const CpuOffloadOptions& options) {
  return Offloader(graph, options).run();
}

}  // namespace jointer
