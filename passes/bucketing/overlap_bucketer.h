#pragma once

// Which collectives of a schedule become one without losing what hides them. How is at the top of
// overlap_bucketer.cpp.

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "passes/bucketing/overlap_scheduler.h"

namespace jointer {

struct BucketerOptions {
  std::int64_t most_bytes = std::int64_t{2} << 30;  // of a bucket
  std::int64_t distance = 200;  // how many collectives of the group are tried for one bucket
  // Buckets begin with what is hidden least; none: in groups that gather parameters.
  std::optional<bool> exposed_first;
  bool only_parameter_groups = false;  // others make no buckets
  bool mixes_reductions = false;       // as torch 2.11 does: a reduce-scatter with an all-reduce
};

// Why a collective is in no bucket with another: torch's WhyNoBucket.
enum class NoBucket : std::uint8_t {
  none,
  alone,         // there is no other like it
  hides_others,  // something runs beside it or its wait
  too_large,
  far,      // the other stands too far away
  needed,   // one needs the other, or what hides it does
  hiding,   // a collective would no longer be hidden
  cycle,    // the starts, or the waits, would have to come before each other
  written,  // something writes to what a member reads or returns
  unlike,   // sizes that are not known, another device, a result that is not dense
  costly,   // copies in and out take longer than the start-ups that it saves
};

struct Bucketing {
  std::vector<std::vector<std::uint32_t>> buckets;  // numbers of collectives, the seed first
  std::vector<NoBucket> why;        // by number of collective; none: it is in a bucket
  std::vector<std::uint32_t> with;  // by number: the other one of `why`, kNever for none
  // What must run before what, by (place, what it runs after), so that all that is hidden stays so.
  std::vector<std::pair<Place, Place>> dependencies;
};

Result<Bucketing> find_buckets(const OverlapGraph& graph, const OverlapSchedule& schedule,
                               const BucketerOptions& options,
                               const std::function<Result<void>(double)>& proceed);

// The dependencies alone, and no buckets.
Bucketing without_buckets(const OverlapGraph& graph, const OverlapSchedule& schedule);

}  // namespace jointer
