#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/graph/graph.h"

namespace jointer {

// Records which in-place writes of a joint graph precede each call, and checks whether the halves
// of a pair keep that order. See write_order.cpp.
class WriteOrder {
 public:
  // `joint` must outlive this.
  explicit WriteOrder(const Graph& joint);

  // True if anything writes. If nothing does, every order is correct.
  [[nodiscard]] bool any() const { return !writes_.empty(); }
  // The first call after `id` that writes to memory that `id` uses, among the calls for which
  // `counts` is true, or none.
  [[nodiscard]] NodeId next_write(NodeId id, const std::function<bool(NodeId)>& counts) const;
  // True if such a call precedes `id`.
  [[nodiscard]] bool any_before(NodeId id, const std::function<bool(NodeId)>& counts) const;
  // Checks the calls of each half, in the order in which they run. Error (usage): a call would find
  // memory contents that differ from the joint graph; the message names the call and the one that
  // writes.
  [[nodiscard]] Result<void> check(std::span<const NodeId> forward,
                                   std::span<const NodeId> backward) const;

 private:
  // A call that reads or writes a storage, after `after` writes to it.
  struct Access {
    std::uint32_t storage = 0;  // index among the storages that are written to
    std::uint32_t after = 0;
    bool writes = false;
    bool makes = false;  // it allocates the storage: none of its inputs is in there
  };
  [[nodiscard]] std::span<const Access> accesses(NodeId id) const {
    return std::span(accesses_).subspan(first_[id.index()],
                                        first_[id.index() + 1] - first_[id.index()]);
  }

  const Graph& joint_;
  std::vector<std::vector<NodeId>> writes_;  // by storage that is written to, in order
  std::vector<Access> accesses_;             // by node id
  std::vector<std::uint32_t> first_;         // by node id
};

// One sentence about a call that would run after a write that it must precede.
std::string overtaken(const Graph& joint, NodeId call, NodeId write);

}  // namespace jointer
