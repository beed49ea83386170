#pragma once

// Which nodes keep their order because of memory that one of them writes to. The rules are at the
// top of memory_order.cpp.

#include <cstdint>
#include <vector>

#include "core/graph/graph.h"
#include "core/graph/memory_access.h"

namespace jointer {

class MemoryOrder {
 public:
  // The graph must outlive it.
  explicit MemoryOrder(const Graph& graph);

  // Calls `must_come_before(other)` with nodes that `id` keeps its order with, some of them more
  // than once, and itself. Visit nodes in program order.
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
    std::vector<NodeId> readers;          // since
    std::vector<std::uint32_t> overlaps;  // parts, itself among them
    std::vector<std::uint32_t> covers;    // parts, itself among them
  };
  // One that something writes to.
  struct Storage {
    std::vector<Part> parts;
    bool is_resized = false;
    NodeId last_resize;
    std::vector<NodeId> views;  // since
  };

  void find_storages();
  // Whether it uses a storage that something writes to.
  [[nodiscard]] bool uses_any(NodeId id) const;
  void find_before(NodeId id);
  static std::size_t part_of(Storage& storage, MemoryRegion region);
  void read(Part& part, Storage& storage, NodeId id);
  void write(Part& part, Storage& storage, NodeId id);
  void note(NodeId other) {
    if (other) before_.push_back(other);
  }

  const Graph& graph_;
  std::vector<std::int32_t> storage_of_;  // by storage, -1 for what nobody writes to
  std::vector<Storage> storages_;
  std::vector<MemoryAccess> accesses_;  // of the node that is visited
  std::vector<NodeId> before_;
};

}  // namespace jointer
