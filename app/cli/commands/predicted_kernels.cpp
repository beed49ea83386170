#include "app/cli/commands/predicted_kernels.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/cli/commands/kernel_passes.h"
#include "core/base/index.h"
#include "core/compiled/kernel_times.h"
#include "core/cost/device.h"
#include "core/kernels/kernels.h"
#include "core/kernels/lowering.h"
#include "passes/kernel_order/kernel_passes.h"
#include "passes/kernel_order/torch_kernel_times.h"

namespace jointer::cli {

std::string predicted_kernel_name(const kernels::Kernel& kernel) {
  std::string name;
  for (const kernels::OpId op : kernel.ops)
    name += fmt::format("{}op{}", name.empty() ? "" : "_", op);
  return name;
}

namespace {

// `ms_of_op`: indexed by op, the time of the kernel that begins with this op; if empty, the answer
// has neither times nor reports.
Json describe(const Graph& graph, TorchVersion version, const kernels::Kernels& made,
              std::span<const KernelPassReport> reports, std::span<const double> ms_of_op) {
  const bool is_all_on_cpu = graph.main_device() == DeviceType::cpu;
  std::int64_t on_device = 0, bound = 0, bound_bytes = 0;
  std::vector<std::string> names;
  Json list = Json::array();
  for (const kernels::Kernel& kernel : made.kernels) {
    Json nodes = Json::array();
    for (const NodeId node : kernel.nodes) nodes.push_back(std::string(graph.name(node)));
    names.push_back(predicted_kernel_name(kernel));
    list.push_back({{"name", names.back()},
                    {"kind", to_string(kernel.kind)},
                    {"nodes", std::move(nodes)},
                    {"reads_bytes", kernel.bytes_read},
                    {"writes_bytes", kernel.bytes_written},
                    {"bytes", kernel.bytes}});
    if (!ms_of_op.empty()) list.back()["ms"] = ms_of_op[as_index(kernel.ops.front())];
    if (kernel.kind == kernels::Kernel::Kind::collective || !kernels::is_launch(kernel.kind) ||
        !(kernel.is_on_gpu || is_all_on_cpu))
      continue;
    ++on_device;
    if (!kernels::is_memory_bound(graph, kernel)) continue;
    ++bound;
    bound_bytes += kernel.bytes;
  }
  const auto kernel_name = [&](kernels::OpId op) -> const std::string& {
    return names[as_index(made.kernel_of[as_index(op)])];
  };
  Json not_fused = Json::array();
  for (const kernels::RefusedPair& pair : made.refused)
    not_fused.push_back({{"a", kernel_name(pair.first)},
                         {"b", kernel_name(pair.second)},
                         {"reason", to_sentence(pair.refusal)}});
  Json answer{
      {"source", "predicted"},       {"torch", fmt::format("{}.{}", version.major, version.minor)},
      {"device_kernels", on_device}, {"memory_bound", {{"kernels", bound}, {"bytes", bound_bytes}}},
      {"peak_bytes", made.peak},     {"not_fused", std::move(not_fused)}};
  if (!ms_of_op.empty())
    answer["passes"] = kernel_passes_json(reports, kernel_name, [&](kernels::OpId op) {
      return list[as_index(made.kernel_of[as_index(op)])]["nodes"];
    });
  answer["kernels"] = std::move(list);
  return answer;
}

}  // namespace

Json kernels_json(const Graph& graph, const kernels::Kernels& made, TorchVersion version) {
  return describe(graph, version, made, {}, {});
}

Result<Json> predicted_kernels(const Graph& graph, TorchVersion version, const Pipeline& passes) {
  const kernels::Ir ir = kernels::lower(graph, version);
  const kernels::Kernels made = kernels::schedule(ir, version);
  if (passes.empty()) return kernels_json(graph, made, version);
  JOINTER_TRY(const DeviceDescription device, load_device("h100"));
  const std::vector<double> ms = torch_kernel_times(graph, ir, made, device, version);
  JOINTER_TRY(const OrderedKernels ordered, order_kernels(ir, version, passes, ms));
  return describe(graph, version, ordered.kernels, ordered.reports, ms);
}

}  // namespace jointer::cli
