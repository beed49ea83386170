#pragma once

#include "core/pass/pass.h"

namespace example {

// Moves each call of `operators` as late as its readers and any writes to shared storages allow, so
// that its result is live for a shorter time. Later calls move first, so that a call can follow a
// reader that has moved.
jointer::Result<void> sink_calls(jointer::Graph& graph, const jointer::Arguments& arguments,
                                 jointer::PassContext& context);

}  // namespace example
