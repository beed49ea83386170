#pragma once

// The cores and GPUs of this machine, as far as they can be found without a device library.

namespace jointer {

struct Machine {
  int cores = 1;  // that this process may use
  int gpus = 0;   // that a CUDA program would see
};

Machine this_machine();

}  // namespace jointer
