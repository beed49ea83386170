#pragma once

// The metrics of a graph that commands compare, as JSON and as a table.

#include "app/cli/commands/options.h"
#include "app/cli/commands/table.h"
#include "core/cost/node_flops.h"
#include "core/schedule/memory_timeline.h"
#include "core/schedule/simulation.h"

namespace jointer::cli {

struct GraphFigures {
  std::size_t nodes = 0;
  std::int64_t peak_bytes = 0;
  std::int64_t step_ns = 0, communication_ns = 0, exposed_ns = 0;
  std::size_t hidden = 0, collectives = 0;
};

MemoryOptions memory_options(const std::string& optimizer);
GraphFigures figures_of(const Graph& graph, const Estimator& estimator,
                        const std::string& optimizer);
GraphFigures figures_of(const Graph& graph, const MemoryTimeline& timeline,
                        const Simulation& simulation);

// A change with its sign: "+14.2 GiB", "-3.10 GiB".
std::string signed_text(std::int64_t change, std::string (*format)(std::int64_t));

// {"peak_bytes": ..., "step_ms": ..., ...}
Json to_json(const GraphFigures& figures);
// {"peak_bytes": [a, b], ...}
Json to_json(const GraphFigures& a, const GraphFigures& b);
// A table of metrics before and after, and their differences.
class ComparedFigures {
 public:
  ComparedFigures(const std::string& first, const std::string& second);
  void add(const char* name, std::int64_t before, std::int64_t after,
           std::string (*format)(std::int64_t));
  [[nodiscard]] const Table& table() const { return table_; }

 private:
  Table table_;
};
// One row per metric.
Table compare_table(const GraphFigures& a, const GraphFigures& b, const std::string& first,
                    const std::string& second);

}  // namespace jointer::cli
