#pragma once

// How long the ranks of a profiled run waited for each other in collectives.

#include <cstdint>
#include <span>
#include <vector>

#include "core/bench/result.h"
#include "core/graph/graph.h"

namespace jointer {

// A collective on one rank, in nanoseconds. The spans of a collective share a clock: that of the
// group's first rank, which counts from the start of that rank's step.
struct RankSpan {
  int rank = 0;
  std::int64_t start_ns = 0, end_ns = 0;
};

struct CollectiveSkew {
  NodeId node;
  std::vector<RankSpan> spans;  // of all ranks of the group, ascending by rank; at least two
  int last_rank = 0;            // the rank that started last
  std::int64_t skew_ns = 0;     // from the first start on any rank to the last
  // The time from the last start to the first end on any rank; at least 0. Unlike the spans, it
  // does not include waiting for other ranks.
  std::int64_t transfer_ns = 0;
};

struct SkewReport {
  // Largest skew first. Empty if no group of at least two ranks was profiled completely.
  std::vector<CollectiveSkew> collectives;
  // The clocks of ranks are aligned at the ends of collectives. For any rank and the first rank of
  // its group, the median difference between those ends after the alignment is at most this:
  // smaller skews mean nothing.
  std::int64_t clock_error_ns = 0;
};

// `graph`: that of the first profiled rank. Leaves out ranks that ran another graph; groups with a
// rank that was not profiled; collectives without a time on one of the ranks, such as those in
// compiled blocks; and broadcasts, whose root does not wait for the other ranks.
SkewReport collective_skew(const Graph& graph, std::span<const RankResult> ranks);

}  // namespace jointer
