#include "core/policy/check_tags.h"

#include "core/policy/apply_step_tags.h"

namespace jointer {

Result<void> check_tags(const Graph& graph, const Edit& edit) {
  if (edit.changes.empty())
    return fail(Error::Kind::usage, "the tags would change nothing in this graph");
  if (graph.part(PartId(0)).kind != CaptureKind::train_step) return {};
  Graph step = graph;
  JOINTER_CHECK(apply(step, edit));
  JOINTER_CHECK(apply_step_tags(step));
  return {};
}

}  // namespace jointer
