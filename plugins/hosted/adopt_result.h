#pragma once

#include "core/pass/pass.h"

namespace jointer {

// Updates `graph` to the `result` of a pass. `given` is the graph that the pass received: `graph`
// after being written and read, which adds strides and storages that some captures lack. If an edit
// leads from `given` to `result` (core/edit/difference.h), it is applied to `graph`, so that node
// ids stay the same. Otherwise, `result` replaces `graph` and inherits its assumptions, and a
// decision reports why. Error (run): the pass changed the graph's signature
// (plugins/hosted/signature.h), or added calls that are not operators; `graph` is then unchanged.
Result<void> adopt_result(Graph& graph, const Graph& given, Graph result, PassContext& context);

}  // namespace jointer
