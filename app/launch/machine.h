#pragma once

// What this machine can run ranks on, as far as it can be told without a device's libraries.

namespace jointer {

struct Machine {
  int cores = 1;  // that this process may use
  int gpus = 0;   // that a CUDA program would see
};

Machine this_machine();

}  // namespace jointer
