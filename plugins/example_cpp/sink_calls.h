#pragma once

#include "core/pass/pass.h"

namespace example {

// Moves calls of `operators`, at most `most` of them, as late as their readers and any writes to
// shared storages allow, so that their results are live for a shorter time. Later calls move first,
// so that a call can follow a reader that has moved.
jointer::Result<void> sink_calls(jointer::Graph& graph, const jointer::Arguments& arguments,
                                 jointer::PassContext& context);

}  // namespace example
