#pragma once

// Merges the collectives of a schedule without exposing those that are hidden. overlap_bucketer.cpp
// describes the steps.

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "passes/bucketing/overlap_scheduler.h"

namespace jointer {

struct BucketerOptions {
  std::int64_t max_bytes = std::int64_t{2} << 30;  // of a bucket
  std::int64_t distance = 200;  // number of further collectives with the seed's key to try
  // True: begin buckets with the collective that is hidden least. std::nullopt: do so only in
  // groups that gather parameters.
  std::optional<bool> exposed_first;
  bool only_parameter_groups = false;  // no buckets in other groups
  bool mixes_reductions = false;  // as in torch 2.11: may merge a reduce-scatter with an all-reduce
};

// The reason why a collective does not share a bucket (torch's WhyNoBucket).
enum class NoBucket : std::uint8_t {
  none,
  alone,          // no other collective has its key
  no_neighbor,    // greedy buckets: other keys come before and after it
  no_parameters,  // its group gathers no parameters, and only such groups get buckets
  hides_others,   // its start or wait hides another collective
  too_large,
  far,      // the other collective is too far away
  needed,   // one collective, or a node that hides it, depends on the other
  hiding,   // a collective would no longer be hidden
  cycle,    // the starts or the waits would depend on each other
  written,  // something writes to a member's input or result
  unlike,   // unknown sizes, different devices, or a result that is not dense
  costly,   // packing and unpacking take longer than the merge saves
};

struct Bucketing {
  std::vector<std::vector<std::uint32_t>> buckets;  // numbers of collectives, the seed first
  std::vector<NoBucket> why;                        // by collective; `none` if it is in a bucket
  std::vector<std::uint32_t> with;  // by collective: the other collective of `why`, or kNever
  // Dependencies that keep collectives hidden: pairs of a position and a position that it must
  // follow.
  std::vector<std::pair<Place, Place>> dependencies;

  // Records why the members of a bucket stay separate.
  void leave(const std::vector<std::uint32_t>& bucket, NoBucket reason);
};

// `proceed` is called with the progress, from 0 to 1. If it returns an error, find_buckets returns
// that error.
Result<Bucketing> find_buckets(const OverlapGraph& graph, const OverlapSchedule& schedule,
                               const BucketerOptions& options,
                               const std::function<Result<void>(double)>& proceed);

// Returns only the dependencies, without buckets.
Bucketing without_buckets(const OverlapGraph& graph, const OverlapSchedule& schedule);

}  // namespace jointer
