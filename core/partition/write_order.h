#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/graph/graph.h"

namespace jointer {

// Which of a joint graph's writes in place each call comes after, and whether the halves of a pair
// keep that: see write_order.cpp.
class WriteOrder {
 public:
  // `joint` must outlive this.
  explicit WriteOrder(const Graph& joint);

  // Whether anything writes; if not, any order is right.
  [[nodiscard]] bool any() const { return !writes_.empty(); }
  // The first call behind this one that writes to what it works on, of those that `counts` takes;
  // none if there is none.
  [[nodiscard]] NodeId next_write(NodeId id, const std::function<bool(NodeId)>& counts) const;
  // Whether such a call before this one writes to what it works on.
  [[nodiscard]] bool any_before(NodeId id, const std::function<bool(NodeId)>& counts) const;
  // Calls of each half, in the order in which they run. Error (usage): a call would find memory
  // otherwise than in the joint graph; the sentence names it and the call that writes.
  [[nodiscard]] Result<void> check(std::span<const NodeId> forward,
                                   std::span<const NodeId> backward) const;

 private:
  // A call that reads or writes a storage, after so many writes to it.
  struct Access {
    std::uint32_t storage = 0;  // among those that are written to
    std::uint32_t after = 0;
    bool writes = false;
    bool makes = false;  // the storage: none of its inputs lies there
  };
  [[nodiscard]] std::span<const Access> accesses(NodeId id) const {
    return std::span(accesses_).subspan(first_[id.index()],
                                        first_[id.index() + 1] - first_[id.index()]);
  }

  const Graph& joint_;
  std::vector<std::vector<NodeId>> writes_;  // by storage that is written to, in order
  std::vector<Access> accesses_;             // of each node, by id
  std::vector<std::uint32_t> first_;         // by node id
};

// In one sentence: a call that would find what another one wrote too early.
std::string overtaken(const Graph& joint, NodeId call, NodeId write);

}  // namespace jointer
