#pragma once

#include <string_view>

#include "core/cost/estimator.h"
#include "core/cost/roofline.h"

namespace jointer {

// True if the operator (aten.silu) computes an exponential or the like for each of its elements.
bool is_special_function(std::string_view packet);

// Estimates each call as one kernel by the rules in kernel_rules.h. Collectives, copies to and from
// the host, calls that are fused with a collective, and calls without a kernel are left to the
// roofline. On a CPU, calls run one after the other, so their time on the host is a part of the
// estimate.
class KernelEstimator final : public Estimator {
 public:
  // `device.kernels` must be set.
  KernelEstimator(DeviceDescription device, std::int64_t gpus_per_node)
      : rest_(std::move(device), gpus_per_node) {}

  [[nodiscard]] std::string description() const override;
  [[nodiscard]] const DeviceDescription& device() const override { return rest_.device(); }
  [[nodiscard]] TransferCosts transfer_costs() const override { return rest_.transfer_costs(); }
  [[nodiscard]] NodeCost estimate(const Graph& graph, NodeId node) const override;
  [[nodiscard]] std::int64_t latency_ns(const Graph& graph, NodeId collective) const override {
    return rest_.latency_ns(graph, collective);
  }

 private:
  RooflineEstimator rest_;
};

}  // namespace jointer
