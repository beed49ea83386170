// Reads and writes the probe of this machine's CPU, and computes the description of a rank's CPU
// from it.
//
// Steps
//   1. Choose the most similar probed rank: if possible, one that shared the machine or ran alone
//      as this rank does; among these, the one with the most similar number of threads.
//   2. Scale the probed rank's rates of FLOPs, bytes and special functions by the number of
//      threads: this rank's divided by the probed rank's. The fixed times of a call stay the same.
//   3. If the ranks have more threads than the machine has cores, everything is slower by that
//      factor: rates are divided by it, and times are multiplied by it.
//   4. The start-up time of a collective follows from that of the probed all-gather of two ranks: a
//      quarter of it for each step of a ring, and the rest regardless of the number of ranks.
// Numbers that the probe does not measure (links between machines, the size of the memory) are
// those of the generic CPU.
//
// Cost: reads a small file. Deviations: the rates of a number of threads that was not probed are in
// proportion to the threads, although a core that runs alone has more bandwidth than its share.
// Source: Jointer's own.

#include "core/cost/cpu_probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "core/base/bytes.h"
#include "core/base/counted.h"
#include "core/base/environment.h"
#include "core/base/json_fields.h"
#include "core/base/number_text.h"
#include "core/cost/kernel_rates_fields.h"

namespace jointer {

constexpr auto json_fields(const ProbedRank* /*of*/) {
  return std::tuple(json_field("threads", &ProbedRank::threads).required(),
                    json_field("shares_machine", &ProbedRank::shares_machine).required(),
                    json_field("float32_tflops", &ProbedRank::float32_tflops).required(),
                    json_field("bfloat16_tflops", &ProbedRank::bfloat16_tflops).required(),
                    json_field("memory_gbps", &ProbedRank::memory_gbps).required(),
                    json_field("operator_us", &ProbedRank::operator_us).required(),
                    json_field("kernels", &ProbedRank::kernels).required(),
                    json_field("link_gbps", &ProbedRank::link_gbps),
                    json_field("collective_us", &ProbedRank::collective_us));
}

constexpr auto json_fields(const CpuProbe* /*of*/) {
  return std::tuple(json_field("processor", &CpuProbe::processor).required(),
                    json_field("cores", &CpuProbe::cores).required(),
                    json_field("cache_bytes", &CpuProbe::cache_bytes),
                    json_field("ranks", &CpuProbe::ranks).required());
}

namespace {

constexpr std::string_view kAdvice =
    "delete the file, or probe again with `jointer calibrate --probe`";

// True if the rate can be used as a divisor.
bool is_rate(double value) {
  return value > 1e-9 && value < 1e9;
}

bool is_usable(const ProbedRank& rank) {
  return rank.threads > 0 && is_rate(rank.float32_tflops) && is_rate(rank.bfloat16_tflops) &&
         is_rate(rank.memory_gbps) && rank.operator_us >= 0 && rank.link_gbps >= 0 &&
         rank.collective_us >= 0 && problem_of(rank.kernels).empty();
}

// The most similar probed rank (step 1).
const ProbedRank& most_similar(const CpuProbe& probe, int threads, int ranks) {
  const auto distance = [&](const ProbedRank& rank) {
    const double ratio = static_cast<double>(threads) / rank.threads;
    return std::pair(rank.shares_machine != (ranks > 1), std::abs(std::log(ratio)));
  };
  return *std::ranges::min_element(probe.ranks, {}, distance);
}

}  // namespace

std::string cpu_probe_path() {
  const std::string path = environment_variable("JOINTER_CPU");
  return path.empty() ? data_folder() + "/cpu.json" : path;
}

Result<std::optional<CpuProbe>> read_cpu_probe(const std::string& path) {
  std::error_code status;
  if (!std::filesystem::exists(path, status)) return std::nullopt;
  JOINTER_TRY(const PaddedBytes bytes, read_bytes(path));
  JOINTER_TRY(const OrderedJson json, parse_json(bytes.view(), path));
  auto probe = from_json<CpuProbe>(json);
  if (!probe)
    return input_error("{}: not the result of a CPU probe: {}; {}", path, probe.error().message,
                       kAdvice);
  if (probe->ranks.empty() || !std::ranges::all_of(probe->ranks, is_usable))
    return input_error("{}: the rates of the CPU are damaged; {}", path, kAdvice);
  if (probe->processor != processor_name() || probe->cores != usable_cores()) return std::nullopt;
  return std::optional(*std::move(probe));
}

Result<void> write_cpu_probe(const std::string& path, const CpuProbe& probe) {
  if (const std::filesystem::path folder = std::filesystem::path(path).parent_path();
      !folder.empty())
    JOINTER_CHECK(make_folder(folder.string()));
  return write_bytes(path, json_of(probe).dump(2) + '\n');
}

DeviceDescription probed_cpu(const CpuProbe& probe, DeviceDescription generic, int threads,
                             int ranks) {
  const ProbedRank& rank = most_similar(probe, threads, ranks);
  const double wanted = static_cast<double>(threads) * ranks;
  const double slower = std::max(wanted / probe.cores, 1.0);
  const double rate = static_cast<double>(threads) / rank.threads / slower;
  DeviceDescription device = std::move(generic);
  device.name = fmt::format("{}, {}, probed", probe.processor.empty() ? "CPU" : probe.processor,
                            counted(static_cast<std::size_t>(threads), "thread"));
  device.peak_tflops = {{"float64", rank.float32_tflops / 2 * rate},
                        {"float32", rank.float32_tflops * rate},
                        {"bfloat16", rank.bfloat16_tflops * rate},
                        {"float16", rank.bfloat16_tflops * rate},
                        {"int8", rank.float32_tflops * rate}};
  device.efficiency.matmul = device.efficiency.memory = 1;
  device.memory_gbps = rank.memory_gbps * rate;
  device.host_gbps = rank.memory_gbps * rate / 2;
  device.host = {.operator_us = rank.operator_us * slower, .launch_us = 0, .collective_us = 0};
  device.kernel_us = rank.kernels.launch_us * slower;
  device.kernels = rank.kernels;
  device.kernels->launch_us *= slower;
  device.kernels->product_us *= slower;
  device.kernels->special_gops *= rate;
  for (KernelRates::Level& level : device.kernels->levels) level.gbps *= rate;
  if (rank.link_gbps > 0) {
    device.links.intra_gbps = rank.link_gbps / slower;
    device.links.intra_efficiency = 1;
    // Three quarters of the start-up time do not depend on the number of ranks.
    device.links.base_us = rank.collective_us * slower * 3 / 4;
    device.links.intra_step_us = rank.collective_us * slower / 4;
  }
  device.sources = {fmt::format("probed on this machine, {} of {}, by `jointer calibrate --probe`",
                                counted(static_cast<std::size_t>(rank.threads), "thread"),
                                counted(static_cast<std::size_t>(probe.cores), "core")),
                    "links between machines: those of the generic CPU"};
  return device;
}

std::vector<std::int64_t> cache_sizes(const std::string& root) {
  std::vector<std::int64_t> sizes;
  for (int index = 0;; ++index) {
    const std::string folder =
        fmt::format("{}/sys/devices/system/cpu/cpu0/cache/index{}/", root, index);
    std::string type, size;
    if (!(std::ifstream(folder + "type") >> type) || !(std::ifstream(folder + "size") >> size))
      return sizes;
    if (type == "Instruction" || size.empty()) continue;
    constexpr std::int64_t kKilo = 1024;
    const std::int64_t unit = size.back() == 'K' ? kKilo : size.back() == 'M' ? kKilo * kKilo : 1;
    if (unit > 1) size.pop_back();
    sizes.push_back(number_of<std::int64_t>(size).value_or(0) * unit);
  }
}

}  // namespace jointer
