#pragma once

#include "core/pass/pass.h"

namespace example {

// Moves each call of `operators` as late as its readers, and writes to what it shares, allow: what
// it makes is alive for a shorter time. Later calls go first, so a call may follow what it feeds.
jointer::Result<void> sink_calls(jointer::Graph& graph, const jointer::Arguments& arguments,
                                 jointer::PassContext& context);

}  // namespace example
