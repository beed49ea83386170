#pragma once

// Updates the memory and time of an edited order move by move, and estimates them for every legal
// position of a block. what_if.cpp describes the algorithms.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/cost/estimator.h"
#include "core/graph/graph.h"
#include "core/schedule/legal_range.h"
#include "core/schedule/memory_timeline.h"
#include "core/schedule/simulation.h"

namespace jointer {

struct Figures {
  std::int64_t peak_bytes = 0;
  std::int64_t step_ns = 0, exposed_ns = 0;
  friend bool operator==(const Figures&, const Figures&) = default;
};

// Estimates for every gap of a legal range; at[g - range.first] is the estimate for gap g.
struct RangePreview {
  LegalRange range;
  std::vector<Figures> at;

  [[nodiscard]] const Figures& current() const { return at[range.current - range.first]; }
};

// Estimates for the gaps of a legal range from `first` on; at[g - first] is the estimate for gap g.
struct NearPreview {
  std::size_t first = 0;
  std::vector<Figures> at;
};

// The best gaps of a preview. Ties go to the gap nearest to the block's current position, then to
// the earlier gap.
struct BestGaps {
  std::size_t min_exposed = 0, min_peak = 0;
  // Among the gaps whose peak is at most the limit, the gap with the shortest step time, then the
  // least exposed time; nullopt if every peak exceeds the limit.
  std::optional<std::size_t> fastest_within;
};

// `preview` must not be empty; previews returned by preview() never are.
BestGaps best_gaps(const RangePreview& preview, std::int64_t peak_limit);

class WhatIf {
 public:
  // `graph` and `dependencies` must outlive this object. The initial order is the graph's; the
  // graph itself is never changed. `costs` is indexed by node id.
  WhatIf(const Graph& graph, const Dependencies& dependencies, std::span<const NodeCost> costs,
         const MemoryOptions& memory = {}, const SimulationOptions& simulation = {});
  ~WhatIf();
  WhatIf(const WhatIf&) = delete;
  WhatIf& operator=(const WhatIf&) = delete;

  // The estimates of the current order, which equal those of MemoryTimeline and Simulation.
  [[nodiscard]] Figures figures() const;
  // Live bytes at every point, as returned by MemoryTimeline::profile.
  [[nodiscard]] std::vector<std::int64_t> profile() const;
  // The current order of all nodes of the graph.
  [[nodiscard]] std::span<const NodeId> order() const;
  // Errors: those of legal_range.
  [[nodiscard]] Result<LegalRange> range(std::span<const NodeId> block) const;
  // The estimates for each gap are those that figures() would return after a move to that gap.
  // Errors: those of legal_range.
  [[nodiscard]] Result<RangePreview> preview(std::span<const NodeId> block) const;
  // Like preview(), but only for the gaps [first, last] of the block's legal range. Leaves out gaps
  // at the end if they have the same times as the last gap before them and no lower peak. If few
  // gaps remain, the block is moved through them and back, which costs as much as these moves;
  // otherwise, the cost is that of preview(). Errors: those of legal_range. Error (usage): a gap is
  // outside the legal range, or `first` is greater than `last`.
  [[nodiscard]] Result<NearPreview> preview_near(std::span<const NodeId> block, std::size_t first,
                                                 std::size_t last);
  // Moves the block into a gap of its legal range. Cost: for memory, linear in the distance; for
  // time, linear in the number of calls until the streams are in the same state as before. Errors:
  // those of legal_range. Error (usage): the gap is outside the legal range. After an error,
  // nothing has moved.
  Result<void> move(std::span<const NodeId> block, std::size_t gap);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace jointer
