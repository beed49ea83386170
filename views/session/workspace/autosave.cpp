#include "views/session/workspace/autosave.h"

#include <QFileInfo>
#include <algorithm>

#include "core/base/bytes.h"
#include "core/graph/canonical.h"
#include "core/workspace/workspace_capture.h"
#include "views/session/document/marks.h"
#include "views/session/edit/stored_history.h"
#include "views/session/edit/when_settled.h"
#include "views/session/kernels/kernel_order_edits.h"
#include "views/session/translation/qstring.h"
#include "views/session/work/task.h"

namespace jointer::views {
namespace {

const DoneEdit* last_of(const EditHistory& history) {
  return history.empty() ? nullptr : history.back().get();
}

}  // namespace

const LeftJournal* journal_of(std::span<const LeftJournal> left, const OpenRequest& request) {
  const bool is_workspace = request.backward.empty() && is_workspace_file(request.path);
  const std::string path =
      is_workspace ? QFileInfo(to_qstring(request.path)).absoluteFilePath().toStdString()
                   : absolute_path(request.path);
  const std::string backward = absolute_path(request.backward);
  const auto found = std::ranges::find_if(left, [&](const LeftJournal& journal) {
    if (is_workspace) return journal.state.workspace_path == path;
    const CaptureReference& capture = journal.state.workspace.capture;
    return capture.path == path && capture.backward == backward && capture.graph == request.index;
  });
  return found == left.end() ? nullptr : &*found;
}

Autosave::Autosave(Document& document, Benchmarks& benchmarks, QString folder,
                   PipelineDraft* pipeline, QObject* parent)
    : QObject(parent),
      document_(document),
      benchmarks_(benchmarks),
      draft_(pipeline),
      folder_(std::move(folder)),
      hash_([baseline = document.baseline()] { return graph_hash(baseline->graph); }) {
  saving_.setMaxThreadCount(1);
  saved_setup_ = known_setup_ = current_setup();
  if (draft_ != nullptr) connect(draft_, &PipelineDraft::changed, this, &Autosave::follow);
  connect(&document_.editing(), &Editing::changed, this, &Autosave::follow);
  connect(&document_, &Document::changed, this, &Autosave::follow);
  connect(&document_.marks(), &Marks::changed, this, &Autosave::follow);
  connect(&document_.kernel_order(), &KernelOrderEdits::moved, this, &Autosave::follow);
}

Autosave::~Autosave() {
  wait_on_close(saving_);
  if (!journal_) return;
  if (is_dirty_)
    journal_->set_closed(true);
  else
    journal_->remove();
}

// --- Current state ---

Autosave::Summary Autosave::current_summary() const {
  const Editing& editing = document_.editing();
  Summary known;
  for (int i = 0; i < editing.entry_count(); ++i) {
    const EditHistory& history = editing.entry(i).after;
    known.steps.push_back({history.size(), last_of(history)});
  }
  known.place = static_cast<std::size_t>(editing.place());
  for (const NamedState& state : editing.named())
    known.states.push_back({state.name, state.history.size(), last_of(state.history)});
  return known;
}

Autosave::Setup Autosave::current_setup() const {
  return {.options = to_workspace(document_.analysis().options),
          .assume = document_.graph().assumptions().text(),
          .pipeline = draft_ == nullptr ? WorkspacePipeline() : draft_->saved(),
          .marks = document_.marks().all(),
          .kernel_moves = document_.kernel_order().saved()};
}

std::string Autosave::hash() const {
  return hash_.block_until_known().value_or(std::string());
}

Workspace Autosave::workspace() {
  const OpenRequest& source = document_.source();
  Workspace workspace;
  workspace.title = document_.title().toStdString();
  workspace.capture = {.path = absolute_path(source.path),
                       .backward = absolute_path(source.backward),
                       .graph = source.index,
                       .hash = hash()};
  workspace.history = document_.editing().history();
  Setup setup = current_setup();
  workspace.capture.assume = std::move(setup.assume);
  workspace.options = std::move(setup.options);
  workspace.pipeline = std::move(setup.pipeline);
  workspace.marks = std::move(setup.marks);
  workspace.kernel_moves = std::move(setup.kernel_moves);
  workspace.extra = extra_;
  return workspace;
}

bool Autosave::has_changed(const SavedWork& found) const {
  const std::string& then = found.workspace.capture.hash;
  return !then.empty() && then != hash();
}

// --- Tracking changes ---

// Undone history entries and undone moves of kernels do not count, since they have no effect.
bool Autosave::differs_from_saved() const {
  const auto done = [](Summary known) {
    known.steps.resize(known.place);
    return known;
  };
  const auto moved = [](Setup setup) {
    setup.kernel_moves.moves.resize(setup.kernel_moves.place);
    return setup;
  };
  return !is_saved_known_ || done(known_) != done(saved_known_) ||
         moved(known_setup_) != moved(saved_setup_);
}

// Replaces the current journal, if any, with a new one that begins with `start`.
void Autosave::start_journal(const Workspace& start) {
  std::unique_ptr<Journal> old = std::move(journal_);
  if (folder_.isEmpty()) return;
  const auto complain = [this](const std::string& sentence) {
    emit failed(tr("Autosave stopped: %1. Save now.").arg(to_qstring(sentence)));
  };
  const auto complain_here = [complain,
                              window = complaints_.address()](const std::string& sentence) {
    window.post([complain, sentence] { complain(sentence); });
  };
  auto made =
      Journal::create(folder_.toStdString(),
                      {.workspace = start, .workspace_path = path_.toStdString()}, complain_here);
  if (!made) {
    folder_.clear();  // report this only once
    return complain(made.error().message);
  }
  journal_ = *std::move(made);
  if (!old) return;
  journal_->flush();
  old->remove();
}

void Autosave::follow() {
  const Summary now = current_summary();
  Setup setup = current_setup();
  if (is_restoring_ || (now == known_ && setup == known_setup_)) return;
  if (!journal_) {
    Workspace start = workspace();
    start.history = saved_history_;
    start_journal(start);
  }
  if (journal_) write_difference(now, setup);
  known_ = now;
  known_setup_ = std::move(setup);
  set_dirty(differs_from_saved());
}

void Autosave::write_difference(const Summary& now, const Setup& setup) {
  const auto same = static_cast<std::size_t>(std::ranges::mismatch(known_.steps, now.steps).in1 -
                                             known_.steps.begin());
  std::size_t place = known_.place;
  if (now.steps.size() > same) {
    if (place != same) journal_->set_place(same);
    for (std::size_t i = same; i < now.steps.size(); ++i)
      journal_->add(to_history_entry(document_.editing().entry(static_cast<int>(i))));
    place = now.steps.size();
  }
  if (now.place != place) journal_->set_place(now.place);
  if (now.states != known_.states) journal_->set_states(document_.editing().history().states);
  if (setup.options != known_setup_.options) journal_->set_options(setup.options);
  if (setup.assume != known_setup_.assume) journal_->set_assume(setup.assume);
  if (setup.pipeline != known_setup_.pipeline) journal_->set_pipeline(setup.pipeline);
  if (setup.marks != known_setup_.marks) journal_->set_marks(setup.marks);
  if (setup.kernel_moves != known_setup_.kernel_moves)
    journal_->set_kernel_moves(setup.kernel_moves);
}

// --- Restoring ---

void Autosave::restore(const SavedWork& found) {
  restore_with(found, document_.wanted_options());
}

void Autosave::restore_estimates(const Workspace& found, const AnalysisOptions& options) {
  const AnalysisOptions wanted = with_workspace(options, found.options);
  auto assumptions = Assumptions::parse(found.capture.assume);
  if (!assumptions) {
    emit failed(to_qstring(assumptions.error().message));
    assumptions = document_.wanted_assumptions();
  }
  if (to_workspace(wanted) != to_workspace(document_.wanted_options()) ||
      assumptions->text() != document_.wanted_assumptions().text())
    document_.analyze_with(wanted, *assumptions);
}

void Autosave::restore_with(const SavedWork& found, const AnalysisOptions& options) {
  path_ = found.path;
  extra_ = found.workspace.extra;
  is_restoring_ = true;
  is_found_dirty_ = !found.journal.isEmpty();
  if (is_found_dirty_) {
    // Another window may have taken over the journal; in that case, that window has the edits.
    if (auto taken = Journal::take_over(found.journal.toStdString()))
      journal_ = *std::move(taken);
    else {
      is_restoring_ = is_found_dirty_ = false;
      emit restore_failed(to_qstring(taken.error().message));
      return;
    }
  }
  if (draft_ != nullptr && found.workspace.pipeline != WorkspacePipeline())
    draft_->restore(found.workspace.pipeline);
  document_.marks().set(found.workspace.marks);
  found_moves_ = found.workspace.kernel_moves;
  if (!found.workspace.benchmarks.empty()) benchmarks_.add(found.workspace.benchmarks);
  restore_estimates(found.workspace, options);  // the history is restored after this analysis
  restoring_ = std::make_unique<QObject>();
  Editing& editing = document_.editing();
  when_settled(
      document_, editing, *restoring_, [this, &editing, history = found.workspace.history] {
        connect(&editing, &Editing::applied_all, restoring_.get(),
                [this](int edits, const QStringList& refused) { handle_restored(edits, refused); });
        connect(&editing, &Editing::refused, restoring_.get(),
                [this](const QString& why) { give_up_restoring(why); });
        editing.restore(history);
      });
}

void Autosave::give_up_restoring(const QString& why) {
  restoring_.release()->deleteLater();
  if (journal_) journal_->set_closed(true);  // keep the journal for the next start
  journal_.reset();
  is_restoring_ = is_found_dirty_ = false;
  emit restore_failed(why);
}

void Autosave::handle_restored(int edits, const QStringList& refused) {
  restoring_.release()->deleteLater();  // called from one of its slots
  document_.kernel_order().restore(found_moves_);
  is_restoring_ = false;
  known_ = current_summary();
  known_setup_ = current_setup();
  if (is_found_dirty_) {
    is_saved_known_ = false;
    start_journal(workspace());
  } else {
    Setup in_file = known_setup_;
    in_file.kernel_moves = found_moves_;  // some may have been dropped
    remember(known_, in_file, document_.editing().history());
  }
  set_dirty(!refused.isEmpty() || differs_from_saved());
  emit restored(edits, refused);
}

void Autosave::forget() {
  if (journal_) journal_->remove();
  journal_.reset();
}

Result<Workspace> Autosave::without_changes(const AnalysisOptions& options,
                                            const GivenOptions& given) const {
  Workspace workspace;
  workspace.options = to_workspace(options);
  if (!path_.isEmpty()) {
    JOINTER_TRY(workspace, read_workspace(path_.toStdString()));
  }
  override_with(workspace, given);
  return workspace;
}

void Autosave::discard(const AnalysisOptions& options, const GivenOptions& given) {
  auto workspace = without_changes(options, given);
  if (!workspace) return emit failed(to_qstring(workspace.error().message));
  workspace->benchmarks.clear();  // these have already been loaded
  const SavedWork found{.workspace = *std::move(workspace), .path = path_};
  forget();
  is_restoring_ = true;
  if (draft_ != nullptr) draft_->restore(found.workspace.pipeline);
  restore_with(found, options);
}

// --- Saving ---

void Autosave::remember(const Summary& known, const Setup& setup, History history) {
  is_saved_known_ = true;
  saved_known_ = known;
  saved_setup_ = setup;
  saved_history_ = std::move(history);
}

void Autosave::save(const QString& path, const QByteArray& layout) {
  const bool is_first = saves_.empty();
  if (!is_first)
    saves_.erase(std::remove_if(saves_.begin() + 1, saves_.end(),
                                [&](const Save& waiting) { return waiting.path == path; }),
                 saves_.end());
  saves_.push_back({path, layout});
  if (is_first) begin_save();
}

void Autosave::begin_save() {
  // Include benchmark results from earlier sessions.
  benchmarks_.load();
  write_when_loaded();
}

void Autosave::write_when_loaded() {
  if (!benchmarks_.is_loading()) return write_file();
  connect(&benchmarks_, &Benchmarks::rows_changed, this, &Autosave::write_when_loaded,
          static_cast<Qt::ConnectionType>(Qt::QueuedConnection | Qt::SingleShotConnection));
}

void Autosave::write_file() {
  const Save& save = saves_.front();
  Workspace workspace = this->workspace();
  workspace.layout = save.layout.toBase64().toStdString();
  for (const BenchmarkRow& row : benchmarks_.rows()) workspace.benchmarks.push_back(*row.result);
  const auto work = [workspace, path = save.path] {
    return write_workspace(path.toStdString(), workspace);
  };
  const auto take = [this, history = workspace.history, known = current_summary(),
                     setup = current_setup()](const Result<void>& written) {
    end_save(written, known, setup, history);
  };
  run_in_background(this, work, take, saving_);
}

void Autosave::end_save(const Result<void>& written, const Summary& known, const Setup& setup,
                        History history) {
  const QString path = saves_.front().path;
  saves_.pop_front();
  if (written) {
    path_ = path;
    remember(known, setup, std::move(history));
    handle_saved();
  }
  if (!saves_.empty()) begin_save();
  if (written)
    emit saved(path);
  else
    emit failed(tr("Not saved: %1").arg(to_qstring(written.error().message)));
  if (saves_.empty()) emit saves_ended();
}

// Removes the journal, which the file now replaces. If changes were made during the save, starts a
// new journal.
void Autosave::handle_saved() {
  const Summary now = current_summary();
  known_setup_ = current_setup();
  if (now == saved_known_ && known_setup_ == saved_setup_)
    forget();
  else
    start_journal(workspace());
  known_ = now;
  set_dirty(differs_from_saved());
}

}  // namespace jointer::views
