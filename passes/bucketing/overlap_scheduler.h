#pragma once

// Orders one half of a graph so that collectives overlap with compute. overlap_scheduler.cpp
// describes the algorithm.

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "core/base/result.h"
#include "passes/bucketing/overlap_graph.h"
#include "passes/bucketing/torch_memory.h"

namespace jointer {

// The version of torch whose rules apply; overlap_scheduler.cpp describes the differences.
enum class OverlapRules : std::uint8_t { torch_2_11, torch_2_15 };

struct OverlapOptions {
  OverlapRules rules = OverlapRules::torch_2_15;
  std::int64_t max_in_flight = 0;        // bytes of collectives in flight
  std::int64_t max_bytes_more = 0;       // maximum growth of live memory over the original order
  std::int64_t compute_pre_fetch = 200;  // max compute nodes between a start and its use
  std::int64_t distance = 200;           // number of upcoming collectives to try
  // Collectives that no compute node depends on start together once those with the same key add up
  // to this many bytes; if std::nullopt, each starts separately. Since torch 2.15.
  std::optional<std::int64_t> off_bucket_bytes;
  double compute_multiplier = 1;
  bool groups_buckets = true;  // collectives that could share a bucket start consecutively
  // Indexed by collective: the time saved if it can join a collective in flight. If empty, no time
  // is saved.
  std::vector<std::int64_t> latency_ns;
  bool is_torch = false;  // makes torch's decisions; overlap_scheduler.cpp lists exceptions
};

// The reason why a collective does not overlap with a node (torch's WhyNoOverlap).
enum class NoOverlap : std::uint8_t {
  none,
  no_time,         // nothing that takes time ran between its inputs and its use
  dependency,      // one depends on the other
  memory,          // it would exceed the memory budget
  in_flight,       // too many bytes would be in flight
  needs_compute,   // it depends on a compute node that has not run
  needs_start,     // it depends on another collective that has not started
  needs_wait,      // it depends on a wait whose collective would be exposed
  needs_exchange,  // it depends on a communication operator that cannot start early
};

struct OverlapFate {
  std::int64_t exposed_ns = 0;         // according to the scheduler
  std::vector<Place> hidden_by;        // in the order in which they run
  NoOverlap why = NoOverlap::no_time;  // the last obstacle to more overlap
  Place held_by = kNoPlace;            // the node that it depends on, if known
  Place beside = kNoPlace;             // the node that it could not overlap with
};

struct OverlapSchedule {
  std::vector<Place> order;        // every position once
  std::vector<OverlapFate> fates;  // by collective
  std::int64_t limit_bytes = 0;    // limit on live bytes
};

// `proceed` is called regularly with the progress, from 0 to 1. If it returns an error, scheduling
// stops and returns that error.
Result<OverlapSchedule> schedule_overlap(const OverlapGraph& graph, const TorchStorages& storages,
                                         const OverlapOptions& options,
                                         const std::function<Result<void>(double)>& proceed);

}  // namespace jointer
