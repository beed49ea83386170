#pragma once

#include <map>
#include <memory>

#include "core/cost/cost_database.h"
#include "core/cost/estimator.h"

namespace jointer {

// Uses times measured on a device. Looks up nodes by their work (append_work), and collectives by
// CollectiveWork. The time of a collective whose size was not measured is interpolated between
// those of the nearest smaller and larger size with the same kind, backend, ranks and machines.
// Everything else is left to another estimator, the device's roofline. Nothing changes after
// construction, so several threads may use the estimator at once.
class MeasuredEstimator final : public Estimator {
 public:
  MeasuredEstimator(DeviceCosts costs, std::unique_ptr<Estimator> rest,
                    std::int64_t ranks_per_machine);

  // For example, "measured on NVIDIA H200; the rest by roofline, NVIDIA H200 SXM 141 GB, 8 GPUs per
  // node".
  [[nodiscard]] std::string description() const override;
  // Includes the measured share: "measured on NVIDIA H200, 9,812 of 10,432 nodes, 97.3% of the
  // time; the rest by ...". Nodes that take no time on the device are not counted.
  [[nodiscard]] std::string description_of(std::span<const NodeCost> costs) const override;
  [[nodiscard]] const DeviceDescription& device() const override { return rest_->device(); }
  [[nodiscard]] TransferCosts transfer_costs() const override { return rest_->transfer_costs(); }
  [[nodiscard]] NodeCost estimate(const Graph& graph, NodeId node) const override;
  [[nodiscard]] std::int64_t latency_ns(const Graph& graph, NodeId collective) const override {
    return rest_->latency_ns(graph, collective);
  }

 private:
  // Maps bytes to nanoseconds, for collectives that are otherwise equal. A size measured with
  // several element types has one entry, the mean.
  using Curve = std::map<std::int64_t, std::int64_t>;

  [[nodiscard]] std::optional<std::int64_t> collective_ns(const CollectiveWork& work) const;

  DeviceCosts costs_;
  std::map<CollectiveWork, Curve> curves_;  // keys have 0 bytes and the default type
  std::unique_ptr<Estimator> rest_;
  DeviceType runs_on_;
  std::int64_t ranks_per_machine_;
};

// Returns a request for an estimator that uses the times measured on this device. Everything else
// follows from the matching built-in description or, if there is none, from the GPU's stored
// properties or, without these, from the default device of its type.
EstimatorRequest measured_on(std::string_view device);

}  // namespace jointer
