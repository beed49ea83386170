#include "core/graph/memory_access.h"

#include <algorithm>

#include "core/graph/effects.h"
#include "core/graph/memory_sources.h"

namespace jointer {
namespace {

// True if the node reads and writes only the tensors passed to it. This holds for operators with a
// schema, except higher-order operators and those that select a part of the storage themselves.
// Code without a schema may also access the memory around a tensor.
bool keeps_to_tensors(const Node& node, const OperatorInfo& op) {
  if (node.kind != NodeKind::call) return true;
  return op.has_schema && !op.has(OperatorTag::higher_order) && !selects_from_storage(op);
}

// True for operators that change bytes but neither sizes nor layout.
bool keeps_layout(const OperatorInfo& op) {
  return op.mutates && !op.has(OperatorTag::inplace_view) &&
         op.packet().find("resize") == std::string_view::npos;
}

}  // namespace

bool must_keep_order(MemoryUse a, MemoryUse b) {
  if (a == MemoryUse::resize || b == MemoryUse::resize) return true;
  return (a == MemoryUse::write && b != MemoryUse::view) ||
         (b == MemoryUse::write && a != MemoryUse::view);
}

bool is_in_memory_of(const Graph& graph, const Tensor& tensor, NodeId node) {
  return tensor.storage && std::ranges::any_of(graph.tensors(node), [&](const Tensor& other) {
           return other.storage &&
                  graph.real_storage(other.storage) == graph.real_storage(tensor.storage);
         });
}

bool only_takes_views(const Graph& graph, const Node& node) {
  if (node.kind != NodeKind::call) return false;
  const OperatorInfo& op = graph.op(node);
  const auto inputs = graph.inputs(node);
  // Indexing a tensor may copy.
  if (op.is_getitem) return inputs.size() == 1 && !graph.single_tensor(graph.node(inputs.front()));
  if (op.is_wait || !op.is_view || graph.is_asynchronous(node)) return false;
  return std::ranges::all_of(graph.tensors(node), [&](const Tensor& result) {
    return std::ranges::any_of(inputs,
                               [&](NodeId input) { return is_in_memory_of(graph, result, input); });
  });
}

bool selects_from_storage(const OperatorInfo& op) {
  return op.name.find("as_strided") != std::string::npos ||
         op.name.find("reinterpret_tensor") != std::string::npos;
}

void add_memory_accesses(const Graph& graph, NodeId id, std::vector<MemoryAccess>& accesses) {
  const auto add_tensors = [&](NodeId of, MemoryUse use, bool is_whole) {
    for (const Tensor& tensor : graph.tensors(of))
      if (tensor.storage) accesses.push_back({.tensor = &tensor, .use = use, .is_whole = is_whole});
  };
  const auto add = [&](NodeId of, MemoryUse use, bool is_whole) {
    if (!lacks_value(graph, of)) return add_tensors(of, use, is_whole);
    std::vector<NodeId> sources;
    append_memory_sources(graph, of, sources);
    for (const NodeId source : sources) add_tensors(source, use, true);
  };
  const Node& node = graph.node(id);
  if (only_takes_views(graph, node)) return add_tensors(id, MemoryUse::view, false);
  const NodeId start = graph.is_wait(node) ? graph.collective_of_wait(node) : NodeId{};
  add_tensors(id, MemoryUse::read, !keeps_to_tensors(node, graph.op(node)));
  std::vector<NodeId> written;
  for (const NodeId call : {id, start}) {
    if (!call) continue;
    const Node& n = graph.node(call);
    const OperatorInfo& op = graph.op(n);
    const bool is_whole = !keeps_to_tensors(n, op);
    for (const NodeId input : graph.inputs(n)) add(input, MemoryUse::read, is_whole);
    if (n.kind != NodeKind::call || !may_write(op)) continue;
    written.clear();
    written_arguments(graph, n, written);
    const MemoryUse use = keeps_layout(op) ? MemoryUse::write : MemoryUse::resize;
    for (const NodeId to : written) add(to, use, is_whole || use == MemoryUse::resize);
  }
}

bool writes_to_used(const Graph& graph, NodeId writer, NodeId other) {
  std::vector<MemoryAccess> written, used;
  add_memory_accesses(graph, writer, written);
  std::erase_if(written, [](const MemoryAccess& access) { return !access.writes(); });
  if (written.empty()) return false;
  add_memory_accesses(graph, other, used);
  return std::ranges::any_of(written, [&](const MemoryAccess& one) {
    return std::ranges::any_of(used, [&](const MemoryAccess& at) {
      return must_keep_order(one.use, at.use) &&
             graph.real_storage(one.tensor->storage) == graph.real_storage(at.tensor->storage) &&
             one.region(graph).may_overlap(at.region(graph));
    });
  });
}

bool write_conflict(const Graph& graph, NodeId a, NodeId b) {
  return writes_to_used(graph, a, b) || writes_to_used(graph, b, a);
}

}  // namespace jointer
