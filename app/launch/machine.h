#pragma once

// The cores, memory and GPUs of this machine, as far as they can be found without a device library.

#include <cstdint>
#include <string>
#include <vector>

namespace jointer {

struct Machine {
  int cores = 1;                       // number of cores that this process may use
  int gpus = 0;                        // number of GPUs that a CUDA program would see
  std::int64_t free_bytes = 0;         // free host memory; 0 if unknown
  std::int64_t gpu_bytes = 0;          // that a process can allocate on the smallest GPU with a
                                       // built-in description; 0 if none has one
  std::vector<std::string> gpu_names;  // "NVIDIA H200", as the driver reports them; may be empty
};

Machine this_machine();

}  // namespace jointer
