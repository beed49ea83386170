#pragma once

// Counts the GPUs of this machine, as far as possible without a device library.

#include <string>
#include <string_view>

namespace jointer {

// The number of NVIDIA GPUs that a CUDA program started from this process would see, according to
// the driver's files in `root`/dev and CUDA_VISIBLE_DEVICES. Under WSL, where all GPUs share one
// file, returns 1 if the variable is not set.
int visible_gpus(const std::string& root = "/");

// The number of devices that a value of CUDA_VISIBLE_DEVICES names on a machine with `gpus` GPUs.
// As in CUDA, the list ends before the first invalid entry, and a list with a repeated entry names
// none. Every entry that begins with `GPU-` or `MIG-` counts as valid.
int named_gpus(std::string_view visible, int gpus);

// The value of CUDA_VISIBLE_DEVICES with which a program that this process starts sees only the GPU
// that is CUDA device `index` of this process.
std::string only_gpu(int index);

}  // namespace jointer
