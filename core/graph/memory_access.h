#pragma once

// Finds the memory that a call reads, writes or creates views of.

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

// True if two accesses to overlapping bytes must keep their order.
bool must_keep_order(MemoryUse a, MemoryUse b);

struct MemoryAccess {
  const Tensor* tensor = nullptr;  // always has a storage
  MemoryUse use = MemoryUse::read;
  // The access may reach beyond the tensor, to any part of its storage.
  bool is_whole = false;

  [[nodiscard]] bool writes() const { return use >= MemoryUse::write; }
  [[nodiscard]] MemoryRegion region(const Graph& graph) const {
    return is_whole ? MemoryRegion() : MemoryRegion(graph, *tensor);
  }
};

// True if the tensor is in the same storage as a tensor that the node returns.
bool is_in_memory_of(const Graph& graph, const Tensor& tensor, NodeId node);

// True if the node only creates views or returns an element of a tuple. False for a call that may
// or may not copy and did copy when it was captured.
bool only_takes_views(const Graph& graph, const Node& node);

// True if the call selects a part of the storage rather than of its argument, as as_strided does.
bool selects_from_storage(const OperatorInfo& op);

// Appends the accesses of a node: to its inputs, its results, and the arguments it writes to
// (core/graph/effects.h). A wait also accesses what its collective accesses. A node that only
// creates views has only accesses of kind `view`, one per result. An argument without a value
// counts as all the memory that it may share (core/graph/memory_sources.h).
void add_memory_accesses(const Graph& graph, NodeId id, std::vector<MemoryAccess>& accesses);

// True if, in the current graph, `writer` writes to bytes that `other` reads or writes, or may
// resize a storage that `other` uses.
bool writes_to_used(const Graph& graph, NodeId writer, NodeId other);

// True if writes_to_used is true of the nodes in either order.
bool write_conflict(const Graph& graph, NodeId a, NodeId b);

}  // namespace jointer
