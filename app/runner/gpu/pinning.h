#pragma once

// Chooses the CPUs to which a rank is pinned: those nearest to its GPU, so that its threads do not
// launch kernels and copy data from another NUMA node.

#include <string>

#include "core/process/cpus.h"

namespace jointer::runner {

struct PinningChoice {
  Cpus cpus;         // to pin the rank to; empty if it should not be pinned
  std::string note;  // for the user if the rank is pinned
  std::string fact;  // for the environment if it is not, and the reason is of interest
};

// Chooses CPUs for a rank. `near`: the CPUs nearest to its GPU. A process that may use only some of
// the `online` CPUs is left alone: a user, a scheduler or a container chose them. A rank is not
// pinned either if all CPUs are equally near, or if nothing is known.
PinningChoice choose_pinning(const Cpus& near, const Cpus& allowed, const Cpus& online);

}  // namespace jointer::runner
