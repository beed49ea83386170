#pragma once

// Memory and time of an order that is being edited, kept up to date move by move, and what every
// legal place of a held block would give. How is described at the top of what_if.cpp.

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

// The figures of every gap of a legal range: at[g - range.first].
struct RangePreview {
  LegalRange range;
  std::vector<Figures> at;

  [[nodiscard]] const Figures& current() const { return at[range.current - range.first]; }
};

// The figures of gaps of a legal range from `first` on: at[g - first].
struct NearPreview {
  std::size_t first = 0;
  std::vector<Figures> at;
};

// The best gaps of a preview; where several are as good, the one that is nearest to where the block
// stands, and of two as near the earlier.
struct BestGaps {
  std::size_t least_exposed = 0, least_step = 0, least_peak = 0;
  // The least step time, of those the least exposed time, among gaps whose peak is at most the
  // limit; none if every peak is above it.
  std::optional<std::size_t> fastest_within;
};

// Not of an empty preview; one that preview() returned never is.
BestGaps best_gaps(const RangePreview& preview, std::int64_t peak_limit);

class WhatIf {
 public:
  // All must outlive it; the graph's order is where it begins, and stays as it is. `costs`: one a
  // node, by id.
  WhatIf(const Graph& graph, const Dependencies& dependencies, std::span<const NodeCost> costs,
         const MemoryOptions& memory = {}, const SimulationOptions& simulation = {});
  ~WhatIf();
  WhatIf(const WhatIf&) = delete;
  WhatIf& operator=(const WhatIf&) = delete;

  // Of the order as it is now: equal to what MemoryTimeline and Simulation say of it.
  [[nodiscard]] Figures figures() const;
  // Live bytes at every point, as MemoryTimeline::profile has them.
  [[nodiscard]] std::vector<std::int64_t> profile() const;
  // Every node of the graph's order.
  [[nodiscard]] std::span<const NodeId> order() const;
  // Error: as legal_range.
  [[nodiscard]] Result<LegalRange> range(std::span<const NodeId> block) const;
  // The figures of each gap are what figures() would be after a move there.
  [[nodiscard]] Result<RangePreview> preview(std::span<const NodeId> block) const;
  // The same of the gaps [first, last] of its legal range, without those at the end that are as the
  // last one before them, only further away and with no lower peak. Where few remain they take what
  // they and their surroundings take, whatever the graph's size: the block goes through them, and
  // back. Error (usage): as legal_range, or they are not in it.
  [[nodiscard]] Result<NearPreview> preview_near(std::span<const NodeId> block, std::size_t first,
                                                 std::size_t last);
  // Moves the block into a gap of its legal range. Memory costs what the distance costs, time the
  // stretch until the streams are back in step. Error (usage): the gap is not legal; nothing moves.
  Result<void> move(std::span<const NodeId> block, std::size_t gap);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace jointer
