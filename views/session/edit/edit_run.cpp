#include "views/session/edit/edit_run.h"

#include <algorithm>

#include "core/edit/edit.h"

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

MetricsByHistory metrics_of_histories(const Snapshot& baseline,
                                      const std::vector<EditHistory>& histories,
                                      const std::atomic<bool>& cancel) {
  MetricsByHistory found;
  Graph graph = baseline.graph;
  EditHistory at;
  bool same_calls = true;
  for (const EditHistory& history : histories) {
    if (cancel) break;
    if (found.contains(history)) continue;
    if (at.size() > history.size() || !std::equal(at.begin(), at.end(), history.begin())) {
      graph = baseline.graph;
      at.clear();
      same_calls = true;
    }
    bool is_legal = true;
    for (std::size_t i = at.size(); i < history.size() && is_legal; ++i) {
      is_legal = apply(graph, history[i]->edit).has_value();
      same_calls = same_calls && keeps_calls(history[i]->edit);
      at.push_back(history[i]);
    }
    if (!is_legal) {
      // The graph cannot be reused; the next history starts from the baseline.
      at.clear();
      at.push_back(nullptr);
      continue;
    }
    if (const auto analysis = analysis_after(baseline.analysis, graph, same_calls))
      found.emplace(history, metrics_of(graph, *analysis));
  }
  return found;
}

Result<SnapshotPtr> snapshot_of_history(const SnapshotPtr& baseline,
                                        const std::vector<Edit>& edits) {
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
