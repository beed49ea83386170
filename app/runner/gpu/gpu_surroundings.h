#pragma once

// A rank's GPU within its machine: NVML, the links to the GPUs of other ranks, and the nearest
// CPUs.

#include <memory>
#include <string>
#include <vector>

#include "app/runner/gpu/gpu_links.h"
#include "app/runner/gpu/gpu_monitor.h"

namespace jointer::runner {

struct SurroundingsOptions {
  NumberedGpu gpu;
  std::vector<NumberedGpu> others;  // of the other ranks on this machine, as far as they are known
  bool pins = true;                 // pin this process's threads to the nearest CPUs
  std::string nvml = kNvmlLibrary;
  std::string root = "/";  // contains the files of Linux
};

class GpuSurroundings {
 public:
  // Pins all threads of this process if that is requested and possible (choose_pinning).
  explicit GpuSurroundings(SurroundingsOptions options);

  [[nodiscard]] const GpuMonitor& monitor() const { return monitor_; }
  // Facts for the environment of a result: the driver's version, where the GPU is, its links to the
  // other GPUs, why the rank is not pinned (if that is of interest), and the values that NVML does
  // not report. NVML lists this process only once it uses the GPU; until then, the memory of other
  // processes is unknown.
  [[nodiscard]] std::vector<std::string> facts() const;
  // Notes for the user: that NVML is missing or does not work, and that the rank is pinned.
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }
  // The number of CPUs to which the rank is pinned; 0 if it is not.
  [[nodiscard]] int pinned_cpus() const { return pinned_cpus_; }

 private:
  void pin(const SurroundingsOptions& options);

  std::shared_ptr<const Nvml> nvml_;
  GpuMonitor monitor_;
  std::vector<std::string> facts_, notes_;
  int pinned_cpus_ = 0;
};

}  // namespace jointer::runner
