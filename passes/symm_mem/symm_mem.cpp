#include "passes/symm_mem/symm_mem.h"

namespace jointer {

std::vector<Pass> symm_mem_passes() {
  return {async_tensor_parallel_pass(), low_contention_collectives_pass()};
}

}  // namespace jointer
