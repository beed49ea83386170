#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/bench/event.h"

namespace jointer::runner {

// Reads a GPU's state through NVIDIA's management library, which is loaded at run time because it
// may be missing on a machine or in a container.
class GpuMonitor {
 public:
  // `bus`: the GPU's PCI address, as CUDA writes it.
  explicit GpuMonitor(const std::string& bus);
  ~GpuMonitor();
  GpuMonitor(const GpuMonitor&) = delete;
  GpuMonitor& operator=(const GpuMonitor&) = delete;

  // std::nullopt if the library is missing or does not find the GPU. Numbers that the GPU does not
  // report are 0.
  [[nodiscard]] std::optional<GpuState> read() const;

 private:
  struct Library;
  std::unique_ptr<Library> library_;
};

}  // namespace jointer::runner
