#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/base/lists.h"
#include "core/base/result.h"
#include "core/graph/graph.h"

namespace jointer {

// Records which in-place writes of a graph precede each call, and checks whether the halves of a
// pair keep the order of their joint graph. The top of write_order.cpp states the rules.
class WriteOrder {
 public:
  // `joint` must outlive this object.
  explicit WriteOrder(const Graph& joint);

  // True if anything writes. If nothing does, every order is correct.
  [[nodiscard]] bool any() const { return !writes_.empty(); }
  // Among the calls for which `counts` is true, the first after `id` that writes to memory that
  // `id` uses; none if there is no such call.
  [[nodiscard]] NodeId next_write(NodeId id, const std::function<bool(NodeId)>& counts) const;
  // True if a call before `id` for which `counts` is true writes to memory that `id` uses.
  [[nodiscard]] bool any_before(NodeId id, const std::function<bool(NodeId)>& counts) const;
  // Checks the calls of each half, given in the order in which they run. Error (usage): a call
  // would use memory with other contents than in the joint graph, memory that is written to would
  // be allocated in both halves, or a write would run in neither; the message names the calls.
  [[nodiscard]] Result<void> check(std::span<const NodeId> forward,
                                   std::span<const NodeId> backward) const;

 private:
  // A call's use of a storage that some call writes to, after the first `after` writes to it.
  struct Access {
    std::uint32_t storage = 0;  // index among the storages that are written to
    std::uint32_t after = 0;
    bool writes = false;
    bool makes = false;  // the call allocates the storage: none of its inputs is in it
  };
  const Graph& joint_;
  std::vector<std::vector<NodeId>> writes_;  // the writes to each storage, in program order
  Lists<Access> accesses_;                   // by node id
};

// The message that a call would run after a write that must follow it.
std::string overtaken(const Graph& joint, NodeId call, NodeId write);

}  // namespace jointer
