#pragma once

// Updates memory and time of an edited order move by move, and computes the estimates for every
// legal position of a block. The algorithms are described at the top of what_if.cpp.

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

// The estimates for every gap of a legal range; those for gap g are at[g - range.first].
struct RangePreview {
  LegalRange range;
  std::vector<Figures> at;

  [[nodiscard]] const Figures& current() const { return at[range.current - range.first]; }
};

// The estimates for gaps of a legal range from `first` on; those for gap g are at[g - first].
struct NearPreview {
  std::size_t first = 0;
  std::vector<Figures> at;
};

// The best gaps of a preview. Ties go to the gap nearest to the block's current position, then to
// the earlier gap.
struct BestGaps {
  std::size_t min_exposed = 0, min_step = 0, min_peak = 0;
  // Among the gaps whose peak is at most the limit, the gap with the shortest step time, then the
  // least exposed time; nullopt if every peak exceeds the limit.
  std::optional<std::size_t> fastest_within;
};

// `preview` must not be empty; previews returned by preview() never are.
BestGaps best_gaps(const RangePreview& preview, std::int64_t peak_limit);

class WhatIf {
 public:
  // All arguments must outlive this object. The graph's order is the initial order; the graph does
  // not change. `costs`: indexed by node id.
  WhatIf(const Graph& graph, const Dependencies& dependencies, std::span<const NodeCost> costs,
         const MemoryOptions& memory = {}, const SimulationOptions& simulation = {});
  ~WhatIf();
  WhatIf(const WhatIf&) = delete;
  WhatIf& operator=(const WhatIf&) = delete;

  // The estimates of the current order, which equal those of MemoryTimeline and Simulation.
  [[nodiscard]] Figures figures() const;
  // Live bytes at every point, as in MemoryTimeline::profile.
  [[nodiscard]] std::vector<std::int64_t> profile() const;
  // The current order of all nodes of the graph.
  [[nodiscard]] std::span<const NodeId> order() const;
  // Errors: same as legal_range.
  [[nodiscard]] Result<LegalRange> range(std::span<const NodeId> block) const;
  // The estimates for each gap are those that figures() would return after a move to that gap.
  [[nodiscard]] Result<RangePreview> preview(std::span<const NodeId> block) const;
  // The same for the gaps [first, last] of the block's legal range. Leaves out gaps at the end that
  // differ from the last one before them only in distance, and have no lower peak. If few gaps
  // remain, the cost does not depend on the graph's size: the block is moved through them and back.
  // Error (usage): same as legal_range, or the gaps are outside the range.
  [[nodiscard]] Result<NearPreview> preview_near(std::span<const NodeId> block, std::size_t first,
                                                 std::size_t last);
  // Moves the block into a gap of its legal range. Cost: for memory, the distance; for time, the
  // stretch until the streams are back in step. Error (usage): the gap is not legal; nothing moves.
  Result<void> move(std::span<const NodeId> block, std::size_t gap);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace jointer
