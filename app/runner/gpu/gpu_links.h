#pragma once

// How a GPU is connected to other GPUs and to the processors of its machine.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/runner/gpu/nvml.h"
#include "core/process/cpus.h"

namespace jointer::runner {

// A GPU of this machine: its number among the ranks' GPUs, and its PCI address, as CUDA writes it.
struct NumberedGpu {
  int number = 0;
  std::string bus;
};

// The connections from `gpu` to `others`, one line for each kind: "NVLink to GPUs 1, 2", "PCIe
// through the host bridge to GPU 3"; and the number of active NVLinks. Connections that NVML does
// not report are left out.
std::vector<std::string> describe_links(const Nvml& nvml, const NumberedGpu& gpu,
                                        std::span<const NumberedGpu> others);

// The NUMA node of the GPU at this PCI address, according to the files in `root`/sys; std::nullopt
// if Linux does not report one, as on most virtual machines.
std::optional<int> numa_node_of(const std::string& bus, const std::string& root = "/");

// The CPUs that are nearest to a GPU: those of its NUMA node or, if Linux reports none, those that
// NVML reports. `nvml` may be null. Empty if nothing is known.
Cpus cpus_near(const std::string& bus, const Nvml* nvml, const std::string& root = "/");

}  // namespace jointer::runner
