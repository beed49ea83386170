// Computes a device description from the properties that the CUDA driver reports.
//
// Peaks: multiprocessors x FLOPs per clock x maximum clock. The dense FLOPs per clock of one
// multiprocessor follow from the compute capability; NVIDIA's architecture whitepapers (Volta to
// Blackwell) state them for the whole chip:
//
//   capability  bf16 tensor  float32  float64   for example
//   7.0              1024 *      128       64   V100: 125 TFLOP/s
//   7.5              1024 *      128        4   T4: 65
//   8.0              2048        128      128   A100: 312
//   8.6, 8.7         1024        256        4   A6000: 155
//   8.9              1024        256        4   L40S: 362
//   9.0              4096        256      256   H100: 989
//   10.x             8192        256      128   B200: 2250
//   12.x             1024        256        4   RTX PRO 6000: 503
//   * float16; there is no bf16 tensor core, and torch computes bf16 products in float32
//
// GeForce cards accumulate tensor products in float32 at half of this rate. TF32 has half of the
// bf16 rate; float8 and int8 have twice the rate, float8 from capability 8.9.
//
// Memory bandwidth: 2 transfers per memory clock x the width of the bus or, if the driver does not
// report these, that of the closest built-in description. For a MIG slice of a GPU with a built-in
// description, the bandwidth is the GPU's times the slice's share of the memory, because the slice
// reports the whole chip's bus.
//
// Deviations: 7.0 has no int8 tensor cores, so its int8 peak is too high. The B300 (10.3) is given
// the float64 rate of the B200, which is higher than its own. The H20 computes tensor products at
// 148 TFLOP/s (NVIDIA's data sheet), less than its multiprocessors would by this rule.
//
// Efficiencies, times of the host and of launches, and network links are those of the closest
// built-in description: the driver does not report them. GPUs of the capabilities 7.5, 8.6, 8.7,
// 8.9 and 12.x communicate over PCIe, even if an NVLink bridge connects two of them.

#include "core/cost/gpu_properties.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "core/base/characters.h"
#include "core/cost/gpu_properties_fields.h"

namespace jointer {
namespace {

constexpr std::string_view kPrefix = "gpu";

struct Generation {
  int major, minor;          // the first capability of the generation
  std::string_view closest;  // built-in description
  bool has_bfloat16;
  double tensor, float32, float64;  // FLOPs per clock of a multiprocessor
  bool has_nvlink;
};
constexpr std::array<Generation, 8> kGenerations{{
    {7, 0, "a100", false, 1024, 128, 64, true},
    {7, 5, "a100", false, 1024, 128, 4, false},
    {8, 0, "a100", true, 2048, 128, 128, true},
    {8, 6, "a100", true, 1024, 256, 4, false},
    {8, 9, "a100", true, 1024, 256, 4, false},
    {9, 0, "h100", true, 4096, 256, 256, true},
    {10, 0, "b200", true, 8192, 256, 128, true},
    {12, 0, "b200", true, 1024, 256, 4, false},
}};
constexpr std::pair<int, int> kFirstFloat8{8, 9};
constexpr double kH20Tflops = 148;

// The generation of the capability: the last one that does not begin after it. Older GPUs are
// treated as the first.
const Generation& generation_of(const GpuProperties& gpu) {
  const std::pair capability{gpu.major, gpu.minor};
  const auto is_later = [&](const Generation& each) {
    return std::pair(each.major, each.minor) > capability;
  };
  const auto after = std::ranges::find_if(kGenerations, is_later);
  return after == kGenerations.begin() ? kGenerations.front() : *std::prev(after);
}

void set_peaks(const GpuProperties& gpu, const Generation& generation, DeviceDescription& device) {
  constexpr double kPerTera = 1e6;  // from MHz
  const std::string name = lowercase(gpu.name);
  const auto tflops = [&](double flops_per_clock) {
    return static_cast<double>(gpu.multiprocessors) * flops_per_clock *
           static_cast<double>(gpu.sm_mhz) / kPerTera;
  };
  const double full_rate = name.ends_with("h20") ? kH20Tflops : tflops(generation.tensor);
  const double tensor = name.find("geforce") != std::string::npos ? full_rate / 2 : full_rate;
  const double float32 = tflops(generation.float32);
  device.peak_tflops = {{"float64", tflops(generation.float64)},
                        {"float32", float32},
                        {"float16", tensor},
                        {"bfloat16", generation.has_bfloat16 ? tensor : float32},
                        {"int8", 2 * full_rate}};
  if (generation.has_bfloat16) device.peak_tflops.emplace_back("tf32", tensor / 2);
  if (std::pair(gpu.major, gpu.minor) >= kFirstFloat8)
    device.peak_tflops.emplace_back("float8", 2 * tensor);
}

// The built-in description of the whole GPU that a MIG slice is a part of, if there is one.
std::optional<DeviceDescription> whole_of(const GpuProperties& gpu) {
  if (!is_mig_slice(gpu.name)) return std::nullopt;
  const std::string_view id = device_id_in(gpu.name.substr(0, gpu.name.find(" MIG")));
  if (id.empty()) return std::nullopt;
  return *load_device(id);
}

void set_memory(const GpuProperties& gpu, DeviceDescription& device) {
  // The driver reports the memory that it leaves; the context of a process takes about 0.5 GiB.
  constexpr std::int64_t kContext = std::int64_t{512} << 20;
  device.memory_bytes = gpu.memory_bytes;
  device.outside_bytes = gpu.memory_bytes > kContext ? kContext : 0;
  if (const auto whole = whole_of(gpu); whole && whole->memory_bytes > 0) {
    device.memory_gbps = whole->memory_gbps * static_cast<double>(gpu.memory_bytes) /
                         static_cast<double>(whole->memory_bytes);
    device.sources.push_back(
        fmt::format("memory bandwidth: the slice's share of the memory of {}", whole->name));
    return;
  }
  constexpr double kTransfersPerClock = 2, kBitsPerByte = 8, kMhzPerGhz = 1e3;
  const double gbps = kTransfersPerClock * static_cast<double>(gpu.memory_mhz) / kMhzPerGhz *
                      static_cast<double>(gpu.memory_bus_bits) / kBitsPerByte;
  if (gbps > 0) {
    device.memory_gbps = gbps;
    device.sources.emplace_back("memory bandwidth: memory clock and bus width");
  } else {
    device.sources.emplace_back(
        "memory bandwidth: that of the closest built-in description, as the driver reports none");
  }
}

}  // namespace

std::string described_name(std::string_view name) {
  return fmt::format("{}, by its properties", name);
}

bool can_describe(const GpuProperties& properties) {
  return properties.multiprocessors > 0 && properties.sm_mhz > 0;
}

std::string device_text(const GpuProperties& properties) {
  return std::string(kPrefix) + write_json(json_of(properties));
}

bool is_gpu_text(std::string_view text) {
  return text.starts_with(kPrefix) && text.substr(kPrefix.size()).starts_with('{');
}

Result<DeviceDescription> load_gpu(std::string_view text) {
  const auto refuse = [&](std::string_view why) {
    return fail(Error::Kind::usage,
                "device `{}`: {}; write a description in a JSON file instead "
                "(resources/devices/h100.json is an example)",
                text, why);
  };
  const auto json = parse_tree(text.substr(kPrefix.size()));
  if (!json) return refuse("the text after `gpu` is not JSON");
  JsonMembers members(*json);
  GpuProperties gpu;
  read_fields(members, gpu);
  if (!members.problem().empty()) return refuse(members.problem());
  if (!can_describe(gpu)) return refuse("`multiprocessors` and `sm_mhz` must be positive");
  return describe_gpu(gpu);
}

DeviceDescription describe_gpu(const GpuProperties& gpu) {
  const Generation& generation = generation_of(gpu);
  DeviceDescription device = *load_device(generation.closest);
  const std::string closest = std::exchange(device.name, described_name(gpu.name));
  device.id = device_text(gpu);
  device.sources.clear();
  device.matmul_units = std::max<std::int64_t>(1, gpu.multiprocessors);
  set_peaks(gpu, generation, device);
  device.sources.push_back(
      fmt::format("peaks: {} multiprocessors at {} MHz, compute capability {}.{}",
                  gpu.multiprocessors, gpu.sm_mhz, gpu.major, gpu.minor));
  set_memory(gpu, device);
  if (!generation.has_nvlink) {
    device.links.intra_gbps = device.host_gbps;
    device.links.inter_gbps = std::min(device.links.inter_gbps, device.host_gbps);
    device.sources.emplace_back("links within a node: PCIe, without NVLink bridges");
  }
  device.sources.push_back(
      fmt::format("efficiencies, launches, other links: those of {}", closest));
  return device;
}

}  // namespace jointer
