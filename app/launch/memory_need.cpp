#include "app/launch/memory_need.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "core/base/distinct_bytes.h"
#include "core/bench/memory_of_run.h"
#include "core/process/free_memory.h"
#include "core/schedule/memory_timeline.h"

namespace jointer {

DeviceType device_of_run(const BenchmarkRequest& request, const Machine& machine) {
  if (request.on == RunOn::cpu) return DeviceType::cpu;
  if (request.on == RunOn::cuda) return DeviceType::cuda;
  return machine.gpus > 0 ? DeviceType::cuda : DeviceType::cpu;
}

std::optional<MemoryShortage> memory_shortage(const Graph& graph, const BenchmarkRequest& request,
                                              const Machine& machine) {
  MemoryShortage shortage{.ranks = request.solo ? 1 : std::max(1, request.ranks),
                          .device = device_of_run(request, machine)};
  shortage.share_bytes = shortage.device == DeviceType::cpu
                             ? memory_share(machine.free_bytes, shortage.ranks)
                             : machine.gpu_bytes;
  if (shortage.share_bytes == 0) return std::nullopt;
  const MemoryTimeline memory(graph, memory_of_run(request, shortage.device));
  shortage.need_bytes = memory.peak_bytes();
  return shortage.need_bytes > shortage.share_bytes ? std::optional(shortage) : std::nullopt;
}

std::string to_text(const MemoryShortage& shortage) {
  const std::string who =
      shortage.ranks == 1 ? "the rank" : fmt::format("each of the {} ranks", shortage.ranks);
  const auto texts = distinct_bytes(std::array{shortage.need_bytes, shortage.share_bytes});
  const std::string &need = texts[0], &share = texts[1];
  if (shortage.device != DeviceType::cpu)
    return fmt::format("{} needs {}, but its GPU has {}", who, need, share);
  return fmt::format("{} needs {}, but its share of the free memory is {}", who, need, share);
}

}  // namespace jointer
