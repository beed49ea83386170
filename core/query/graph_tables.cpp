#include "core/query/graph_tables.h"

#include "core/schedule/memory_times.h"

namespace jointer {

TableSource::TableSource(const Graph& graph_of, const Analysis& analysis_of)
    : graph(graph_of),
      analysis(analysis_of),
      users(graph_of),
      memory_times(jointer::memory_times(graph_of, analysis_of.memory, analysis_of.simulation)) {}

const CollectiveTiming* TableSource::started_by(NodeId node) const {
  const std::int32_t index = analysis.simulation.collective_of(node);
  if (index < 0) return nullptr;
  const CollectiveTiming& c = analysis.simulation.collectives()[static_cast<std::size_t>(index)];
  return c.start == node ? &c : nullptr;
}

std::string_view TableSource::module(NodeId node) const {
  return analysis.modules.module(analysis.modules.of(node)).path;
}

const std::vector<TableWriter>& table_writers() {
  static const std::vector<TableWriter> writers{step_table(),    node_table(),  input_table(),
                                                storage_table(), event_table(), collective_table()};
  return writers;
}

}  // namespace jointer
