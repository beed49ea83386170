#pragma once

// Adds the dependencies that carry no data: those between collectives, and those due to mutations
// and aliases. Afterwards, an access to mutated storage names the buffer that the last
// mutation before it defined, each buffer lists its readers, and inputs that no op reads are marked
// as not to be freed.
//
// Terms: a mutation defines a new buffer for the same storage; later reads of the old one refer
// to the new one (renaming). A buffer and its aliases share their readers.
//
// Cost: linear in accesses, plus the earlier readers of each mutated buffer.
// Source: torch/_inductor/scheduler.py (compute_dependencies), torch/_inductor/comms.py
// (decide_global_ordering_of_comms).

#include "core/kernels/ir.h"

namespace jointer::kernels {

void add_order(Ir& ir);

}  // namespace jointer::kernels
