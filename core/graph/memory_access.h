#pragma once

// Which memory calls read, write, or take views of.

#include <cstdint>
#include <vector>

#include "core/graph/graph.h"
#include "core/graph/memory_region.h"

namespace jointer {

enum class MemoryUse : std::uint8_t {
  view,    // says what part it is, and neither reads nor writes it
  read,    // or makes it
  write,   // changes bytes
  resize,  // changes, or may change, how much memory there is and how tensors lie in it
};

struct MemoryAccess {
  const Tensor* tensor = nullptr;  // it has a storage
  MemoryUse use = MemoryUse::read;
  // It may reach beyond the tensor, as far as the storage does.
  bool is_whole = false;

  [[nodiscard]] bool writes() const { return use >= MemoryUse::write; }
  [[nodiscard]] MemoryRegion region(const Graph& graph) const {
    return is_whole ? MemoryRegion() : MemoryRegion(graph, *tensor);
  }
};

// It takes a view, or an element of a tuple, and reads nothing. A call that may copy and did so
// when it was captured does not count.
bool only_takes_views(const Graph& graph, const Node& node);

// Two of them, on memory that both have in part, keep their order.
bool must_keep_order(MemoryUse a, MemoryUse b);

// Appends what the node uses: its inputs, its results, and what it writes to
// (core/graph/effects.h). A wait reads and writes what its collective does. What only takes
// views uses its results as `view`.
void add_memory_accesses(const Graph& graph, NodeId id, std::vector<MemoryAccess>& accesses);

// Whether one of two nodes writes to memory that the other reads or writes, by the graph as it is
// now.
bool write_conflict(const Graph& graph, NodeId a, NodeId b);

}  // namespace jointer
