#include "core/partition/step_offload.h"

#include <algorithm>
#include <array>
#include <map>

#include "core/graph/is_call_of.h"
#include "core/graph/layers.h"
#include "core/graph/memory_access.h"
#include "core/graph/module_tree.h"
#include "core/graph/torch_version.h"

namespace jointer {
namespace {

constexpr std::array<std::string_view, 17> kViews{
    "aten.t",         "aten.transpose",  "aten.view",  "aten._unsafe_view", "aten.reshape",
    "aten.unsqueeze", "aten.squeeze",    "aten.slice", "aten.select",       "aten.expand",
    "aten.permute",   "aten.as_strided", "aten.alias", "aten.split",        "aten.narrow",
    "aten.unfold",    "aten.detach"};

}  // namespace

bool is_offload_view(const Graph& graph, NodeId node) {
  const std::string_view packet = graph.op(graph.node(node)).packet();
  return std::find(kViews.begin(), kViews.end(), packet) != kViews.end();
}

bool has_long_copy_forms(const Graph& graph) {
  return is_of_torch(graph.part(PartId(0)), 2, 15);
}

std::vector<NodeId> values_copied_back(const Graph& graph) {
  std::vector<NodeId> back(graph.node_count());
  const auto is_offload = [&](NodeId id) {
    return is_call_of(graph, id, "ao.offload.default") && !graph.inputs(id).empty();
  };
  if (std::ranges::none_of(graph.order(), is_offload)) return back;
  const Users users(graph);
  const auto reader = [&](NodeId id, std::string_view target) {
    const auto readers = users.of(id);
    const auto it = std::ranges::find_if(readers, [&](NodeId user) {
      return graph.target(graph.node(user)) == target && graph.inputs(user).front() == id;
    });
    return it == readers.end() ? NodeId{} : *it;
  };
  for (const NodeId id : graph.order()) {
    if (!is_offload(id)) continue;
    NodeId at = reader(id, "ao.wait_tensor.default");
    if (at) at = reader(at, "ao.reload.default");
    if (at) at = reader(at, "ao.wait_tensor.default");
    if (at) back[graph.inputs(id).front().index()] = at;
  }
  return back;
}

// --- Offloaded values and their readers ---

StepOffloads::StepOffloads(const Graph& graph, const Users& users)
    : graph_(graph), users_(users), writes_(graph) {}

bool StepOffloads::shares_memory(NodeId a, NodeId b) const {
  return std::ranges::any_of(
      graph_.tensors(a), [&](const Tensor& tensor) { return is_in_memory_of(graph_, tensor, b); });
}

bool StepOffloads::is_tensor(NodeId id) const {
  const Node& n = graph_.node(id);
  return n.kind == NodeKind::call && graph_.single_tensor(n) != nullptr;
}

// The node itself if it returns a single tensor; otherwise, its first user that does or, if there
// is none, the node itself. ao.wait_tensor takes a single tensor as its third argument.
NodeId StepOffloads::tensor_of(NodeId id) const {
  if (is_tensor(id)) return id;
  const auto users = users_.of(id);
  const auto it = std::ranges::find_if(users, [&](NodeId user) { return is_tensor(user); });
  return it == users.end() ? id : *it;
}

StepOffload StepOffloads::readers_of(NodeId id) const {
  StepOffload offload{.node = id,
                      .last = id,
                      .first = {},
                      .direct = {},
                      .views = {},
                      .of_views = {},
                      .is_returned = false};
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
      const bool is_view = is_offload_view(graph_, user) || (at != id && graph_.op(n).is_getitem) ||
                           shares_memory(id, user);
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

std::optional<StepOffloads::StayReason> StepOffloads::stay_reason(
    const StepOffload& offload) const {
  const StorageId storage = graph_.single_tensor(graph_.node(offload.node))->storage;
  if (storage && writes_.any() && writes_.follow(offload.node, graph_.real_storage(storage)))
    return StayReason::written;
  if (offload.is_returned) return StayReason::returned;
  if (graph_.position(offload.last) > graph_.position(offload.first)) return StayReason::read_late;
  return std::nullopt;
}

// --- The order with copies ---

OffloadOrder::OffloadOrder(std::vector<Node> nodes)
    : nodes_(std::move(nodes)), end_(static_cast<Item>(nodes_.size())) {
  nodes_.emplace_back();
  next_.resize(nodes_.size());
  previous_.resize(nodes_.size());
  for (Item i = 0; i <= end_; ++i) {
    next_[i] = i == end_ ? 0 : i + 1;
    previous_[i] = i == 0 ? end_ : i - 1;
  }
}

void OffloadOrder::unlink(Item item) {
  next_[previous_[item]] = next_[item];
  previous_[next_[item]] = previous_[item];
}

void OffloadOrder::link_before(Item next, Item item) {
  next_[item] = next;
  previous_[item] = previous_[next];
  next_[previous_[next]] = item;
  previous_[next] = item;
}

OffloadOrder::Item OffloadOrder::insert_before(Item next, Item like, bool is_backward,
                                               bool is_transfer) {
  const auto item = static_cast<Item>(nodes_.size());
  nodes_.push_back({.layer = nodes_[like].layer,
                    .is_call = true,
                    .is_backward = is_backward,
                    .is_transfer = is_transfer});
  next_.emplace_back();
  previous_.emplace_back();
  link_before(next, item);
  return item;
}

OffloadOrder::Copies OffloadOrder::insert(Item node, Item last, Item first, std::size_t views) {
  Copies made{.node = node, .last = last, .first = first, .views = {}};
  const Item behind = next_[node];
  made.to_host = insert_before(behind, node, false, true);
  made.done = insert_before(behind, node, false, true);
  made.to_device = insert_before(first, node, true, true);
  made.back = insert_before(first, node, true, true);
  for (std::size_t i = 0; i < views; ++i)
    made.views.push_back(insert_before(first, node, true, false));
  return made;
}

void OffloadOrder::defer(const std::vector<Copies>& all, std::int64_t layers) {
  std::vector<Item> ends;  // last call of each run of the forward
  std::vector<std::size_t> runs(nodes_.size(), kNoRun);
  std::optional<std::int32_t> layer;
  for (Item at = next_[end_]; at != end_; at = next_[at]) {
    if (!nodes_[at].is_call) continue;
    if (nodes_[at].is_backward) break;
    if (layer != nodes_[at].layer) ends.push_back(at);
    layer = nodes_[at].layer;
    ends.back() = at;
    runs[at] = ends.size() - 1;
  }
  for (const Copies& each : all) {
    Item behind = each.last;
    const std::size_t run = runs[each.node], last_run = runs[behind];
    if (layers > 0 && run != kNoRun && last_run != kNoRun) {
      const std::size_t left = ends.size() - 1 - run;
      const auto by = static_cast<std::size_t>(std::min(layers, static_cast<std::int64_t>(left)));
      behind = ends[std::max(run + by, last_run)];
    }
    if (behind == each.node) behind = each.to_host;
    if (behind == each.done) continue;
    unlink(each.done);
    link_before(next_[behind], each.done);
  }
}

void OffloadOrder::prefetch(const std::vector<Copies>& all, std::int64_t layers) {
  if (layers == 0) return;
  std::vector<Item> starts;                      // first call of each run of the backward
  std::map<std::int32_t, std::size_t> first_of;  // by layer: index of its first run
  std::vector<std::int32_t> met;  // layers, in the order in which the backward visits them
  std::vector<std::size_t> places(nodes_.size());
  std::optional<std::int32_t> layer;
  std::size_t count = 0;
  for (Item at = next_[end_]; at != end_; at = next_[at]) {
    places[at] = count++;
    const Node& node = nodes_[at];
    if (!node.is_call || !node.is_backward || node.is_transfer) continue;
    if (layer == node.layer) continue;
    layer = node.layer;
    starts.push_back(at);
    if (node.layer >= 0 && first_of.try_emplace(node.layer, starts.size() - 1).second)
      met.push_back(node.layer);
  }
  std::vector<const Copies*> in_order;
  for (const Copies& each : all) in_order.push_back(&each);
  std::sort(in_order.begin(), in_order.end(), [&](const Copies* a, const Copies* b) {
    return places[a->to_device] < places[b->to_device];
  });
  for (const Copies* each : in_order) {
    const auto own = first_of.find(nodes_[each->to_device].layer);
    if (own == first_of.end()) continue;
    const auto place = std::find(met.begin(), met.end(), own->first) - met.begin();
    const std::size_t target =
        place < layers ? 0 : first_of[met[static_cast<std::size_t>(place - layers)]];
    if (target >= own->second || places[starts[target]] < places[each->done] ||
        places[starts[target]] > places[each->to_device])
      continue;
    unlink(each->to_device);
    link_before(starts[target], each->to_device);
  }
}

std::vector<OffloadOrder::Item> OffloadOrder::items() const {
  std::vector<Item> items;
  items.reserve(nodes_.size());
  for (Item at = next_[end_]; at != end_; at = next_[at]) items.push_back(at);
  return items;
}

std::vector<OffloadOrder::Node> offload_nodes(const Graph& graph) {
  const ModuleTree modules(graph);
  const Layers layers(graph, modules);
  std::vector<OffloadOrder::Node> nodes;
  for (const NodeId id : graph.order()) {
    const Node& n = graph.node(id);
    nodes.push_back({.layer = static_cast<std::int32_t>(layers.of(id)),
                     .is_call = n.kind == NodeKind::call,
                     .is_backward = n.phase == Phase::backward,
                     .is_transfer = n.kind == NodeKind::call && graph.op(n).space() == "ao"});
  }
  return nodes;
}

}  // namespace jointer
