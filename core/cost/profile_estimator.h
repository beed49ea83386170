#pragma once

#include <memory>

#include "core/cost/estimator.h"
#include "core/cost/profile_data.h"

namespace jointer {

// torch 2.15's profile-guided estimation. Uses times from a torch.profiler trace (ProfileData): for
// operators, from calls with the same types, shapes and strides; for collectives, by size. Uses
// another estimator for the rest.
class ProfileEstimator final : public Estimator {
 public:
  ProfileEstimator(ProfileData profile, std::string source, std::unique_ptr<Estimator> rest);

  // For example, "profile of trace.json, 120 operators and 48 collectives; the rest by torch 2.15's
  // formulas, ..."
  [[nodiscard]] std::string description() const override;
  [[nodiscard]] const DeviceDescription& device() const override { return rest_->device(); }
  [[nodiscard]] TransferCosts transfer_costs() const override { return rest_->transfer_costs(); }
  [[nodiscard]] NodeCost estimate(const Graph& graph, NodeId node) const override;
  [[nodiscard]] std::int64_t latency_ns(const Graph& graph, NodeId collective) const override {
    return rest_->latency_ns(graph, collective);
  }

  // Returns the time in the profile, in milliseconds; nullopt if the profile does not contain the
  // node.
  [[nodiscard]] std::optional<double> profiled_ms(const Graph& graph, NodeId node) const;

 private:
  ProfileData profile_;
  std::string source_;
  std::unique_ptr<Estimator> rest_;
};

}  // namespace jointer
