#pragma once

#include <memory>

#include "core/cost/estimator.h"
#include "core/cost/profile_data.h"

namespace jointer {

// torch 2.15's profile-guided estimation. Uses the times of a trace of torch.profiler for operators
// with the same tensors and for collectives by size (ProfileData), and another estimator for the
// rest.
class ProfileEstimator final : public Estimator {
 public:
  ProfileEstimator(ProfileData profile, std::string source, std::unique_ptr<Estimator> rest);

  // "profile of trace.json; the rest torch 2.15's formulas, ..."
  [[nodiscard]] std::string description() const override;
  [[nodiscard]] const DeviceDescription& device() const override { return rest_->device(); }
  [[nodiscard]] TransferCosts transfer_costs() const override { return rest_->transfer_costs(); }
  [[nodiscard]] NodeCost estimate(const Graph& graph, NodeId node) const override;
  [[nodiscard]] std::int64_t latency_ns(const Graph& graph, NodeId collective) const override;

  // Milliseconds from the profile; empty for a node that it does not contain.
  [[nodiscard]] std::optional<double> profiled_ms(const Graph& graph, NodeId node) const;

 private:
  ProfileData profile_;
  std::string source_;
  std::unique_ptr<Estimator> rest_;
};

}  // namespace jointer
