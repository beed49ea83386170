#include "views/session/edit/editing.h"

#include <QtConcurrentRun>
#include <algorithm>

#include "core/base/bytes.h"
#include "core/edit/recipe.h"
#include "views/session/document/document.h"
#include "views/session/edit/move_planner.h"

namespace jointer::views {
namespace {

QStringList to_list(const std::vector<std::string>& texts) {
  QStringList list;
  for (const std::string& text : texts) list << QString::fromStdString(text);
  return list;
}

}  // namespace

// An entry of Qt's undo stack. Undo and redo set the target state; the graph follows on a working
// thread.
class Editing::Command : public QUndoCommand {
 public:
  Command(Editing& editing, EditStep step)
      : QUndoCommand(step.title), editing_(editing), step_(std::move(step)) {}

  void undo() override { go_to(step_.before); }
  void redo() override { go_to(step_.after); }
  [[nodiscard]] EditStep& step() { return step_; }
  [[nodiscard]] const EditStep& step() const { return step_; }

 private:
  void go_to(const EditHistory& history) {
    if (!editing_.commands_are_quiet_) editing_.target_ = history;
  }

  Editing& editing_;
  EditStep step_;
};

Editing::Editing(Document& document, StateQueue& queue)
    : document_(document),
      queue_(queue),
      planner_(std::make_unique<MovePlanner>(document)),
      estimated_as_(queue.state().now) {
  connect(this, &Editing::refused, planner_.get(), &MovePlanner::take_refusal);
  connect(&queue_, &StateQueue::shown, this, [this] {
    restore_moment();
    forget_old_metrics();
  });
}

Editing::~Editing() {
  if (metrics_job_) *metrics_job_ = true;
}

const EditStep& Editing::step(int index) const {
  return static_cast<const Command*>(undo_.command(index))->step();
}

EditHistory Editing::history_at(int place) const {
  return place == 0 ? EditHistory() : step(place - 1).after;
}

// --- Request queue ---

void Editing::ask(Request request) {
  requests_.push_back(std::move(request));
  pump();
}

void Editing::pump() {
  while (!is_working_ && !requests_.empty()) {
    // Undo and redo requests are merged; an edit waits until they are done.
    if (requests_.front().is_edit && target_ != history_) break;
    const Request request = std::move(requests_.front());
    requests_.pop_front();
    request.run();
  }
  if (is_working_ || target_ == history_) return;
  follow(target_, [this] {
    if (history_ != target_) {
      // Refused: the history returns to what is shown.
      commands_are_quiet_ = true;
      for (int place = undo_.count(); place >= 0; --place)
        if (history_at(place) == history_) undo_.setIndex(place);
      commands_are_quiet_ = false;
      target_ = history_;
    }
    emit changed();
  });
}

void Editing::work(StateQueue::Job job, StateQueue::Done done) {
  is_working_ = true;
  keep_moment();
  queue_.add(std::move(job), [this, done = std::move(done)](const Result<void>& result) {
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
          emit refused(QString::fromStdString(result.error().message));
        }
        done();
      });
}

// --- Edits ---

void Editing::do_batch(std::vector<Edit> edits, std::function<void(const Batch&)> done) {
  const auto batch = std::make_shared<Batch>();
  const auto job = [edits = std::move(edits),
                    batch](const DocumentState& state) -> Result<DocumentState> {
    Graph graph = state.now->graph;
    batch->run = run_edits(graph, edits);
    if (batch->run.done.empty()) return state;
    JOINTER_TRY(const SnapshotPtr now,
                snapshot_after(*state.now, std::move(graph), batch->run.same_calls));
    batch->metrics = metrics_of(now->graph, now->analysis);
    return DocumentState{now, state.baseline};
  };
  work(job, [this, batch, done = std::move(done)](const Result<void>& result) {
    if (!result) {
      batch->run.done.clear();
      batch->run.refused.push_back(result.error().message);
    }
    push_steps(batch->run.done, batch->metrics);
    done(*batch);
  });
}

void Editing::push_steps(const EditHistory& added, const std::optional<Metrics>& metrics) {
  for (const DoneEditPtr& done : added) {
    EditStep step = step_of(done, history_);
    if (done == added.back()) step.metrics = metrics;
    history_ = target_ = step.after;
    push(std::move(step));
  }
  if (added.empty()) return;
  compute_metrics();
  emit changed();
}

void Editing::push(EditStep step) {
  commands_are_quiet_ = true;
  undo_.push(new Command(*this, std::move(step)));
  commands_are_quiet_ = false;
}

void Editing::apply(const Edit& edit) {
  ask({.is_edit = true, .run = [this, edit] {
         do_batch({edit}, [this](const Batch& batch) {
           for (const std::string& sentence : batch.run.refused)
             emit refused(QString::fromStdString(sentence));
           for (const DoneEditPtr& done : batch.run.done)
             emit applied(
                 (QStringList(QString::fromStdString(done->edit.title)) + to_list(done->edit.notes))
                     .join(QStringLiteral(" · ")));
         });
       }});
}

void Editing::apply_all(std::vector<Edit> edits) {
  ask({.is_edit = true, .run = [this, edits = std::move(edits)] {
         do_batch(edits, [this](const Batch& batch) {
           emit applied_all(static_cast<int>(batch.run.done.size()), to_list(batch.run.refused));
         });
       }});
}

// --- Places in the history ---

void Editing::undo() {
  ask({.run = [this] { undo_.undo(); }});
}

void Editing::redo() {
  ask({.run = [this] { undo_.redo(); }});
}

void Editing::go_to(int place) {
  ask({.run = [this, place] { undo_.setIndex(std::clamp(place, 0, undo_.count())); }});
}

// --- Named states ---

void Editing::keep_state(const QString& name) {
  named_.push_back({name, history_, metrics_of(document_.graph(), document_.analysis())});
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
         for (int place = 0; place <= undo_.count(); ++place)
           if (history_at(place) == state.history) return undo_.setIndex(place);
         const EditHistory before = history_;
         follow(state.history, [this, state, before] {
           if (history_ != state.history) return;  // it was refused
           push({.title = tr("Go to “%1”").arg(state.name),
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
  const Recipe recipe = make_recipe(document_.baseline()->graph, document_.graph(), edits(),
                                    document_.title().toStdString());
  return write_bytes(path.toStdString(), jointer::write_recipe(recipe));
}

History Editing::history() const {
  std::vector<const EditStep*> steps;
  for (int i = 0; i < step_count(); ++i) steps.push_back(&step(i));
  return to_history(steps, static_cast<std::size_t>(place()), named_);
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
    if (!result) return emit refused(QString::fromStdString(result.error().message));
    commands_are_quiet_ = true;
    undo_.clear();
    for (EditStep& step : restored->steps) undo_.push(new Command(*this, std::move(step)));
    undo_.setIndex(static_cast<int>(restored->place));
    commands_are_quiet_ = false;
    named_ = std::move(restored->named);
    history_ = target_ = history_at(place());
    compute_metrics();
    emit changed();
    emit applied_all(static_cast<int>(history_.size()), to_list(restored->refused));
  });
}

void Editing::make_state(const EditHistory& history, QObject* context, Made done) const {
  if (history == history_) return done(document_.shared_snapshot());
  const auto make = [baseline = document_.baseline(), edits = edits_of(history)] {
    return snapshot_of_history(baseline, edits);
  };
  QtConcurrent::run(make).then(context,
                               [done](const Result<SnapshotPtr>& result) { done(result); });
}

// --- Figures of the history ---

EditStep& Editing::step_to_change(int index) {
  // QUndoStack returns const commands, but they are ours.
  return const_cast<Command*>(static_cast<const Command*>(undo_.command(index)))->step();
}

// The estimates or sizes have changed, so all metrics are recomputed.
void Editing::forget_old_metrics() {
  const SnapshotPtr now = document_.shared_snapshot();
  const bool same = same_estimates(*estimated_as_, *now);
  estimated_as_ = document_.baseline();
  if (same) return;
  if (metrics_job_) *metrics_job_ = true;
  metrics_job_ = nullptr;
  for (int i = 0; i < step_count(); ++i) step_to_change(i).metrics.reset();
  for (NamedState& state : named_) state.metrics.reset();
  compute_metrics();
  emit changed();
}

void Editing::compute_metrics() {
  if (metrics_job_) return;  // the running job starts another one when it finishes
  std::vector<EditHistory> histories;
  for (int i = 0; i < step_count(); ++i)
    if (!step(i).metrics) histories.push_back(step(i).after);
  for (const NamedState& state : named_)
    if (!state.metrics) histories.push_back(state.history);
  if (histories.empty()) return;
  metrics_job_ = std::make_shared<std::atomic<bool>>(false);
  const auto find = [baseline = document_.baseline(), histories, cancel = metrics_job_] {
    return metrics_of_histories(*baseline, histories, *cancel);
  };
  QtConcurrent::run(find).then(this, [this, job = metrics_job_](const MetricsByHistory& found) {
    if (job != metrics_job_) return;
    metrics_job_ = nullptr;
    fill_metrics(found);
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
  for (int i = 0; i < step_count(); ++i) fill(step(i).after, step_to_change(i).metrics);
  for (NamedState& state : named_) fill(state.history, state.metrics);
  if (!any) return;
  emit changed();
  compute_metrics();
}

// --- Keeping the selected moment at its node ---

void Editing::keep_moment() {
  moment_.reset();
  const auto moment = document_.selection().moment();
  if (!moment || *moment == 0 || *moment >= document_.analysis().memory.profile().size()) return;
  moment_ = KeptMoment{document_.analysis().memory.node_at(*moment), *moment % 2 == 0};
}

void Editing::restore_moment() {
  if (!moment_) return;
  const auto kept = *std::exchange(moment_, std::nullopt);
  if (!document_.has(kept.node)) return document_.selection().set_moment(std::nullopt);
  const auto step = document_.analysis().memory.step_of(kept.node);
  document_.selection().set_moment(step ? std::optional(1 + 2 * *step + (kept.after ? 1 : 0))
                                        : std::nullopt);
}

}  // namespace jointer::views
