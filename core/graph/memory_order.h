#pragma once

// Finds the nodes that must keep their order because one of them writes to memory that the other
// uses. memory_order.cpp states the rules.

#include <cstdint>
#include <vector>

#include "core/graph/graph.h"
#include "core/graph/memory_access.h"

namespace jointer {

class MemoryOrder {
 public:
  // The graph must outlive this object.
  explicit MemoryOrder(const Graph& graph);

  // Calls `must_come_before(other)` for nodes that must stay before `id`, possibly several times
  // for the same node, and possibly for `id` itself. May omit nodes that must stay before one of
  // the others. Nodes must be visited in program order.
  template <class Visit>
  void visit(NodeId id, Visit must_come_before) {
    if (storages_.empty() || !uses_any(id)) return;
    before_.clear();
    find_before(id);
    for (const NodeId other : before_) must_come_before(other);
  }

 private:
  struct Part {
    MemoryRegion region;
    NodeId last_writer;
    std::vector<NodeId> readers;  // since last_writer, in program order
    // The position of the last node that wrote to the whole part, or 0. That node already follows
    // the earlier nodes that use the part, so only nodes from this position on matter.
    std::size_t open_from = 0;
    std::vector<std::uint32_t> overlaps;  // parts, including this one
    std::vector<std::uint32_t> covers;    // parts, including this one
  };
  // A storage that at least one node writes to.
  struct Storage {
    std::vector<Part> parts;
    bool is_resized = false;
    NodeId last_resize;
    std::vector<NodeId> views;  // taken since last_resize
  };

  void find_storages();
  // True if the node, or the collective that it waits for, may use a storage that some node writes
  // to; an input without a value counts as such a use.
  [[nodiscard]] bool uses_any(NodeId id) const;
  void find_before(NodeId id);
  static std::size_t part_of(Storage& storage, MemoryRegion region);
  void read(Part& part, Storage& storage, NodeId id);
  void write(Part& part, Storage& storage, NodeId id);
  void note(NodeId other) {
    if (other) before_.push_back(other);
  }
  // Notes the last writer of `other`, unless a later node wrote to the whole of `part`.
  void note_writer(const Part& other, const Part& part);

  const Graph& graph_;
  std::vector<std::int32_t>
      storage_of_;  // by storage: index in storages_, or -1 if no node writes to it
  std::vector<Storage> storages_;
  std::vector<MemoryAccess> accesses_;  // of the current node
  std::vector<NodeId> before_;
};

}  // namespace jointer
