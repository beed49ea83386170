#pragma once

// The rates of this machine's CPU, as measured by `jointer calibrate --probe` and stored in a file.
// Without the file, or on another machine, the CPU has the generic rates of
// resources/devices/cpu.json.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/cost/device.h"
#include "core/cost/kernel_rates.h"

namespace jointer {

// Rates of the operators of one rank.
struct ProbedRank {
  int threads = 1;              // of the rank
  bool shares_machine = false;  // another rank ran on the other cores at the same time
  // The peaks of matrix products.
  double float32_tflops = 0, bfloat16_tflops = 0;
  double memory_gbps = 0;  // 1e9 B/s; the operators' own levels are in `kernels`
  double operator_us = 0;  // a call that computes nothing, such as a view
  KernelRates kernels;
  // Collectives of two ranks; 0 if they were not measured.
  double link_gbps = 0, collective_us = 0;
};

struct CpuProbe {
  std::string processor;                  // processor_name()
  int cores = 1;                          // usable_cores()
  std::vector<std::int64_t> cache_bytes;  // of a core, from the first level
  std::vector<ProbedRank> ranks;          // at least one
};

// $JOINTER_CPU or, if that is not set, cpu.json in data_folder().
std::string cpu_probe_path();
// The probe of this machine. Empty if there is no file, or if its probe was made on another
// processor or with another number of cores. Error (input): the file cannot be read, or is damaged.
Result<std::optional<CpuProbe>> read_cpu_probe(const std::string& path);
// Creates the folder if it does not exist. Error (run): the folder or the file cannot be written.
Result<void> write_cpu_probe(const std::string& path, const CpuProbe& probe);

// The CPU of a rank with `threads` threads that shares the machine with the other `ranks` - 1
// ranks: `generic` with the rates of the most similar probed rank, in proportion to the threads. If
// the ranks have more threads than the machine has cores, their threads share the cores.
DeviceDescription probed_cpu(const CpuProbe& probe, DeviceDescription generic, int threads,
                             int ranks);

// The sizes in bytes of the data caches of the first core, from the first level, according to the
// files in `root`/sys; empty if they are unknown.
std::vector<std::int64_t> cache_sizes(const std::string& root = "/");

}  // namespace jointer
