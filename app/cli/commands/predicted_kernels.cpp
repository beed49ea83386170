#include "app/cli/commands/predicted_kernels.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/base/index.h"
#include "core/cost/node_flops.h"
#include "core/kernels/kernels.h"
#include "core/kernels/lowering.h"

namespace jointer::cli {

std::string predicted_kernel_name(const kernels::Kernel& kernel) {
  std::string name;
  for (const kernels::OpId op : kernel.ops)
    name += fmt::format("{}op{}", name.empty() ? "" : "_", op);
  return name;
}

Json predicted_kernels(const Graph& graph, TorchVersion version) {
  return kernels_json(graph, kernels::schedule(kernels::lower(graph, version), version), version);
}

Json kernels_json(const Graph& graph, const kernels::Kernels& made, TorchVersion version) {
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
    if (kernel.kind == kernels::Kernel::Kind::collective || !kernels::is_launch(kernel.kind) ||
        !(kernel.is_on_gpu || is_all_on_cpu))
      continue;
    ++on_device;
    const bool has_flops = std::ranges::any_of(kernel.nodes, [&](NodeId node) {
      return node_flops(graph, graph.node(node)).torch_registry != 0;
    });
    if (!kernels::is_memory_bound(kernel, has_flops)) continue;
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
  return {{"source", "predicted"},
          {"torch", fmt::format("{}.{}", version.major, version.minor)},
          {"kernels", std::move(list)},
          {"device_kernels", on_device},
          {"memory_bound", {{"kernels", bound}, {"bytes", bound_bytes}}},
          {"peak_bytes", made.peak},
          {"not_fused", std::move(not_fused)}};
}

}  // namespace jointer::cli
