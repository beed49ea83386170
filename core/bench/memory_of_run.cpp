#include "core/bench/memory_of_run.h"

namespace jointer {

MemoryOptions memory_of_run(const BenchmarkRequest& request, DeviceType runs_on) {
  MemoryOptions options{.runs_on = runs_on};
  if (runs_on == DeviceType::cpu && !request.solo) options.collectives = CollectiveLibrary::gloo;
  return options;
}

std::optional<DeviceType> device_that_ran(const BenchmarkResult& result) {
  for (const RankResult& rank : result.ranks)
    if (rank.started)
      return rank.started->device_type == "cpu" ? DeviceType::cpu : DeviceType::cuda;
  return std::nullopt;
}

}  // namespace jointer
