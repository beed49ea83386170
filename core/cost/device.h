#pragma once

// Describes the performance of a device, as read from JSON. The files in resources/devices/*.json
// are built in; other files are loaded by path. Peaks are dense (without sparsity). An efficiency
// is the fraction of a peak that an ordinary kernel reaches; the description states its source.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/cost/kernel_rates.h"
#include "core/cost/torch_nccl.h"
#include "core/graph/dtype.h"

namespace jointer {

struct DeviceDescription {
  struct Efficiency {
    double matmul = 0.7, attention_forward = 0.4, attention_backward = 0.3, memory = 0.85;
  };
  // CPU time, in microseconds.
  struct Host {
    double operator_us = 2;     // any operator call, including views
    double launch_us = 3;       // added if the operator launches a kernel or a copy
    double collective_us = 15;  // added if the operator starts a collective
  };
  struct Links {
    double intra_gbps = 0, intra_efficiency = 1;  // one way, per device inside a node (1e9 B/s)
    double inter_gbps = 0, inter_efficiency = 1;  // one way, per device between nodes
    double base_us = 0, intra_step_us = 0, inter_step_us = 0;
  };

  std::string id, name, vendor, architecture;
  std::int64_t memory_bytes = 0;
  // The part of `memory_bytes` that the driver and the process's context occupy, so that torch's
  // allocator cannot get it. Excludes the buffers of NCCL, which depend on the communicators.
  std::int64_t outside_bytes = 0;
  double memory_gbps = 0;  // 1e9 B/s
  std::vector<std::pair<std::string, double>>
      peak_tflops;                // by dtype name, or tf32, float8, float4
  std::int64_t matmul_units = 1;  // output tiles computed concurrently, one per multiprocessor
  Efficiency efficiency;
  double kernel_us = 0;  // the minimum duration of a kernel
  double host_gbps = 0;  // between host and device, one way
  Host host;
  Links links;
  NcclGpu torch_nccl = NcclGpu::ampere;
  std::optional<KernelRates> kernels;  // if the description states them
  std::vector<std::string> sources;

  // Peak FLOP/s of matrix products with elements of a type. fp32 products do not use TF32 (torch's
  // default). A type without a peak uses that of a related type (float8 for float8_e4m3fn), else
  // that of bfloat16, float16 or float32, else the first.
  [[nodiscard]] double peak_flops(DType type) const;
};

// Loads a device by id ("h100", case-insensitive; "cpu{cores=4}"), by the path of a JSON file, by
// the properties of a GPU (device_text in core/cost/gpu_properties.h), or by the result of
// cpu_of_rank_text. "cpu" is the CPU of this machine with the cores that this program may use. It
// and the CPUs of cpu_of_rank_text have the rates of this machine's probe, if there is one
// (core/cost/cpu_probe.h).
// Error (usage): the device does not exist, or its text is malformed; the message lists the
// built-in devices or says what to write. Error (input): the file cannot be read, or is not a
// device description; or the probe cannot be read, or is damaged.
Result<DeviceDescription> load_device(std::string_view id_or_path);

// The text for which load_device loads this machine's CPU as shared by `ranks` ranks with `threads`
// threads each: "cpu{threads=2,ranks=4}".
std::string cpu_of_rank_text(int threads, int ranks);

// Ids of the built-in devices.
std::vector<std::string_view> device_ids();

// Returns the id of the built-in device that matches the device name reported by a driver: "h200"
// for "NVIDIA H200 141GB". Empty if none matches, also for a MIG slice, which is a part of a GPU.
std::string_view device_id_in(std::string_view name);
// Returns true for the name of a MIG slice: "NVIDIA H100 80GB HBM3 MIG 1g.10gb".
bool is_mig_slice(std::string_view name);

}  // namespace jointer
