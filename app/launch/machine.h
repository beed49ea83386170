#pragma once

// The cores, memory and GPUs of this machine, as far as they can be found without a device library.

#include <cstdint>
#include <string>
#include <vector>

namespace jointer {

struct Machine {
  int cores = 1;                       // that this process may use
  int gpus = 0;                        // that a CUDA program would see
  std::int64_t free_bytes = 0;         // of host memory; 0: unknown
  std::int64_t gpu_bytes = 0;          // memory of its smallest GPU; 0: unknown
  std::vector<std::string> gpu_names;  // "NVIDIA H200", as the driver reports them; may be empty
};

Machine this_machine();

}  // namespace jointer
