#include "core/bench/calibrate.h"

#include <map>

#include "core/base/median.h"
#include "core/cost/gpu_properties.h"

namespace jointer {
CostSamples cost_samples(const Graph& graph, const Measurement& measurement,
                         std::int64_t ranks_per_machine) {
  const DeviceType device = parse_device_type(measurement.device_type);
  std::map<std::string, std::vector<std::int64_t>> nodes;
  std::map<CollectiveWork, std::vector<std::int64_t>> collectives;
  for (const MeasuredNode& measured : measurement.nodes) {
    if (!measured.node || measured.node.index() >= graph.node_count() || measured.own_ns < 0)
      continue;
    const Node& node = graph.node(measured.node);
    if (node.kind != NodeKind::call || graph.is_wait(node)) continue;
    if (graph.is_collective_start(node)) {
      if (!measurement.alone)
        collectives[collective_work(graph, node, device, ranks_per_machine)].push_back(
            measured.own_ns);
      continue;
    }
    const OperatorInfo& op = graph.op(node);
    if (device != DeviceType::cpu && (op.is_view || op.is_getitem)) continue;
    std::string work;
    append_work(graph, node, work);
    nodes[std::move(work)].push_back(measured.own_ns);
  }
  CostSamples samples{.device = measurement.device, .device_type = measurement.device_type};
  if (measurement.gpu && can_describe(*measurement.gpu))
    samples.gpu = device_text(*measurement.gpu);
  for (auto& [work, times] : nodes) samples.nodes.emplace_back(work, median(times));
  for (auto& [work, times] : collectives) samples.collectives.emplace_back(work, median(times));
  return samples;
}

Result<CostSamples> store(const Graph& graph, const Measurement& measurement) {
  CostSamples samples = cost_samples(graph, measurement);
  if (samples.device.empty())
    return fail(Error::Kind::usage,
                "{}: cannot store the times, because the measurement does not name its device; run "
                "the benchmark again",
                measurement.label);
  if (parse_device_type(samples.device_type) != DeviceType::cpu && measurement.kernels.empty())
    return fail(Error::Kind::run,
                "{}: cannot store the times, because the kernels of {} were not traced, so the "
                "times of small kernels are those of their launches; run --backend interpret where "
                "CUPTI is installed and no other profiler runs, or read a profiler trace with "
                "`jointer calibrate FILE --trace TRACE`",
                measurement.label, samples.device);
  JOINTER_TRY(CostDatabase database, CostDatabase::open_or_create(CostDatabase::default_path()));
  JOINTER_CHECK(database.store(samples));
  return samples;
}

}  // namespace jointer
