#pragma once

#include <QObject>
#include <memory>
#include <vector>

#include "core/partition/plan_margin_text.h"
#include "views/session/sac/sac_state.h"
#include "views/session/work/task.h"

namespace jointer::views {

// Explains a tensor's policy and its margin (core/partition/plan_margin.h), and compares the policy
// with the decisions of other solvers. A worker thread computes first the margin, which takes
// milliseconds, and then the comparison, which solves the graph several times.
class ValueReasons : public QObject {
  Q_OBJECT
 public:
  explicit ValueReasons(QObject* parent = nullptr);

  // Starts explaining the tensor, unless it is already explained; `changed` follows. With a null
  // state, or a node that has no row or is not needed, only ends the current explanation.
  void follow(const SacStatePtr& state, NodeId node);
  // The lines computed so far about the tensor that was followed last.
  [[nodiscard]] const std::vector<MarginLine>& lines() const { return lines_; }
  // Returns true if more lines follow.
  [[nodiscard]] bool is_working() const { return explaining_.is_running(); }

 signals:
  void changed();

 private:
  // The data computed for a plan, reused for its other tensors.
  struct Plan {
    SacStatePtr state;  // has the graph
    std::shared_ptr<const PlanMargins> margins;
    std::shared_ptr<SolverComparison> solvers;  // used by one job at a time
    std::shared_ptr<Cancellation> job;          // can cancel `solvers`
  };
  using Lines = std::vector<MarginLine>;

  SacStatePtr state_;
  NodeId node_;
  Lines lines_;
  Plan plan_;  // of `state_`; empty while a job uses it
  Task<Plan, Lines> explaining_;
};

}  // namespace jointer::views
