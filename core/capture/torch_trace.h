#pragma once

// Reads the logs that torch writes under TORCH_TRACE. An entry is one line, `V1121 12:00:00.123456
// 17297 torch/file.py:12] {"aot_joint_graph": {}, "rank": 0, ...}`, and a payload on the lines
// after it, indented by a tab. Graphs are in payloads, which the FX text reader reads. A trainer
// that logs every pass (torchtitan's --compile.debug_graph_passes) writes the traced graph, then
// `before_PASS` and `after_PASS` for each pass, as artifacts. Torch's compiler logs the graphs
// around some of its stages under similar names.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/capture/progress.h"
#include "core/graph/graph.h"

namespace jointer {

// True if an entry starts on one of the first 20 lines.
bool is_torch_trace(std::string_view bytes);

struct TraceGraph {
  std::string name;     // "rank 0, 0/0, aot_joint_graph"
  std::string entry;    // "aot_joint_graph"
  std::string compile;  // "rank 0, 0/0"; equal for the graphs of one compilation
  CaptureKind kind = CaptureKind::forward;
  std::optional<std::int64_t> rank;
  std::size_t nodes = 0;
  std::string_view text;         // the payload; points into the log
  std::size_t first_number = 1;  // line of the log at which it starts, from 1
  std::size_t index = 0;         // among the graphs of the payload
  // The index, in the same list, of the graph from which a pass made this one, if known.
  std::optional<std::size_t> before = std::nullopt;
};

// Lists the graphs of a log, in log order. Skips entries whose payload is missing, truncated or not
// a graph. Error (input): the log contains no complete graph.
Result<std::vector<TraceGraph>> list_torch_trace(std::string_view file, std::string_view bytes);

// Adds the graph `index` as a new part. Call `complete` afterwards. Error (usage): there is no such
// graph. Other errors: same as append_fx_text.
Result<PartId> append_torch_trace(Graph& graph, std::string_view file, std::string_view bytes,
                                  std::size_t index, const Progress& progress);

}  // namespace jointer
