#include "views/session/tune/tune_session.h"

#include <algorithm>

#include "core/base/bytes.h"
#include "core/base/counted.h"
#include "core/base/environment.h"
#include "core/edit/recipe.h"
#include "core/pass/pipeline_file.h"
#include "core/schedule/caching_allocator.h"
#include "passes/built_in.h"
#include "views/session/document/document.h"
#include "views/session/edit/editing.h"
#include "views/session/edit/when_settled.h"
#include "views/session/sac/pair_file.h"
#include "views/session/sac/sac_session.h"
#include "views/session/text/number_text.h"

namespace jointer::views {
namespace {

constexpr int kTakeMs = 60;

Result<PipelineRun> run_all(const Snapshot& snapshot, const Pipeline& pipeline,
                            std::int64_t budget) {
  PassContext::Options options;
  options.analysis = snapshot.analysis.options;
  options.peak_limit = budget;
  return run_whole_pipeline(snapshot.graph, pipeline, built_in_passes(), options);
}

// The memory that the caching allocator reserves for the graph that a pipeline produces.
Result<std::int64_t> reserved_of(const Snapshot& snapshot, const Pipeline& pipeline,
                                 std::int64_t budget) {
  JOINTER_TRY(const PipelineRun done, run_all(snapshot, pipeline, budget));
  const Graph& graph = done.steps.empty() ? snapshot.graph : *done.steps.back().graph;
  return reserved_peak_bytes(graph, snapshot.analysis.options.memory);
}

// The edits of a pipeline's steps.
struct StepEdits {
  std::vector<Edit> edits;           // of the graph that the pipeline ran on
  const StepResult* pair = nullptr;  // the step that partitioned it, if there is one
  std::vector<Edit> pair_edits;      // of the pair
};

StepEdits step_edits(const PipelineRun& done) {
  StepEdits found;
  for (const StepResult& step : done.steps) {
    if (!step.edit_refusal.empty()) {
      found.pair = &step;
      found.pair_edits.clear();
    } else if (!step.edit.changes.empty()) {
      (found.pair == nullptr ? found.edits : found.pair_edits).push_back(step.edit);
    }
  }
  return found;
}

}  // namespace

Result<TuneSession::PipelineResult> TuneSession::run(const Snapshot& snapshot,
                                                     const Pipeline& pipeline, std::int64_t budget,
                                                     const QString& title) {
  JOINTER_TRY(const PipelineRun done, run_all(snapshot, pipeline, budget));
  StepEdits found = step_edits(done);
  PipelineResult result{.edits = std::move(found.edits)};
  if (!done.steps.empty()) result.figures = done.steps.back().after;
  if (found.pair != nullptr) {
    JOINTER_TRY(result.pair, write_graph_and_edits(*found.pair->graph, *done.steps.back().graph,
                                                   found.pair_edits, title));
  }
  return result;
}

TuneSession::TuneSession(Document& document, QObject* parent)
    : QObject(parent), document_(document) {
  timer_.setInterval(kTakeMs);
  connect(&timer_, &QTimer::timeout, this, &TuneSession::publish_news);
  limit_ = document.analysis().memory.peak_bytes();
  connect(&document, &Document::changed, this, &TuneSession::changed);
  connect(this, &TuneSession::changed, this, &TuneSession::publish);
  connect(&document.sac(), &SacSession::tuned_wanted, this, &TuneSession::apply_winner);
}

bool TuneSession::makes_a_pair() const {
  return searched_ && !searched_->graph.is_pair() &&
         searched_->graph.part(PartId(std::size_t{0})).kind == CaptureKind::joint;
}

std::optional<int> TuneSession::searched_place() const {
  const Editing& editing = document_.editing();
  return editing.edit_history() == history_ ? editing.place() : editing.place_of(history_);
}

bool TuneSession::is_winner_applied() const {
  return result_ && result_->winner && !makes_a_pair() && latest_ == result_->winner->pipeline &&
         applied_ == document_.editing().edit_history();
}

void TuneSession::set_limit(std::int64_t peak_bytes) {
  limit_ = peak_bytes;
  emit limit_changed();
}

// The winner is shown with the plans as long as it can be applied.
void TuneSession::publish() {
  if (!result_ || !result_->winner || is_outdated()) return document_.sac().set_tuned(std::nullopt);
  document_.sac().set_tuned(
      SacSession::Tuned{.figures = result_->winner->figures.figures, .reserved_bytes = reserved_});
}

// The search does not keep the winner's graph, so its pipeline runs once more.
void TuneSession::find_reserved() {
  if (!result_ || !result_->winner || searched_->analysis.memory.device() != DeviceType::cuda)
    return;
  const auto find = [snapshot = searched_, pipeline = result_->winner->pipeline,
                     budget = *result_->budget] {
    return reserved_of(*snapshot, pipeline, budget);
  };
  finding_reserved_.start(find, [this](const Result<std::int64_t>& bytes) {
    if (bytes) reserved_ = *bytes;
    publish();
  });
}

void TuneSession::start(const TuneSettings& settings) {
  running_ = std::make_shared<Shared>();
  searched_ = document_.shared_snapshot();
  history_ = document_.editing().edit_history();
  result_.reset();
  applied_.reset();
  reserved_.reset();
  finding_reserved_.cancel();
  timer_.start();
  const auto search = [settings, snapshot = searched_,
                       shared = running_](const Cancellation& job) -> Result<TuneResult> {
    TuneOptions options;
    options.context.analysis = snapshot->analysis.options;
    options.context.is_cancelled = [&job] { return job.is_cancelled(); };
    options.budget = settings.budget;
    options.evaluations = settings.evaluations;
    options.seconds = settings.seconds;
    options.seed = settings.seed;
    options.twin_groups = settings.twin_groups;
    options.threads = static_cast<std::size_t>(usable_cores());
    return tune(snapshot->graph, built_in_passes(), options, [&](const TuneProgress& progress) {
      const std::scoped_lock lock(shared->mutex);
      shared->so_far = progress.so_far;
    });
  };
  search_.start(search, [this](const Result<TuneResult>& result) {
    running_.reset();
    timer_.stop();
    if (result)
      result_ = *result;
    else if (result.error().kind != Error::Kind::cancelled)
      emit failed(tr("Search"), to_qstring(result.error().message));
    find_reserved();
    emit changed();
  });
  emit changed();
}

void TuneSession::stop() {
  if (!running_) return;
  publish_news();
  search_.end_early();
  running_.reset();
  timer_.stop();
  emit changed();
}

void TuneSession::publish_news() {
  if (!running_) return;
  std::optional<TuneResult> news;
  {
    const std::scoped_lock lock(running_->mutex);
    news.swap(running_->so_far);
  }
  if (!news) return;
  result_ = std::move(news);
  emit changed();
}

void TuneSession::apply(const Pipeline& pipeline) {
  if (!can_apply()) {
    emit message(is_applying() ? tr("A pipeline is already being applied.")
                               : tr("The graph has changed since the search; search again."));
    return;
  }
  latest_ = pipeline;
  applied_.reset();
  emit message(tr("Running the selected pipeline..."));
  const auto work = [snapshot = searched_, pipeline, budget = *result_->budget,
                     title = document_.title()] { return run(*snapshot, pipeline, budget, title); };
  applying_.start(work, [this, searched = searched_](const Result<PipelineResult>& done) {
    if (!done) {
      emit failed(tr("Apply"), to_qstring(done.error().message));
    } else if (searched == searched_) {
      if (!done->pair || (searched_place() && !done->edits.empty()))
        apply_edits(done->edits, done->figures);
      if (done->pair) emit graph_made(done->pair->graph, done->pair->recipe);
    }
    emit changed();
  });
  emit changed();
}

bool TuneSession::is_flat_step() const {
  return searched_ && sac_kind(searched_->graph) == SacKind::step;
}

TrainingFlags TuneSession::flags() const {
  return training_flags(result_->winner->pipeline,
                        is_flat_step() ? TrainedAs::flat_step : TrainedAs::compiled,
                        built_in_passes());
}

TrainingForm TuneSession::form(const TrainingFlags& flags) const {
  const bool are_flags_enough = flags.are_complete() && history_.empty();
  if (are_flags_enough && (makes_a_pair() || is_flat_step())) return TrainingForm::flags;
  return makes_a_pair() ? TrainingForm::pipeline : TrainingForm::recipe;
}

QString TuneSession::why(TrainingForm form, const TrainingFlags& flags) const {
  if (form == TrainingForm::flags)
    return tr(
        "Settings of torch and torchtitan express every step of the best pipeline, so "
        "training does not need Jointer.");
  QStringList sentences{form == TrainingForm::recipe
                            ? tr("A recipe applies exactly these edits to the graph in training.")
                            : tr("A recipe cannot partition a joint graph.")};
  const auto step =
      std::ranges::find_if(flags.steps, [](const StepFlags& each) { return !each.reason.empty(); });
  if (step != flags.steps.end())
    sentences << tr("Settings cannot express %1: %2.")
                     .arg(to_qstring(step->step.pass), to_qstring(step->reason));
  else if (!history_.empty())
    sentences << tr("Settings cannot express the edits before the search.");
  else if (flags.are_complete())
    sentences << tr("With settings, torch would decide again, on the graph that it compiles.");
  return sentences.join(u' ');
}

void TuneSession::write_winner(const QString& path) {
  if (!result_ || !result_->winner) return;
  const TrainingFlags settings = flags();
  const auto write = [path, settings, form = form(settings), is_pair = makes_a_pair(),
                      pipeline = result_->winner->pipeline, budget = *result_->budget,
                      searched = searched_, history = history_, baseline = document_.baseline(),
                      title = document_.title().toStdString()]() -> Result<QString> {
    if (form == TrainingForm::flags) {
      JOINTER_CHECK(write_bytes(path.toStdString(), settings.text()));
      return tr("Wrote the flags to %1.").arg(path);
    }
    if (is_pair) {
      JOINTER_CHECK(write_pipeline_file(path.toStdString(), {.name = title, .steps = pipeline}));
      return tr("Wrote the pipeline to %1.").arg(path);
    }
    JOINTER_TRY(const PipelineRun done, run_all(*searched, pipeline, budget));
    const StepEdits found = step_edits(done);
    if (found.pair != nullptr)
      return fail(Error::Kind::usage, "a recipe cannot express {}: {}; copy the pipeline instead",
                  found.pair->step, found.pair->edit_refusal);
    std::vector<Edit> edits = edits_of(history);
    edits.insert(edits.end(), found.edits.begin(), found.edits.end());
    const Graph& after = done.steps.empty() ? searched->graph : *done.steps.back().graph;
    JOINTER_CHECK(write_bytes(path.toStdString(),
                              write_recipe(make_recipe(baseline->graph, after, edits, title))));
    return edits.size() == 1
               ? tr("Wrote a recipe with 1 edit to %1.").arg(path)
               : tr("Wrote a recipe with %1 edits to %2.").arg(count_text(edits.size()), path);
  };
  emit message(tr("Writing %1...").arg(path));
  run_in_background(this, write, [this](const Result<QString>& written) {
    if (written)
      emit message(*written);
    else
      emit failed(tr("Save"), to_qstring(written.error().message));
  });
}

// Applies the edits to the state that was searched. Entries after it stay in the history.
void TuneSession::apply_edits(const std::vector<Edit>& edits, const StepFigures& figures) {
  Editing& editing = document_.editing();
  const QString changed_since = tr("The graph has changed since the search; search again.");
  const auto place = searched_place();
  if (!place) return emit message(changed_since);
  if (edits.empty()) return editing.go_to(*place);
  edits_wait_ = std::make_unique<QObject>();
  when_settled(document_, editing, *edits_wait_, [this, &editing, edits, figures, changed_since] {
    const auto from = searched_place();
    if (!from) {
      edits_wait_.release()->deleteLater();  // called from one of its slots
      emit message(changed_since);
      return emit changed();
    }
    connect(&editing, &Editing::applied_all, edits_wait_.get(),
            [this, start = history_, count = edits.size(), figures](int /*applied*/,
                                                                    const QStringList& refused) {
              handle_applied(start, count, figures, refused);
            });
    editing.apply_all_from(*from, edits);
  });
}

void TuneSession::handle_applied(const EditHistory& start, std::size_t edits,
                                 const StepFigures& figures, const QStringList& refused) {
  edits_wait_.release()->deleteLater();  // called from one of its slots
  const EditHistory now = document_.editing().edit_history();
  const bool is_whole = refused.isEmpty() && now.size() == start.size() + edits &&
                        std::equal(start.begin(), start.end(), now.begin());
  if (is_whole) {
    applied_ = now;
    emit message(tr("Applied %1: step time %2, peak %3.")
                     .arg(to_qstring(counted(edits, "pipeline step")),
                          time_text(figures.figures.step_ns),
                          bytes_text(figures.figures.peak_bytes)));
  } else if (refused.isEmpty()) {
    emit message(tr("The pipeline could not be applied; search again."));
  } else {
    emit message(tr("The pipeline was only partially applied: %1").arg(refused.front()));
  }
  emit changed();
}

}  // namespace jointer::views
