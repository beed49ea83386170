#pragma once

// The figures of a graph that commands compare, as JSON and as a table.

#include "app/cli/commands/options.h"
#include "app/cli/commands/table.h"

namespace jointer::cli {

struct Figures {
  std::size_t nodes = 0;
  std::int64_t peak_bytes = 0;
  std::int64_t step_ns = 0, communication_ns = 0, exposed_ns = 0;
  std::size_t hidden = 0, collectives = 0;
};

Figures figures_of(const Graph& graph, const Estimator& estimator, const std::string& optimizer);

// {"peak_bytes": ..., "step_ms": ..., ...}
Json to_json(const Figures& figures);
// {"peak_bytes": [a, b], ...}
Json to_json(const Figures& a, const Figures& b);
// One row per figure: before, after and difference.
Table compare_table(const Figures& a, const Figures& b, const std::string& first,
                    const std::string& second);

}  // namespace jointer::cli
