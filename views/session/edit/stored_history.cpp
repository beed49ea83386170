#include "views/session/edit/stored_history.h"

#include <algorithm>

namespace jointer::views {
namespace {

// Replays the entries of a history on a single graph.
class Restorer {
 public:
  explicit Restorer(const SnapshotPtr& baseline) : baseline_(baseline), graph_(baseline->graph) {}

  Result<Restored> run(const History& history) {
    for (std::size_t i = 0; i < history.entries.size(); ++i) {
      if (i == history.place) JOINTER_CHECK(stop_here());
      add(history.entries[i]);
    }
    if (!result_.now) JOINTER_CHECK(stop_here());
    for (const KeptState& kept : history.states) {
      const EditHistory edits = history_of(kept.edits, kept.name + ": ");
      result_.named.push_back({QString::fromStdString(kept.name), edits, {}});
    }
    return std::move(result_);
  }

 private:
  // Makes the current state the one to show.
  Result<void> stop_here() {
    result_.place = result_.steps.size();
    result_.now = baseline_;
    if (history_.empty()) return {};
    const bool same_calls =
        std::all_of(history_.begin(), history_.end(),
                    [](const DoneEditPtr& done) { return keeps_calls(done->edit); });
    JOINTER_TRY(result_.now, snapshot_after(*baseline_, graph_, same_calls));
    return {};
  }

  void add(const HistoryEntry& step) {
    const EditHistory before = history_;
    if (step.keep < history_.size()) {
      // This entry undoes some edits: replay the remaining ones on the opened graph.
      history_.resize(step.keep);
      graph_ = baseline_->graph;
      for (const DoneEditPtr& done : history_)
        if (auto inverse = apply(graph_, done->edit)) done->inverse = *std::move(inverse);
    }
    EditRun added = run_edits(graph_, step.edits);
    note(added, {});
    history_.insert(history_.end(), added.done.begin(), added.done.end());
    if (history_ == before) return;
    EditStep next{.title = QString::fromStdString(step.title), .by = {}, .notes = {}};
    if (added.done.size() == 1) next = step_of(added.done.front(), before);
    next.title = QString::fromStdString(step.title);
    next.before = before;
    next.after = history_;
    result_.steps.push_back(std::move(next));
  }

  // The history for `edits`, which shares its longest common prefix with the entries.
  EditHistory history_of(const std::vector<Edit>& edits, const std::string& prefix) {
    Graph graph = baseline_->graph;
    EditRun again = run_edits(graph, edits);
    note(again, prefix);
    for (const EditStep& step : result_.steps) {
      const auto same = [](const DoneEditPtr& a, const DoneEditPtr& b) {
        return a == b || a->edit == b->edit;
      };
      const auto [of_edits, of_step] = std::mismatch(again.done.begin(), again.done.end(),
                                                     step.after.begin(), step.after.end(), same);
      std::copy(step.after.begin(), of_step, again.done.begin());
    }
    return again.done;
  }

  void note(const EditRun& from, const std::string& prefix) {
    for (const std::string& sentence : from.refused) result_.refused.push_back(prefix + sentence);
  }

  SnapshotPtr baseline_;
  Graph graph_;
  EditHistory history_;
  Restored result_;
};

}  // namespace

Result<Restored> restore_history(const DocumentState& state, const History& history) {
  return Restorer(state.baseline).run(history);
}

HistoryEntry to_history_entry(const EditStep& step) {
  HistoryEntry stored{.title = step.title.toStdString(),
                      .keep = step.before.size() - replaced_edits(step),
                      .edits = {}};
  for (std::size_t i = stored.keep; i < step.after.size(); ++i)
    stored.edits.push_back(step.after[i]->edit);
  return stored;
}

History to_history(const std::vector<const EditStep*>& steps, std::size_t place,
                   const std::vector<NamedState>& named) {
  History history;
  for (const EditStep* step : steps) history.entries.push_back(to_history_entry(*step));
  history.place = place;
  for (const NamedState& state : named)
    history.states.push_back({.name = state.name.toStdString(), .edits = edits_of(state.history)});
  return history;
}

}  // namespace jointer::views
