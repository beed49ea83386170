#pragma once

#include <memory>
#include <string>

#include "core/base/result.h"

namespace jointer::runner {

// The history of CUDA's caching allocator, and its snapshot when memory last ran out. All
// allocations of a rank, and all calls to this object, happen on one thread.
class AllocatorHistory {
 public:
  // Does not start the history. A process can have only one such object, since torch cannot detach
  // the observer that it attaches to the allocator.
  AllocatorHistory();

  void keep(bool keeps);
  // See Platform::memory_snapshot.
  [[nodiscard]] Result<std::string> snapshot() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace jointer::runner
