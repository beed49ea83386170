#pragma once

#include "core/pass/pass.h"

namespace jointer {

// Makes `graph` what a pass gave back. `given` is the graph as the pass got it: `graph` through a
// file, which says more than some captures do (strides, storages). Where edits lead from `given` to
// `result` (core/edit/difference.h) they are applied to `graph`, so that nodes keep their ids; else
// `graph` is replaced by `result`, and a decision says why. Error (run): the pass broke the graph's
// signature (plugins/hosted/signature.h); `graph` is as it was.
Result<void> take_result(Graph& graph, const Graph& given, Graph result, PassContext& context);

}  // namespace jointer
