#pragma once

#include "core/cost/estimator.h"

namespace jointer {

enum class TorchFormulas : std::uint8_t { v2_11, v2_15 };

// torch's own formulas, for comparison. Kernels: torch/utils/_runtime_estimation.py in 2.11, the
// roofline of overlap_scheduling.py (the larger of compute and transfer time) in 2.15. Collectives:
// comm_analysis.py. Peaks and bandwidth come from Jointer's device descriptions.
// - 2.11: the compute time is far too short (a peak in TFLOP/s is multiplied by 1e15, and FLOPs are
//   halved), so the transfer time always wins. Reproduced as is.
// - 2.15: FLOPs are still halved. Waits and getitem take no time here; torch counts their tensors
//   as moved.
class TorchEstimator final : public Estimator {
 public:
  TorchEstimator(TorchFormulas formulas, DeviceDescription device, std::int64_t gpus_per_node)
      : formulas_(formulas), device_(std::move(device)), gpus_per_node_(gpus_per_node) {}

  [[nodiscard]] std::string description() const override;
  [[nodiscard]] const DeviceDescription& device() const override { return device_; }
  [[nodiscard]] NodeCost estimate(const Graph& graph, NodeId node) const override;
  [[nodiscard]] std::int64_t latency_ns(const Graph& graph, NodeId collective) const override;

 private:
  [[nodiscard]] std::int64_t collective_ns(const Graph& graph, const Node& node,
                                           bool is_empty) const;
  [[nodiscard]] std::int64_t kernel_ns(const Graph& graph, const Node& node) const;
  [[nodiscard]] std::int64_t kernel_2_15_ns(const Graph& graph, const Node& node) const;

  TorchFormulas formulas_;
  DeviceDescription device_;
  std::int64_t gpus_per_node_;
};

}  // namespace jointer
