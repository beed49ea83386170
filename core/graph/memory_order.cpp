// Finds the nodes that must keep their order because one writes to memory that the other uses.
//
// Rules
//   - A node that writes to memory keeps its order with every node that reads or writes any of the
//     same bytes. Storages are the real ones (Graph::real_storage); memory_access.h and
//     memory_region.h define the bytes of each node.
//   - Creating a view reads nothing, so a view moves across writes to its memory. It does not move
//     across calls that may change the memory itself: inductor.resize_storage_bytes_, aten.set_,
//     and calls without a schema.
//
// Terms. Part: a region of a storage that some tensor covers. A storage has one part for each of up
// to 64 distinct regions, and one part for the whole storage, which stands for the regions of all
// further tensors.
//
// Steps. For each part, keep the last writer and the nodes that have read the part since. A reader
// comes after the last writers of all parts that overlap its own; a writer comes after the last
// writers and the readers of these parts. The writer then replaces the writers and readers of the
// parts that its own part covers: a later node that conflicts with them also conflicts with it.
// Writers and readers of other parts remain, but a node that uses such a part depends only on the
// writers and readers after the last write to the whole part, because that write depends on the
// rest.
//
// Cost: linear in nodes and inputs; for memory that is written to, times the number of overlapping
// parts.

#include "core/graph/memory_order.h"

#include <algorithm>

#include "core/graph/effects.h"
#include "core/graph/memory_sources.h"

namespace jointer {
namespace {

constexpr std::size_t kMaxParts = 64;

}  // namespace

MemoryOrder::MemoryOrder(const Graph& graph) : graph_(graph) {
  find_storages();
}

void MemoryOrder::find_storages() {
  storage_of_.assign(graph_.storage_count(), -1);
  std::vector<bool> may(graph_.operator_count());
  for (std::size_t i = 0; i < may.size(); ++i) may[i] = may_write(graph_.op(OperatorId(i)));
  for (const NodeId id : graph_.order()) {
    const Node& node = graph_.node(id);
    if (node.kind != NodeKind::call || !may[node.target.index()]) continue;
    accesses_.clear();
    add_memory_accesses(graph_, id, accesses_);
    for (const MemoryAccess& access : accesses_) {
      if (!access.writes()) continue;
      std::int32_t& at = storage_of_[graph_.real_storage(access.tensor->storage).index()];
      if (at < 0) {
        at = static_cast<std::int32_t>(storages_.size());
        storages_.emplace_back();
      }
      Storage& storage = storages_[static_cast<std::size_t>(at)];
      storage.is_resized = storage.is_resized || access.use == MemoryUse::resize;
    }
  }
}

bool MemoryOrder::uses_any(NodeId id) const {
  const auto is_written = [&](NodeId of) {
    return std::ranges::any_of(graph_.tensors(of), [&](const Tensor& tensor) {
      return tensor.storage && storage_of_[graph_.real_storage(tensor.storage).index()] >= 0;
    });
  };
  const auto may_use = [&](NodeId input) {
    return is_written(input) || lacks_value(graph_, input);
  };
  const auto uses = [&](NodeId call) {
    return is_written(call) || std::ranges::any_of(graph_.inputs(call), may_use);
  };
  const Node& node = graph_.node(id);
  const NodeId start = graph_.is_wait(node) ? graph_.collective_of_wait(node) : NodeId{};
  return uses(id) || (start && uses(start));
}

void MemoryOrder::find_before(NodeId id) {
  accesses_.clear();
  add_memory_accesses(graph_, id, accesses_);
  for (const MemoryAccess& access : accesses_) {
    const std::int32_t at = storage_of_[graph_.real_storage(access.tensor->storage).index()];
    if (at < 0) continue;
    Storage& storage = storages_[static_cast<std::size_t>(at)];
    if (storage.is_resized) {
      note(storage.last_resize);
      if (access.use == MemoryUse::view) storage.views.push_back(id);
    }
    if (access.use == MemoryUse::view) continue;
    Part& part = storage.parts[part_of(storage, access.region(graph_))];
    if (access.writes())
      write(part, storage, id);
    else
      read(part, storage, id);
    if (access.use != MemoryUse::resize) continue;
    before_.insert(before_.end(), storage.views.begin(), storage.views.end());
    storage.views.clear();
    storage.last_resize = id;
  }
}

std::size_t MemoryOrder::part_of(Storage& storage, MemoryRegion region) {
  std::vector<Part>& parts = storage.parts;
  auto known = std::ranges::find(parts, region, &Part::region);
  if (known == parts.end() && parts.size() >= kMaxParts) {
    region = MemoryRegion();
    known = std::ranges::find(parts, region, &Part::region);
  }
  if (known != parts.end()) return static_cast<std::size_t>(known - parts.begin());
  const auto added = static_cast<std::uint32_t>(parts.size());
  Part part{.region = std::move(region)};
  for (std::uint32_t i = 0; i < added; ++i) {
    Part& other = parts[i];
    if (!part.region.may_overlap(other.region)) continue;
    part.overlaps.push_back(i);
    other.overlaps.push_back(added);
    if (part.region.covers(other.region)) part.covers.push_back(i);
    if (other.region.covers(part.region)) other.covers.push_back(added);
  }
  part.overlaps.push_back(added);
  part.covers.push_back(added);
  parts.push_back(std::move(part));
  return added;
}

void MemoryOrder::note_writer(const Part& other, const Part& part) {
  if (other.last_writer && graph_.position(other.last_writer) >= part.open_from)
    before_.push_back(other.last_writer);
}

void MemoryOrder::read(Part& part, Storage& storage, NodeId id) {
  for (const std::uint32_t i : part.overlaps) note_writer(storage.parts[i], part);
  if (part.readers.empty() || part.readers.back() != id) part.readers.push_back(id);
}

void MemoryOrder::write(Part& part, Storage& storage, NodeId id) {
  for (const std::uint32_t i : part.overlaps) {
    const Part& other = storage.parts[i];
    const auto open = std::ranges::partition_point(
        other.readers, [&](NodeId reader) { return graph_.position(reader) < part.open_from; });
    before_.insert(before_.end(), open, other.readers.end());
    note_writer(other, part);
  }
  for (const std::uint32_t i : part.covers) {
    Part& other = storage.parts[i];
    other.last_writer = {};
    other.readers.clear();
    other.open_from = graph_.position(id);
  }
  part.last_writer = id;
}

}  // namespace jointer
