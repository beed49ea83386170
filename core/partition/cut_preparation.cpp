#include "core/partition/cut_preparation.h"

#include "core/partition/common_subexpressions.h"
#include "core/partition/dead_code.h"
#include "core/partition/partition.h"
#include "core/partition/saved_values.h"
#include "core/partition/unrepeatable.h"

namespace jointer {

void drop_tags(Graph& joint) {
  for (const NodeId id : joint.order()) joint.node(id).policy = MemoryPolicy::none;
}

Result<void> check_functional(const Graph& joint) {
  if (const NodeId id = find_write_in_between(joint))
    return fail(Error::Kind::usage,
                "{} ({}) writes in place, so a recomputed value could differ; partition a "
                "functional graph, or use the default partitioner without policy tags",
                joint.name(id), joint.target(joint.node(id)));
  return {};
}

std::vector<TagSource> prepare_for_cut(Graph& joint) {
  eliminate_dead_code(joint);
  merge_common_subexpressions(joint);
  return settle_tags(joint, Partitioner::min_cut);
}

Result<SavePlan> plan_of(const Graph& joint, const JointParts& parts,
                         const std::vector<NodeId>& saved) {
  std::vector<NodeId> values, symbols;
  for (const NodeId id : saved) (is_symbol(joint, joint.node(id)) ? symbols : values).push_back(id);
  return settle_saved_values(joint, parts, values, symbols);
}

}  // namespace jointer
