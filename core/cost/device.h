#pragma once

// What a device can do, as JSON data: resources/devices/*.json are built in, a file of one's own is
// named by its path. Peaks are dense (not with sparsity); efficiencies say which part of a peak an
// ordinary kernel reaches and where the figure is from.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/cost/torch_nccl.h"
#include "core/graph/dtype.h"

namespace jointer {

struct DeviceDescription {
  struct Efficiency {
    double matmul = 0.7, attention_forward = 0.4, attention_backward = 0.3, memory = 0.85;
  };
  // CPU time, in microseconds.
  struct Host {
    double operator_us = 2;     // any operator call, views too
    double launch_us = 3;       // more for one that launches a kernel
    double collective_us = 15;  // more for one that starts a collective
  };
  struct Links {
    double intra_gbps = 0, intra_efficiency = 1;  // one way, of one device inside a node (1e9 B/s)
    double inter_gbps = 0, inter_efficiency = 1;  // one way, of one device's share between nodes
    double base_us = 0, intra_step_us = 0, inter_step_us = 0;
  };

  std::string id, name, vendor, architecture;
  std::int64_t memory_bytes = 0;
  double memory_gbps = 0;  // 1e9 B/s
  std::vector<std::pair<std::string, double>>
      peak_tflops;                // by dtype name, or tf32, float8, float4
  std::int64_t matmul_units = 1;  // how many output tiles run at once: multiprocessors
  Efficiency efficiency;
  double kernel_us = 0;  // the shortest a kernel takes
  double host_gbps = 0;  // between host and device, one way
  Host host;
  Links links;
  NcclGpu torch_nccl = NcclGpu::ampere;
  std::vector<std::string> sources;

  // Peak FLOP/s of matrix products of a type. fp32 products run as fp32 (torch's default). Types
  // without a figure take that of the next wider one that has.
  [[nodiscard]] double peak_flops(DType type) const;
};

// By id ("h100", in any case) or by path of a JSON file. Error (usage): no such device; the message
// lists them. Error (input): the file is not a device description.
Result<DeviceDescription> load_device(std::string_view id_or_path);

// Ids of the built-in devices.
std::vector<std::string_view> device_ids();

// The built-in device that a driver calls `name`: "h200" of "NVIDIA H200 141GB". Empty: none of
// them.
std::string_view device_id_in(std::string_view name);

}  // namespace jointer
