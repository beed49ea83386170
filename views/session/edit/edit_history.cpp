#include "views/session/edit/edit_history.h"

#include <algorithm>

#include "core/compiled/compiled_step.h"

namespace jointer::views {

std::vector<Edit> edits_of(const EditHistory& history) {
  std::vector<Edit> edits;
  edits.reserve(history.size());
  for (const DoneEditPtr& done : history) edits.push_back(done->edit);
  return edits;
}

bool keeps_calls(const Edit& edit) {
  return std::all_of(edit.changes.begin(), edit.changes.end(), [](const Change& change) {
    return std::holds_alternative<MoveNodes>(change) || std::holds_alternative<SetPolicy>(change);
  });
}

// --- History entries ---

std::size_t replaced_edits(const EditEntry& entry) {
  const auto [end, other] = std::mismatch(entry.before.begin(), entry.before.end(),
                                          entry.after.begin(), entry.after.end());
  return static_cast<std::size_t>(entry.before.end() - end);
}

EditEntry entry_of(const DoneEditPtr& done, const EditHistory& before) {
  EditEntry entry{.title = QString::fromStdString(done->edit.title),
                  .by = QString::fromStdString(done->edit.by),
                  .before = before,
                  .after = before};
  for (const std::string& note : done->edit.notes) entry.notes << QString::fromStdString(note);
  entry.after.push_back(done);
  return entry;
}

// --- Applying edits ---

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

Transition::Transition(const EditHistory& from, const EditHistory& to)
    : ends_at_baseline(to.empty()) {
  const auto [last_from, last_to] = std::mismatch(from.begin(), from.end(), to.begin(), to.end());
  for (auto done = from.end(); done != last_from;) edits.push_back((*--done)->inverse);
  back_count = edits.size();
  for (auto done = last_to; done != to.end(); ++done) edits.push_back((*done)->edit);
}

Result<Transformed> transform(const DocumentState& state, const Transition& transition) {
  Transformed result;
  Graph graph = state.now->graph;
  Editor editor(graph);
  bool same_calls = true;
  for (std::size_t i = 0; i < transition.edits.size(); ++i) {
    JOINTER_TRY(Edit inverse, editor.apply(transition.edits[i]));
    if (i >= transition.back_count) result.inverses.push_back(std::move(inverse));
    same_calls = same_calls && keeps_calls(transition.edits[i]);
  }
  if (transition.ends_at_baseline) {
    result.now = state.baseline;
    return result;
  }
  JOINTER_TRY(result.now, snapshot_after(*state.now, std::move(graph), same_calls));
  return result;
}

// --- The state after edits ---

namespace {

Result<Analysis> analysis_after(const Analysis& from, const Graph& graph, bool same_calls) {
  // The kernels of a compiled step depend on the order.
  if (!same_calls || from.compiled) return analyze_step(graph, from.options);
  return Analysis({.options = from.options,
                   .estimator = from.estimator,
                   .device = from.device,
                   .modules = from.modules,
                   .memory = MemoryTimeline(graph, from.options.memory),
                   .costs = from.costs,
                   .transfers = from.transfers,
                   .flops = from.flops,
                   .total_flops = from.total_flops,
                   .model = from.model},
                  graph);
}

}  // namespace

Result<SnapshotPtr> snapshot_after(const Snapshot& from, Graph graph, bool same_calls) {
  // Only policies differ, and the analysis does not depend on those.
  if (same_calls && std::ranges::equal(from.graph.order(), graph.order()))
    return std::make_shared<const Snapshot>(Snapshot{.graph = std::move(graph),
                                                     .users = from.users,
                                                     .analysis = from.analysis,
                                                     .program_order = from.program_order,
                                                     .estimated_time = from.estimated_time});
  JOINTER_TRY(Analysis analysis, analysis_after(from.analysis, graph, same_calls));
  return snapshot_of(std::move(graph), std::move(analysis));
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
      // The graph cannot be reused, so the next history starts from the baseline.
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
