#pragma once

#include <QObject>
#include <optional>

#include "views/session/sac/sac_state.h"
#include "views/session/work/latest_value.h"

namespace jointer::views {

// The memory that the caching allocator would reserve under the current plan, in the plan's own
// order: for a joint graph, the same value as after saving and opening the pair of a plan without
// another order (PlanOrdered has the value in that order). Computing it builds the pair, so it is
// computed on another thread, and arrives later than the other estimates. For a flat training step,
// the value is known immediately.
class PlanReserved : public QObject {
  Q_OBJECT
 public:
  explicit PlanReserved(QObject* parent = nullptr);

  // Starts computing the value for this state, unless it is null or its graph is already
  // partitioned.
  void follow(const SacStatePtr& state);
  // The value for the current state; nullopt until it is known, or if there is no caching
  // allocator.
  [[nodiscard]] std::optional<std::int64_t> bytes() const { return bytes_; }
  [[nodiscard]] bool is_settled() const { return found_.is_settled(); }

 signals:
  void changed();

 private:
  struct Plan {
    SacBasePtr base;
    SavePlan plan;
    friend bool operator==(const Plan&, const Plan&) = default;
  };
  static Result<std::int64_t> reserved_of(const Plan& plan);
  void show(std::optional<std::int64_t> bytes) {
    if (std::exchange(bytes_, bytes) != bytes) emit changed();
  }

  std::optional<std::int64_t> bytes_;
  LatestValue<Plan, std::int64_t> found_;
};

}  // namespace jointer::views
