#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/runner/gpu/nvml.h"
#include "core/bench/event.h"

namespace jointer::runner {

// Reads a GPU's state through NVML.
class GpuMonitor {
 public:
  // `nvml`: may be null. `bus`: the GPU's PCI address, as CUDA writes it.
  GpuMonitor(std::shared_ptr<const Nvml> nvml, const std::string& bus);

  // Returns std::nullopt if NVML is missing or does not find the GPU. Values that the GPU does not
  // report are 0.
  [[nodiscard]] std::optional<GpuState> read() const;

  // The values that NVML does not report for this GPU, such as "memory errors (ECC)". Empty if
  // `read` returns std::nullopt.
  [[nodiscard]] std::vector<std::string> unreported() const;

 private:
  struct Reading {
    GpuState state;
    std::vector<std::string> unreported;
  };
  [[nodiscard]] Reading read_all() const;

  std::shared_ptr<const Nvml> nvml_;
  Nvml::Device device_ = nullptr;
};

}  // namespace jointer::runner
