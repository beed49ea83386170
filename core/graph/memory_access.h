#pragma once

// Finds the memory that a call reads, writes or takes views of.

#include <cstdint>
#include <vector>

#include "core/graph/graph.h"
#include "core/graph/memory_region.h"

namespace jointer {

enum class MemoryUse : std::uint8_t {
  view,    // describes a part of the memory; no bytes are read or written
  read,    // reads bytes, or produces the tensor
  write,   // changes bytes
  resize,  // may change the size of the storage or the layout of its tensors
};

struct MemoryAccess {
  const Tensor* tensor = nullptr;  // always has a storage
  MemoryUse use = MemoryUse::read;
  // The access may reach beyond the tensor, anywhere in its storage.
  bool is_whole = false;

  [[nodiscard]] bool writes() const { return use >= MemoryUse::write; }
  [[nodiscard]] MemoryRegion region(const Graph& graph) const {
    return is_whole ? MemoryRegion() : MemoryRegion(graph, *tensor);
  }
};

// True if the node only takes views, or an element of a tuple. False for a call that may copy and
// did when it was captured.
bool only_takes_views(const Graph& graph, const Node& node);

// True if the call selects a part of the storage, as as_strided does, and not of its argument.
bool selects_from_storage(const OperatorInfo& op);

// True if two accesses to overlapping bytes must keep their order.
bool must_keep_order(MemoryUse a, MemoryUse b);

// Appends the accesses of a node: to its inputs, its results, and the arguments it writes to
// (core/graph/effects.h). A wait also reads and writes what its collective reads and writes. A node
// that only takes views has a single access, its results, as `view`. An argument without a value
// stands for all of the memory that it may have (core/graph/memory_sources.h).
void add_memory_accesses(const Graph& graph, NodeId id, std::vector<MemoryAccess>& accesses);

// True if `writer` writes to bytes that the other node reads or writes, in the current graph.
bool writes_to_used(const Graph& graph, NodeId writer, NodeId other);

// True if one of two nodes writes to memory that the other reads or writes, in the current graph.
bool write_conflict(const Graph& graph, NodeId a, NodeId b);

}  // namespace jointer
