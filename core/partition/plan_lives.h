#pragma once

// The lifetimes of a plan's storages, shared by the source files of PlanMemory. Not a public
// header.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/partition/plan_memory.h"

namespace jointer {

inline constexpr std::int32_t kUnborn = -2;  // of a storage that is never allocated

struct PlanMemory::Lives {
  // The first and the last step of a storage.
  struct Storage {
    std::int32_t first = kUnborn, last = kUnborn;

    void use(std::int32_t at) { last = std::max(last, at); }
    void allocate(std::int32_t at) {
      if (first != kUnborn) return;
      first = at;
      use(at);
    }
  };
  // A buffer that the collective library allocates.
  struct Copy {
    std::int64_t bytes = 0;
    std::int32_t first = 0, last = 0;
  };
  // Those of the forward; those of the backward, by slot; those added by a plan
  // (PlanMemory::host_storage).
  std::vector<Storage> storages;
  std::vector<std::uint32_t> backward_storage;  // by slot
  std::vector<Copy> copies;
  std::int32_t end = 0;

  void use(std::uint32_t storage, std::int32_t at) { storages[storage].use(at); }
  void allocate(std::uint32_t storage, std::int32_t at) { storages[storage].allocate(at); }
};

}  // namespace jointer
