#pragma once

#include <QObject>
#include <QTimer>
#include <deque>
#include <optional>
#include <utility>

#include "views/sac/sac_state.h"

namespace jointer::views {

// What the caching allocator would reserve for the plan that is shown: that of the pair, as a
// report of the pair's own file has it. It takes the pair to be made, so it comes a while after the
// other figures, on a thread of its own: nobody who ticks waits for it. A flat step's is known at
// once.
class PlanReserved : public QObject {
  Q_OBJECT
 public:
  explicit PlanReserved(QObject* parent = nullptr);
  ~PlanReserved() override;
  PlanReserved(const PlanReserved&) = delete;
  PlanReserved& operator=(const PlanReserved&) = delete;

  // Null, or a graph that is cut already: nothing is asked.
  void follow(SacStatePtr state);
  // Of the state that was followed last; none until it is known, or where nothing is cached.
  [[nodiscard]] std::optional<std::int64_t> bytes() const { return bytes_; }
  [[nodiscard]] bool is_settled() const { return !soon_.isActive() && !is_running_; }

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
  std::deque<Known> known_;  // the last found first
  QTimer soon_;
  bool is_running_ = false;
};

}  // namespace jointer::views
