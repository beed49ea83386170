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
    result_.place = result_.entries.size();
    result_.now = baseline_;
    if (history_.empty()) return {};
    const bool same_calls = std::ranges::all_of(
        history_, [](const DoneEditPtr& done) { return keeps_calls(done->edit); });
    JOINTER_TRY(result_.now, snapshot_after(*baseline_, graph_, same_calls));
    return {};
  }

  void add(const HistoryEntry& stored) {
    const EditHistory before = history_;
    if (stored.keep < history_.size()) {
      // This entry undoes some edits: replay the remaining ones on the opened graph.
      history_.resize(stored.keep);
      graph_ = baseline_->graph;
      for (const DoneEditPtr& done : history_)
        if (auto inverse = apply(graph_, done->edit)) done->inverse = *std::move(inverse);
    }
    EditRun added = run_edits(graph_, stored.edits);
    note(added, {});
    history_.insert(history_.end(), added.done.begin(), added.done.end());
    if (history_ == before) return;
    EditEntry next{.title = QString::fromStdString(stored.title)};
    if (added.done.size() == 1) next = entry_of(added.done.front(), before);
    next.title = QString::fromStdString(stored.title);
    next.before = before;
    next.after = history_;
    result_.entries.push_back(std::move(next));
  }

  // Returns the history for `edits`. Where it begins like the history of an entry, both share the
  // same DoneEdit objects.
  EditHistory history_of(const std::vector<Edit>& edits, const std::string& prefix) {
    Graph graph = baseline_->graph;
    EditRun again = run_edits(graph, edits);
    note(again, prefix);
    for (const EditEntry& entry : result_.entries) {
      const auto same = [](const DoneEditPtr& a, const DoneEditPtr& b) {
        return a == b || a->edit == b->edit;
      };
      const auto [of_edits, of_entry] = std::mismatch(again.done.begin(), again.done.end(),
                                                      entry.after.begin(), entry.after.end(), same);
      std::copy(entry.after.begin(), of_entry, again.done.begin());
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

HistoryEntry to_history_entry(const EditEntry& entry) {
  HistoryEntry stored{.title = entry.title.toStdString(),
                      .keep = entry.before.size() - replaced_edits(entry)};
  for (std::size_t i = stored.keep; i < entry.after.size(); ++i)
    stored.edits.push_back(entry.after[i]->edit);
  return stored;
}

History to_history(const std::vector<const EditEntry*>& entries, std::size_t place,
                   const std::vector<NamedState>& named) {
  History history;
  for (const EditEntry* entry : entries) history.entries.push_back(to_history_entry(*entry));
  history.place = place;
  for (const NamedState& state : named)
    history.states.push_back({.name = state.name.toStdString(), .edits = edits_of(state.history)});
  return history;
}

}  // namespace jointer::views
