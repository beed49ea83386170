#pragma once

#include <optional>

#include "core/edit/edit.h"
#include "core/graph/graph.h"

namespace jointer {

// The tags of FSDP once more, after others were set: nothing if `before` has none. `tagged`: the
// graph as the other edit left it.
std::optional<Edit> fsdp_tags_again(const Graph& before, const Graph& tagged);

// The graph with an edit's tags, and with the tags of FSDP after them where it has any. Error: the
// edit's own, or it is not legal.
Result<Graph> tagged_with(const Graph& graph, const Result<Edit>& edit);

}  // namespace jointer
