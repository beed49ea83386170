#pragma once

#include <QObject>
#include <QTimer>
#include <deque>
#include <optional>
#include <utility>

#include "views/session/sac/sac_state.h"
#include "views/session/work/task.h"

namespace jointer::views {

// The memory that the caching allocator would reserve under the current plan: the same value as
// after saving and opening the plan's pair. Computing it builds the pair, so it is computed on
// another thread, and arrives later than the other estimates. For a flat training step, the value is
// known immediately.
class PlanReserved : public QObject {
  Q_OBJECT
 public:
  explicit PlanReserved(QObject* parent = nullptr);
  ~PlanReserved() override;
  PlanReserved(const PlanReserved&) = delete;
  PlanReserved& operator=(const PlanReserved&) = delete;

  // Starts computing the value for this state, unless it is null or its graph is already
  // partitioned.
  void follow(SacStatePtr state);
  // The value for the current state; nullopt until it is known, or if there is no caching
  // allocator.
  [[nodiscard]] std::optional<std::int64_t> bytes() const { return bytes_; }
  [[nodiscard]] bool is_settled() const { return !soon_.isActive() && !finding_.is_running(); }

 signals:
  void changed();

 private:
  struct Known {
    SacBasePtr base;
    SavePlan plan;
    std::int64_t bytes = 0;
  };
  [[nodiscard]] const Known* known() const;
  void find();
  void take_step();

  SacStatePtr state_;
  std::optional<std::int64_t> bytes_;
  std::deque<Known> known_;  // newest first
  QTimer soon_;
  Task<std::int64_t> finding_;
};

}  // namespace jointer::views
