#pragma once

// The GPUs of this machine, as far as they can be counted without a device library.

#include <string>
#include <string_view>

namespace jointer {

// The number of NVIDIA GPUs that a CUDA program started from this process would see, according to
// the driver's files in `root`/dev and CUDA_VISIBLE_DEVICES. Under WSL, where all GPUs share one
// file, 1 unless the variable names more.
int visible_gpus(const std::string& root = "/");

// The number of devices that a value of CUDA_VISIBLE_DEVICES names: the entries before the first
// one that CUDA does not recognize, which ends the list.
int named_gpus(std::string_view visible);

}  // namespace jointer
