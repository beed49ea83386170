#include "app/cli/commands/predicted_kernels.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "core/kernels/lowering.h"

namespace jointer::cli {
namespace {

std::string_view kind_name(kernels::Op::Kind kind) {
  using enum kernels::Op::Kind;
  switch (kind) {
    case pointwise:
      return "pointwise";
    case reduction:
    case scan:
    case sort:
      return "reduction";
    case template_:
      return "template";
    case extern_:
      return "extern";
    case multi_output:
      return "multi_output";
    case view:
      return "view";
    case collective:
      return "collective";
    case wait:
      return "wait";
    case nop:
      break;
  }
  return "nop";
}

bool is_kernel(kernels::Op::Kind kind) {
  using enum kernels::Op::Kind;
  return kind == pointwise || kind == reduction || kind == scan || kind == sort ||
         kind == template_ || kind == extern_;
}

}  // namespace

Json predicted_kernels(const Graph& graph, TorchVersion version) {
  // One kernel for each operation: the only place to change once operations are fused.
  const kernels::Ir ir = kernels::lower(graph, version);
  Json answer{{"source", "predicted"},
              {"torch", fmt::format("{}.{}", version.major, version.minor)},
              {"kernels", Json::array()},
              {"not_fused", Json::array()}};
  std::int64_t on_device = 0, bound = 0, bound_bytes = 0;
  for (std::size_t i = 0; i < ir.ops.size(); ++i) {
    const kernels::Op& op = ir.ops[i];
    std::int64_t read = 0, written = 0;
    for (const kernels::Access& access : op.reads)
      if (access.kind != kernels::Access::Kind::weak) read += access.bytes;
    for (const kernels::Access& access : op.writes) written += access.bytes;
    Json nodes = Json::array();
    for (const NodeId node : op.nodes) nodes.push_back(std::string(graph.name(node)));
    answer["kernels"].push_back({{"name", fmt::format("op{}", i)},
                                 {"kind", kind_name(op.kind)},
                                 {"nodes", std::move(nodes)},
                                 {"reads_bytes", read},
                                 {"writes_bytes", written},
                                 {"bytes", read + written}});
    if (!is_kernel(op.kind) || !op.is_on_gpu) continue;
    ++on_device;
    if (op.kind == kernels::Op::Kind::extern_) continue;
    ++bound;
    bound_bytes += read + written;
  }
  answer["device_kernels"] = on_device;
  answer["memory_bound"] = {{"kernels", bound}, {"bytes", bound_bytes}};
  return answer;
}

}  // namespace jointer::cli
