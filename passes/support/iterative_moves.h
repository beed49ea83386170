#pragma once

// The parameters of Inductor's iterative passes, which move one collective or one wait at a time:
// reorder_communication_preserving_peak_memory raises collectives, sink_waits_iterative sinks
// waits. passes/reordering runs them on nodes, passes/kernel_order on kernels.
//
// Source: torch 2.15, torch/_inductor/config_comms.py (names and defaults). Callers choose whether
// collectives may overtake each other by default: they may in torch, although ranks that estimate
// different times may then hang. The passes on kernels use torch's default; those on nodes do not.

#include <cstdint>
#include <optional>
#include <vector>

#include "core/pass/parameter.h"

namespace jointer {

struct IterativeOptions {
  bool use_times = false;  // consider estimated times
  bool unsafe = false;     // collectives may overtake each other
  // Raising: a collective that the moved one depends on moves with it. Sinking: waits may move past
  // collectives.
  bool with_collectives = false;
  double extra_overlap = 0;  // a collective is hidden if compute exceeds its time by this fraction
  double budget = 0;         // allowed growth of the peak, as a fraction of it
  // Maximum number of collectives or waits to try to move; nullopt: all.
  std::optional<std::int64_t> max;
  double collective_factor = 1, compute_factor = 1;  // of estimated times
};

std::vector<Parameter> raise_parameters(bool default_of_unsafe);
std::vector<Parameter> sink_parameters(bool default_of_unsafe);

// The options that the arguments of these parameters select.
IterativeOptions raise_options(const Arguments& given);
IterativeOptions sink_options(const Arguments& given);

}  // namespace jointer
