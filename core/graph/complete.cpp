#include "core/graph/complete.h"

#include "core/graph/derive.h"
#include "core/graph/inherited_assumptions.h"
#include "core/graph/storage_rules.h"
#include "core/graph/validate.h"

namespace jointer {

Result<void> complete(Graph& graph) {
  correct_storages(graph);
  derive_phases(graph);
  derive_roles(graph);
  JOINTER_CHECK(link_pair(graph));
  JOINTER_CHECK(graph.finish());
  JOINTER_CHECK(validate(graph));
  for (std::string& warning : find_warnings(graph))
    graph.add_fact(Fact::Kind::warning, std::move(warning));
  return {};
}

Result<void> complete(Graph& graph, const Graph& from) {
  JOINTER_CHECK(complete(graph));
  return inherit_assumptions(graph, from);
}

}  // namespace jointer
