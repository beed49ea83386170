#pragma once

#include "core/cost/estimator.h"

namespace jointer {

// A deliberately simple model, for comparing results with torch's scheduler under the same costs
// (1 GB/s is 1e9 B/s):
//   collective              coll_us + B / coll_gbs, B the larger of input and output bytes; 0 in a
//                           group of one
//   operator with an entry in torch's FLOP registry      FLOPs / tflops
//   wait, getitem, no tensor output, a view               0
//   ao.offload, ao.reload                                 Estimator::transfer_costs
//   matmul fused with a collective                        both, overlapped (fused_matmul.h)
//   anything else           (input + output bytes) / mem_gbs, each distinct input node once
// There are no launch costs. To judge an order, simulate it with one communication stream.
struct SimpleCosts {
  double coll_us = 20, coll_gbs = 200, tflops = 500, mem_gbs = 2500;
};

class SimpleEstimator final : public Estimator {
 public:
  SimpleEstimator(SimpleCosts costs, DeviceDescription device)
      : costs_(costs), device_(std::move(device)) {}

  [[nodiscard]] std::string description() const override;
  [[nodiscard]] const DeviceDescription& device() const override { return device_; }
  [[nodiscard]] NodeCost estimate(const Graph& graph, NodeId node) const override;
  [[nodiscard]] std::int64_t latency_ns(const Graph& graph, NodeId collective) const override;

 private:
  SimpleCosts costs_;
  DeviceDescription device_;
};

}  // namespace jointer
