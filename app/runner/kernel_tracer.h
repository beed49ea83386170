#pragma once

// Records the kernels and copies that a training step runs on a device, and when they ran. Marks
// around a call (platform.h) measure a GPU's time correctly only while the host stays ahead of the
// GPU; for small kernels, they measure the time of launches.

#include <cstdint>
#include <string>
#include <vector>

namespace jointer::runner {

struct TracedKernel {
  std::size_t instruction = 0;  // the instruction that launched it
  std::string name;
  std::int64_t stream = 0;
  std::int64_t start_ns = 0, end_ns = 0;  // on the tracer's clock
};

// Traces from its creation until stop().
class KernelTracer {
 public:
  virtual ~KernelTracer() = default;
  KernelTracer() = default;
  KernelTracer(const KernelTracer&) = delete;
  KernelTracer& operator=(const KernelTracer&) = delete;

  // Work that is launched between this call and end() belongs to `instruction`.
  virtual void begin(std::size_t instruction) = 0;
  virtual void end() = 0;
  // Waits for the device. Returns the kernels in order of their start times, or none if the device
  // could not be traced.
  virtual std::vector<TracedKernel> stop() = 0;
};

}  // namespace jointer::runner
