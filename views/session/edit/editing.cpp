#include "views/session/edit/editing.h"

#include <algorithm>
#include <utility>

#include "core/base/bytes.h"
#include "core/edit/recipe.h"
#include "views/session/edit/move_planner.h"
#include "views/session/edit/repeat.h"
#include "views/session/edit/stored_history.h"
#include "views/session/translation/qstring.h"

namespace jointer::views {
namespace {

QStringList to_list(const std::vector<std::string>& texts) {
  QStringList list;
  for (const std::string& text : texts) list << to_qstring(text);
  return list;
}

// Says which edits undo or redo has just reverted or applied, starting from position `from`.
QString undone_or_redone(const Editing& editing, int from) {
  const int to = editing.place();
  const bool is_undone = to < from;
  const int count = is_undone ? from - to : to - from;
  if (count == 1) {
    const QString& title = editing.entry(std::min(from, to)).title;
    return (is_undone ? Editing::tr("Undid: %1") : Editing::tr("Redid: %1")).arg(title);
  }
  return (is_undone ? Editing::tr("Undid %1 edits.") : Editing::tr("Redid %1 edits.")).arg(count);
}

std::vector<EditHistory> without_metrics(const EntryStack& entries,
                                         const std::vector<NamedState>& named) {
  std::vector<EditHistory> histories;
  for (int i = 0; i < entries.count(); ++i)
    if (!entries.entry(i).metrics) histories.push_back(entries.entry(i).after);
  for (const NamedState& state : named)
    if (!state.metrics) histories.push_back(state.history);
  return histories;
}

}  // namespace

Editing::Editing(OpenGraph& open)
    : open_(open),
      planner_(std::make_unique<MovePlanner>(open, *this)),
      estimated_as_(open.shared_snapshot()) {
  connect(this, &Editing::refused, planner_.get(), &MovePlanner::handle_refusal);
  connect(&open_, &OpenGraph::shown, this, [this] {
    restore_moment();
    forget_old_metrics();
  });
}

Editing::~Editing() = default;

std::optional<int> Editing::place_of(const EditHistory& history) const {
  for (int place = 0; place <= entries_.count(); ++place)
    if (history_at(place) == history) return place;
  return std::nullopt;
}

// --- Request queue ---

void Editing::ask(Request request) {
  requests_.push_back(std::move(request));
  pump();
}

void Editing::pump() {
  while (!is_working_ && !requests_.empty()) {
    // Adjacent undo and redo requests become one transition. An edit waits for it.
    if (requests_.front().is_edit && target_ != history_) break;
    const Request request = std::move(requests_.front());
    requests_.pop_front();
    request.run();
  }
  if (is_working_ || target_ == history_) return;
  follow(target_, [this, from = place_of(history_)] {
    const bool is_refused = history_ != target_;
    if (is_refused) {
      // Return to the position of the shown state.
      if (const auto place = place_of(history_)) entries_.go_to(*place);
      target_ = history_;
    }
    emit changed();
    if (!is_refused && from) emit applied(undone_or_redone(*this, *from));
  });
}

void Editing::work(OpenGraph::Job job, OpenGraph::Done done) {
  is_working_ = true;
  keep_moment();
  open_.add_job(std::move(job), [this, done = std::move(done)](const Result<void>& result) {
    is_working_ = false;
    done(result);
    pump();
  });
}

void Editing::follow(const EditHistory& history, std::function<void()> done) {
  const Transition transition(history_, history);
  const auto inverses = std::make_shared<std::vector<Edit>>();
  work(
      [transition, inverses](const DocumentState& state) -> Result<DocumentState> {
        JOINTER_TRY(Transformed result, transform(state, transition));
        *inverses = std::move(result.inverses);
        return DocumentState{result.now, state.baseline};
      },
      [this, history, inverses, done = std::move(done)](const Result<void>& result) {
        if (result) {
          const std::size_t first = history.size() - inverses->size();
          for (std::size_t i = 0; i < inverses->size(); ++i)
            history[first + i]->inverse = std::move((*inverses)[i]);
          history_ = history;
        } else {
          emit refused(to_qstring(result.error().message));
        }
        done();
      });
}

// --- Edits ---

Editing::MakeEdits Editing::given(std::vector<Edit> edits) {
  return [edits = std::move(edits)](const Graph& /*graph*/) { return edits; };
}

void Editing::do_batch(MakeEdits make, EditHistory before, std::function<void(const Batch&)> done) {
  const auto batch = std::make_shared<Batch>();
  const auto job = [make = std::move(make),
                    batch](const DocumentState& state) -> Result<DocumentState> {
    JOINTER_TRY(const std::vector<Edit> edits, make(state.now->graph));
    Graph graph = state.now->graph;
    batch->run = run_edits(graph, edits);
    if (batch->run.done.empty()) return state;
    JOINTER_TRY(const SnapshotPtr now,
                snapshot_after(*state.now, std::move(graph), batch->run.same_calls));
    batch->metrics = metrics_of(now->graph, now->analysis);
    return DocumentState{now, state.baseline};
  };
  work(job, [this, batch, before = std::move(before),
             done = std::move(done)](const Result<void>& result) {
    if (!result) {
      batch->run.done.clear();
      batch->run.refused.push_back(result.error().message);
    }
    push_entries(*batch, before);
    done(*batch);
  });
}

void Editing::push_entries(const Batch& batch, EditHistory before) {
  const EditHistory& added = batch.run.done;
  // If no edit was applied, the state that the edits would have replaced is shown again.
  target_ = before;
  for (const DoneEditPtr& done : added) {
    EditEntry entry = entry_of(done, history_);
    entry.before = std::exchange(before, entry.after);
    if (done == added.back()) entry.metrics = batch.metrics;
    history_ = target_ = entry.after;
    entries_.push(std::move(entry));
  }
  if (added.empty()) return;
  compute_metrics();
  emit changed();
}

void Editing::do_one(MakeEdits make) {
  do_batch(std::move(make), history_, [this](const Batch& batch) {
    for (const std::string& sentence : batch.run.refused) emit refused(to_qstring(sentence));
    for (const DoneEditPtr& done : batch.run.done)
      emit applied((QStringList(to_qstring(done->edit.title)) + to_list(done->edit.notes))
                       .join(QStringLiteral(" · ")));
  });
}

void Editing::repeat_in_layers(std::vector<NodeId> nodes) {
  ask({.is_edit = true, .run = [this, nodes = std::move(nodes)] {
         const auto past = last_edit_of(history_, open_.graph(), open_.existing(nodes));
         if (!past)
           return emit refused(
               tr("First edit a layer: move a node, set its policy, or merge, split or replace "
                  "calls."));
         do_one([past = *past](const Graph& now) -> Result<std::vector<Edit>> {
           JOINTER_TRY(Edit edit, repeated(past, now));
           return std::vector{std::move(edit)};
         });
       }});
}

void Editing::apply_all(std::vector<Edit> edits) {
  ask({.is_edit = true, .run = [this, edits = std::move(edits)] { do_all(edits, history_); }});
}

// Requests that run first may replace the entries that lead to `place`, so remember the edits.
void Editing::apply_all_from(int place, std::vector<Edit> edits) {
  ask({.is_edit = true, .run = [this, start = history_at(place), edits = std::move(edits)] {
         const EditHistory before = history_;
         if (before == start) return do_all(edits, before);
         follow(start, [this, start, before, edits] {
           if (history_ == start) return do_all(edits, before);
           emit applied_all(0, {});  // `refused` has already said why
         });
       }});
}

void Editing::do_all(std::vector<Edit> edits, const EditHistory& before) {
  do_batch(given(std::move(edits)), before, [this](const Batch& batch) {
    emit applied_all(static_cast<int>(batch.run.done.size()), to_list(batch.run.refused));
  });
}

// --- Positions in the history ---

void Editing::set_place(int place) {
  place = std::clamp(place, 0, entries_.count());
  if (place > entries_.place()) target_ = entry(place - 1).after;
  if (place < entries_.place()) target_ = entry(place).before;
  entries_.go_to(place);
}

// --- Named states ---

void Editing::keep_state(const QString& name) {
  named_.push_back({name, history_, metrics_of(open_.graph(), open_.analysis())});
  emit changed();
}

void Editing::rename_state(std::size_t index, const QString& name) {
  if (index >= named_.size() || named_[index].name == name) return;
  named_[index].name = name;
  emit changed();
}

void Editing::remove_state(std::size_t index) {
  if (index >= named_.size()) return;
  named_.erase(named_.begin() + static_cast<std::ptrdiff_t>(index));
  emit changed();
}

void Editing::go_to_state(std::size_t index) {
  if (index >= named_.size()) return;
  ask({.is_edit = true, .run = [this, state = named_[index]] {
         if (const auto place = place_of(state.history)) return set_place(*place);
         const EditHistory before = history_;
         follow(state.history, [this, state, before] {
           if (history_ != state.history) return;  // the request was refused
           entries_.push({.title = tr("Go to “%1”").arg(state.name),
                          .before = before,
                          .after = state.history,
                          .metrics = state.metrics});
           target_ = history_;
           emit changed();
         });
       }});
}

// --- Workspaces ---

Result<void> Editing::write_recipe(const QString& path) const {
  const Recipe recipe =
      make_recipe(open_.baseline()->graph, open_.graph(), edits(), open_.title().toStdString());
  return write_bytes(path.toStdString(), jointer::write_recipe(recipe));
}

History Editing::history() const {
  std::vector<const EditEntry*> entries;
  for (int i = 0; i < entry_count(); ++i) entries.push_back(&entry(i));
  return to_history(entries, static_cast<std::size_t>(place()), named_);
}

void Editing::restore(History history) {
  ask({.is_edit = true, .run = [this, history = std::move(history)] { do_restore(history); }});
}

void Editing::do_restore(const History& history) {
  const auto restored = std::make_shared<Restored>();
  const auto job = [history, restored](const DocumentState& state) -> Result<DocumentState> {
    JOINTER_TRY(*restored, restore_history(state, history));
    return DocumentState{restored->now, state.baseline};
  };
  work(job, [this, restored](const Result<void>& result) {
    if (!result) return emit refused(to_qstring(result.error().message));
    entries_ = EntryStack(std::move(restored->entries), static_cast<int>(restored->place));
    named_ = std::move(restored->named);
    history_ = target_ = history_at(place());
    compute_metrics();
    emit changed();
    emit applied_all(static_cast<int>(history_.size()), to_list(restored->refused));
  });
}

void Editing::make_state(const EditHistory& history, QObject* context, Made done) const {
  if (history == history_) return done(open_.shared_snapshot());
  const auto make = [baseline = open_.baseline(), edits = edits_of(history)] {
    return snapshot_of_history(baseline, edits);
  };
  run_in_background(context, make, done);
}

// --- Estimates of the history ---

// If the options or sizes have changed, all metrics are recomputed.
void Editing::forget_old_metrics() {
  const SnapshotPtr now = open_.shared_snapshot();
  const bool same = same_estimates(*estimated_as_, *now);
  estimated_as_ = open_.baseline();
  if (same) return;
  finding_metrics_.cancel();
  for (int i = 0; i < entry_count(); ++i) entries_.entry(i).metrics.reset();
  for (NamedState& state : named_) state.metrics.reset();
  compute_metrics();
  emit changed();
}

void Editing::compute_metrics() {
  if (finding_metrics_.is_running()) return;  // another job follows when this one ends
  const std::vector<EditHistory> histories = without_metrics(entries_, named_);
  if (histories.empty()) return;
  const auto find = [baseline = open_.baseline(), histories](const Cancellation& job) {
    return metrics_of_histories(*baseline, histories, job.flag());
  };
  finding_metrics_.start(find, [this, histories](const Result<MetricsByHistory>& found) {
    if (!found) return;  // the metrics stay empty
    fill_metrics(*found);
    // Entries may have been added in the meantime. If the same histories still lack metrics, these
    // could not be computed.
    if (without_metrics(entries_, named_) != histories) compute_metrics();
  });
}

void Editing::fill_metrics(const MetricsByHistory& found) {
  bool any = false;
  const auto fill = [&](const EditHistory& history, std::optional<Metrics>& metrics) {
    const auto at = found.find(history);
    if (metrics || at == found.end()) return;
    metrics = at->second;
    any = true;
  };
  for (int i = 0; i < entry_count(); ++i) fill(entry(i).after, entries_.entry(i).metrics);
  for (NamedState& state : named_) fill(state.history, state.metrics);
  if (any) emit changed();
}

// --- The selected moment, which stays at its node ---

void Editing::keep_moment() {
  moment_.reset();
  const auto moment = open_.selection().moment();
  if (!moment || *moment == 0 || *moment >= open_.analysis().memory.profile().size()) return;
  moment_ =
      KeptMoment{open_.analysis().memory.node_at(*moment), MemoryTimeline::is_after_frees(*moment)};
}

void Editing::restore_moment() {
  if (!moment_) return;
  const auto kept = *std::exchange(moment_, std::nullopt);
  if (!open_.has(kept.node)) return open_.selection().set_moment(std::nullopt);
  open_.selection().set_moment(open_.analysis().memory.point_of(kept.node, kept.after));
}

}  // namespace jointer::views
