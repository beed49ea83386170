#pragma once

// Computes the step time and peaks of an order, and checks whether its memory stays within the
// budget, both by the caller's memory model and by torch's memory estimate.

#include <cstdint>
#include <span>
#include <vector>

#include "core/pass/pass.h"
#include "core/schedule/simulation.h"
#include "passes/bucketing/torch_memory.h"

namespace jointer {

struct MemoryIncrease {
  std::int64_t bytes = 0;
  double ratio = 0;
  // The allowed growth over `peak`: the larger of `bytes` and `ratio` times `peak`.
  [[nodiscard]] std::int64_t over(std::int64_t peak) const;
};

struct OrderFigures {
  std::int64_t step_ns = 0, exposed_ns = 0;
  std::int64_t peak_bytes = 0, torch_peak_bytes = 0;
  NodeId peak_at, torch_peak_at;  // the nodes at the peaks; none if the peak is at the start
};

class OverlapJudge {
 public:
  // The limits are derived from the original graph. The context's peak limit replaces limit() if it
  // is lower.
  OverlapJudge(const Graph& graph, const OverlapGraph& half, std::span<const NodeCost> costs,
               const MemoryIncrease& increase, const PassContext& context);

  // Computes only the peaks, which is faster than judge(). `half` describes the nodes of `graph`,
  // whose order may differ.
  [[nodiscard]] OrderFigures weigh(const Graph& graph, const OverlapGraph& half,
                                   const TorchStorages& storages) const;
  [[nodiscard]] OrderFigures judge(const Graph& graph, const OverlapGraph& half,
                                   std::span<const NodeCost> costs) const;
  [[nodiscard]] bool is_within(const OrderFigures& figures) const {
    return figures.peak_bytes <= limit_ && figures.torch_peak_bytes <= torch_limit_;
  }
  [[nodiscard]] const OrderFigures& before() const { return before_; }
  [[nodiscard]] std::int64_t limit() const { return limit_; }
  [[nodiscard]] std::int64_t torch_limit() const { return torch_limit_; }

 private:
  const AnalysisOptions& options_;
  OrderFigures before_;
  std::int64_t limit_ = 0, torch_limit_ = 0;
};

}  // namespace jointer
