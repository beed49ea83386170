#pragma once

#include <map>
#include <memory>

#include "core/cost/cost_database.h"
#include "core/cost/estimator.h"

namespace jointer {

// Times that were measured on a device: each node by what it does (append_work), each collective by
// what it moves. A collective of a size that was not measured lies on the line between the two
// measured sizes next to it, of the same kind, backend and spread of ranks. Anything else takes as
// long as another estimator says, the roofline of the device. All costs are read when it is made;
// it may be asked from several threads.
class MeasuredEstimator final : public Estimator {
 public:
  MeasuredEstimator(DeviceCosts costs, std::unique_ptr<Estimator> rest,
                    std::int64_t ranks_per_machine);

  // "measured on NVIDIA H200; the rest roofline, NVIDIA H200 SXM 141 GB, 8 GPUs a node"
  [[nodiscard]] std::string description() const override;
  // And how much of a graph that was: "measured on NVIDIA H200, 9,812 of 10,432 nodes, 97.3 % of
  // the time; the rest ...". Nodes that take no time are not counted.
  [[nodiscard]] std::string description_of(std::span<const NodeCost> costs) const override;
  [[nodiscard]] const DeviceDescription& device() const override { return rest_->device(); }
  [[nodiscard]] TransferCosts transfer_costs() const override { return rest_->transfer_costs(); }
  [[nodiscard]] NodeCost estimate(const Graph& graph, NodeId node) const override;
  [[nodiscard]] std::int64_t latency_ns(const Graph& graph, NodeId collective) const override;

 private:
  // Bytes and ns, by everything else that a collective is known by. Sizes that were measured with
  // several element types count once, with the mean.
  using Curve = std::map<std::int64_t, std::int64_t>;

  [[nodiscard]] std::optional<std::int64_t> collective_ns(const CollectiveWork& work) const;

  DeviceCosts costs_;
  std::map<CollectiveWork, Curve> curves_;  // with no bytes and the default type
  std::unique_ptr<Estimator> rest_;
  DeviceType runs_on_;
  std::int64_t ranks_per_machine_;
};

// What asks for the times that were measured on a device, by its name; the rest is estimated for
// the description that fits it.
EstimatorRequest measured_on(std::string_view device);

// The built-in description that a measured device's name means: "NVIDIA H200" is h200. Empty if
// there is none.
std::string_view described_device(std::string_view measured_name);

}  // namespace jointer
