#include "passes/kernel_order/torch_kernel_times.h"

#include <algorithm>

#include "core/base/checked.h"
#include "core/base/index.h"
#include "core/cost/node_flops.h"
#include "core/cost/torch_nccl.h"
#include "core/cost/torch_nccl_2_15.h"
#include "core/graph/group_argument.h"

namespace jointer {

namespace {

// True for dtypes with a peak in torch's data sheets of GPUs
// (torch._inductor.analysis.device_info).
bool has_torch_peak(DType type) {
  return type == DType::float64 || type == DType::float32 || type == DType::bfloat16 ||
         type == DType::float16 || type == DType::int8;
}

class KernelClock {
 public:
  KernelClock(const Graph& graph, const kernels::Ir& ir, const DeviceDescription& device,
              TorchVersion torch, std::int64_t gpus_per_node)
      : graph_(graph), ir_(ir), device_(device), torch_(torch), gpus_per_node_(gpus_per_node) {}

  [[nodiscard]] double ms(const kernels::Kernel& kernel) const {
    const kernels::Op& op = ir_.ops[as_index(kernel.ops.front())];
    if (!op.is_on_gpu || op.outputs.empty()) return 0;
    if (op.kind == kernels::Op::Kind::collective) return collective_ms(op);
    if (op.kind == kernels::Op::Kind::wait) return 0;
    const kernels::Buffer& result = ir_.buffers[as_index(op.outputs.front())];
    if (result.has_many_results || result.has_no_layout || !has_torch_peak(result.dtype)) return 0;
    const double transfer_ns = static_cast<double>(kernel.bytes) / device_.memory_gbps;
    const double compute_ns =
        static_cast<double>(flops(kernel)) / device_.peak_flops(result.dtype) * 1e9;
    return std::max(compute_ns, transfer_ns) / 1e6;
  }

 private:
  [[nodiscard]] double collective_ms(const kernels::Op& op) const {
    if (op.nodes.empty()) return 0;
    const Node& node = graph_.node(op.nodes.back());
    const std::int64_t bytes = torch_input_bytes(graph_, node).value_or(0);
    const std::int64_t ranks = estimated_group_size(graph_, node);
    if (torch_ < TorchVersion{2, 12})
      return torch_nccl_ms(bytes, ranks, graph_.op(node).collective, device_.torch_nccl)
          .value_or(0);
    const auto call = torch_nccl_call(graph_.target(node));
    return call ? torch_nccl_2_15_ms(bytes, ranks, *call,
                                     {.gpu = device_.torch_nccl, .gpus_per_node = gpus_per_node_})
                : 0;
  }

  // The FLOPs of the library calls and templates in the kernel.
  [[nodiscard]] std::int64_t flops(const kernels::Kernel& kernel) const {
    std::int64_t sum = 0;
    for (const kernels::OpId id : kernel.ops) {
      const kernels::Op& op = ir_.ops[as_index(id)];
      if (op.kind != kernels::Op::Kind::extern_ && op.kind != kernels::Op::Kind::template_)
        continue;
      for (const NodeId node : op.nodes)
        sum = saturating_add(sum, node_flops(graph_, graph_.node(node)).torch_registry);
    }
    return sum;
  }

  const Graph& graph_;
  const kernels::Ir& ir_;
  const DeviceDescription& device_;
  TorchVersion torch_;
  std::int64_t gpus_per_node_;
};

}  // namespace

std::vector<double> torch_kernel_times(const Graph& graph, const kernels::Ir& ir,
                                       const kernels::Kernels& kernels,
                                       const DeviceDescription& device, TorchVersion torch,
                                       std::int64_t gpus_per_node) {
  const KernelClock clock(graph, ir, device, torch, gpus_per_node);
  std::vector<double> ms(ir.ops.size(), 0);
  for (const kernels::Kernel& kernel : kernels.kernels)
    ms[as_index(kernel.ops.front())] = clock.ms(kernel);
  return ms;
}

}  // namespace jointer
