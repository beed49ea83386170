#pragma once

#include "core/cost/estimator.h"

namespace jointer {

// torch 2.11's own formulas, for comparison: torch/utils/_runtime_estimation.py for kernels (the
// larger of compute and transfer time) and comm_analysis.py for collectives. Its compute time is a
// thousand times too short (a peak in TFLOP/s is multiplied by 1e15, and FLOPs are halved), so the
// transfer time always wins; reproduced as it is. Peaks and bandwidth are our device descriptions'.
class TorchEstimator final : public Estimator {
 public:
  explicit TorchEstimator(DeviceDescription device) : device_(std::move(device)) {}

  [[nodiscard]] std::string description() const override;
  [[nodiscard]] const DeviceDescription& device() const override { return device_; }
  [[nodiscard]] NodeCost estimate(const Graph& graph, NodeId node) const override;
  [[nodiscard]] std::int64_t latency_ns(const Graph& graph, NodeId collective) const override;

 private:
  DeviceDescription device_;
};

}  // namespace jointer
