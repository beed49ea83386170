#pragma once

#include <QObject>
#include <QTimer>
#include <deque>
#include <optional>
#include <utility>

#include "views/session/sac/sac_state.h"
#include "views/session/work/task.h"

namespace jointer::views {

// The memory that the caching allocator would reserve for the current plan: the same value as for
// the pair, saved and opened. The pair has to be built for this, so the value is computed on another
// thread and arrives later than the other figures. For a flat training step it is known immediately.
class PlanReserved : public QObject {
  Q_OBJECT
 public:
  explicit PlanReserved(QObject* parent = nullptr);
  ~PlanReserved() override;
  PlanReserved(const PlanReserved&) = delete;
  PlanReserved& operator=(const PlanReserved&) = delete;

  // With null or a partitioned graph, nothing is computed.
  void follow(SacStatePtr state);
  // For the current state; empty until it is known, or if there is no caching allocator.
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
