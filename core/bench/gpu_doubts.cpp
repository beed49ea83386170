#include "core/bench/gpu_doubts.h"

#include <fmt/core.h>

#include "core/base/counted.h"
#include "core/base/units.h"

namespace jointer {
namespace {

// Processes that only draw, such as a display server, use less than this.
constexpr std::int64_t kMuchMemory = std::int64_t{1} << 30;

}  // namespace

std::vector<std::string> gpu_doubts(const GpuState& gpu) {
  std::vector<std::string> doubts;
  if (gpu.uncorrected_ecc_errors > 0)
    doubts.push_back(fmt::format(
        "the GPU has had {} since its driver was loaded: outputs may be wrong, and steps may fail; "
        "reset the GPU, or use another one",
        counted(static_cast<std::size_t>(gpu.uncorrected_ecc_errors),
                "memory error that ECC could not correct",
                "memory errors that ECC could not correct")));
  const std::int64_t bytes = gpu.other_bytes.value_or(0);
  if (gpu.other_processes > 0)
    doubts.push_back(fmt::format(
        "{} using the GPU at the same time{}: step times are doubtful; run the benchmark on an "
        "idle GPU",
        counted(static_cast<std::size_t>(gpu.other_processes), "other process is",
                "other processes are"),
        bytes > 0 ? fmt::format(", and other processes use {} of its memory", format_bytes(bytes))
                  : std::string()));
  else if (bytes >= kMuchMemory)
    doubts.push_back(
        fmt::format("other processes use {} of the GPU's memory, which the ranks cannot use",
                    format_bytes(bytes)));
  return doubts;
}

}  // namespace jointer
