#pragma once

#include <ATen/core/Tensor.h>

namespace jointer::test {

// A view of a tensor on the fake device that CPU kernels can read and write. It must not outlive
// `tensor`.
at::Tensor on_host(const at::Tensor& tensor);

// While this object lives, torch's CPU allocator takes memory from the device.
class OnDeviceMemory {
 public:
  OnDeviceMemory();
  ~OnDeviceMemory();
  OnDeviceMemory(const OnDeviceMemory&) = delete;
  OnDeviceMemory& operator=(const OnDeviceMemory&) = delete;
};

}  // namespace jointer::test
