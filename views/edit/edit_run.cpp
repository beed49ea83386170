#include "views/edit/edit_run.h"

#include <algorithm>

#include "core/edit/editor.h"

namespace jointer::views {

EditRun run_edits(Graph& graph, const std::vector<Edit>& edits) {
  EditRun result;
  Editor editor(graph);
  for (const Edit& edit : edits) {
    Result<Edit> inverse = editor.apply(edit);
    if (!inverse) {
      result.refused.push_back(inverse.error().message);
      continue;
    }
    result.done.push_back(std::make_shared<DoneEdit>(DoneEdit{edit, *std::move(inverse)}));
    result.same_calls = result.same_calls && keeps_calls(edit);
  }
  return result;
}

MetricsByLine metrics_of_lines(const Snapshot& baseline, const std::vector<EditLine>& lines,
                               const std::atomic<bool>& cancel) {
  MetricsByLine found;
  Graph graph = baseline.graph;
  EditLine at;
  bool same_calls = true;
  for (const EditLine& line : lines) {
    if (cancel) break;
    if (found.contains(line)) continue;
    if (at.size() > line.size() || !std::equal(at.begin(), at.end(), line.begin())) {
      graph = baseline.graph;
      at.clear();
      same_calls = true;
    }
    bool is_legal = true;
    for (std::size_t i = at.size(); i < line.size() && is_legal; ++i) {
      is_legal = apply(graph, line[i]->edit).has_value();
      same_calls = same_calls && keeps_calls(line[i]->edit);
      at.push_back(line[i]);
    }
    if (!is_legal) {
      // Nothing that is kept is of any use: the next line starts anew.
      at.clear();
      at.push_back(nullptr);
      continue;
    }
    if (const auto analysis = analysis_after(baseline.analysis, graph, same_calls))
      found.emplace(line, metrics_of(graph, *analysis));
  }
  return found;
}

Result<SnapshotPtr> snapshot_of_line(const SnapshotPtr& baseline, const std::vector<Edit>& edits) {
  if (edits.empty()) return baseline;
  Graph graph = baseline->graph;
  bool same_calls = true;
  for (const Edit& edit : edits) {
    JOINTER_TRY([[maybe_unused]] const Edit inverse, apply(graph, edit));
    same_calls = same_calls && keeps_calls(edit);
  }
  return snapshot_after(*baseline, std::move(graph), same_calls);
}

}  // namespace jointer::views
