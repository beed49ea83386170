#pragma once

// The history of the fake device's allocator, and its snapshots in torch's format: pickles that
// torch's Pickler writes, with the keys of torch/csrc/cuda/memory_snapshot.cpp that Jointer reads.

#include <cstdint>
#include <string>
#include <vector>

namespace jointer::test {

struct TracedEvent {
  std::string action;  // alloc, free_requested, free_completed, segment_alloc, segment_free, oom
  std::int64_t address = 0, bytes = 0, ns = 0;
};

struct SnapshotBlock {
  std::int64_t address = 0, bytes = 0, requested = 0;
};

// A pool as one segment of `bytes` bytes, with its allocated blocks.
struct SnapshotSegment {
  std::int64_t bytes = 0;
  std::vector<SnapshotBlock> blocks;
};

std::string pickled_snapshot(const std::vector<SnapshotSegment>& segments,
                             const std::vector<TracedEvent>& trace);

}  // namespace jointer::test
