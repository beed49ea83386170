#pragma once

#include "core/cost/estimator.h"

namespace jointer {

// The FLOPs that the kernel of a call computes: half of `flops`, the formula's number, for causal
// attention, which skips the upper triangle.
double computed_flops(const Graph& graph, const Node& call, std::int64_t flops);

// The element type whose peak limits the arithmetic of a call: that of its first result, or float32
// if it returns no tensor.
DType arithmetic_type(const Graph& graph, const Node& call);

// The duration of a kernel is the maximum of its arithmetic time, its memory time (both with the
// efficiencies in the device description) and the minimum duration of a kernel. collective_model.h
// estimates collectives.
class RooflineEstimator final : public Estimator {
 public:
  RooflineEstimator(DeviceDescription device, std::int64_t gpus_per_node)
      : device_(std::move(device)), gpus_per_node_(gpus_per_node) {}

  [[nodiscard]] std::string description() const override;
  [[nodiscard]] const DeviceDescription& device() const override { return device_; }
  [[nodiscard]] TransferCosts transfer_costs() const override;
  [[nodiscard]] NodeCost estimate(const Graph& graph, NodeId node) const override;
  [[nodiscard]] std::int64_t latency_ns(const Graph& graph, NodeId collective) const override;

 private:
  [[nodiscard]] double compute_us(const Graph& graph, const Node& node, std::int64_t flops) const;

  DeviceDescription device_;
  std::int64_t gpus_per_node_;
};

}  // namespace jointer
