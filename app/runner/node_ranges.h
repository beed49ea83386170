#pragma once

#include <string>
#include <vector>

#include "app/runner/measure.h"
#include "app/runner/profiler_ranges.h"

namespace jointer::runner {

// Launches every instruction of a step in a range that is named after its call (node and operator,
// such as "mm_3 aten.mm.default"), its compiled block, or the placeholder that it feeds.
class NodeRanges final : public Follower {
 public:
  NodeRanges(const MeasuredProgram& run, ProfilerRanges& ranges);

  void before(std::size_t instruction) override { ranges_.push(names_[instruction]); }
  void called(std::size_t) override { ranges_.pop(); }

 private:
  ProfilerRanges& ranges_;
  std::vector<std::string> names_;  // by instruction
};

}  // namespace jointer::runner
