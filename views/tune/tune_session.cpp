#include "views/tune/tune_session.h"

#include <QtConcurrentRun>
#include <algorithm>
#include <thread>

#include "passes/built_in.h"
#include "views/document/document.h"
#include "views/document/number_text.h"
#include "views/edit/editing.h"
#include "views/sac/pair_file.h"

namespace jointer::views {
namespace {

constexpr int kTakeMs = 60;

// What a pipeline makes of a graph: the edits of its steps, or a pair.
struct Taken {
  std::vector<Edit> edits;
  StepFigures figures;
  QString pair;  // its file; empty: edits
};

Result<Taken> run(const Snapshot& snapshot, const Pipeline& pipeline, std::int64_t budget,
                  const QString& title) {
  PassContext::Options options;
  options.analysis = snapshot.analysis.options;
  options.peak_limit = budget;
  JOINTER_TRY(const PipelineRun done,
              run_pipeline(snapshot.graph, pipeline, built_in_passes(), options));
  if (done.error) return tl::unexpected(*done.error);
  Taken taken;
  for (const StepResult& step : done.steps) {
    if (!step.edit_refusal.empty()) {
      JOINTER_TRY(taken.pair, write_graph_file(*done.steps.back().graph, title));
    }
    if (!step.edit.changes.empty()) taken.edits.push_back(step.edit);
    taken.figures = step.after;
  }
  return taken;
}

}  // namespace

TuneSession::TuneSession(Document& document, QObject* parent)
    : QObject(parent), document_(document) {
  timer_.setInterval(kTakeMs);
  connect(&timer_, &QTimer::timeout, this, &TuneSession::take_news);
  connect(&document, &Document::changed, this, &TuneSession::changed);
}

TuneSession::~TuneSession() {
  if (shared_) shared_->cancel = true;
}

bool TuneSession::makes_a_pair() const {
  return searched_ && !searched_->graph.is_pair() &&
         searched_->graph.part(PartId(std::size_t{0})).kind == CaptureKind::joint;
}

std::optional<int> TuneSession::searched_place() const {
  const Editing& editing = document_.editing();
  if (editing.line() == line_) return editing.place();
  for (int place = 0; place <= editing.step_count(); ++place)
    if (editing.line_at(place) == line_) return place;
  return std::nullopt;
}

bool TuneSession::can_take() const {
  return result_ && !is_taking_ && (makes_a_pair() || searched_place());
}

void TuneSession::start(const TuneSettings& settings) {
  if (shared_) shared_->cancel = true;
  shared_ = running_ = std::make_shared<Shared>();
  searched_ = document_.shared_snapshot();
  line_ = document_.editing().line();
  result_.reset();
  timer_.start();
  emit changed();
  const auto search = [settings, snapshot = searched_, shared = shared_]() -> Result<TuneResult> {
    TuneOptions options;
    options.context.analysis = snapshot->analysis.options;
    options.context.is_cancelled = [&shared] { return shared->cancel.load(); };
    options.budget = settings.budget;
    options.evaluations = settings.evaluations;
    options.seconds = settings.seconds;
    options.seed = settings.seed;
    options.threads = std::max(1U, std::thread::hardware_concurrency());
    return tune(snapshot->graph, built_in_passes(), options, [&](const TuneProgress& progress) {
      const std::scoped_lock lock(shared->mutex);
      shared->so_far = progress.so_far;
    });
  };
  QtConcurrent::run(search).then(this, [this, shared = shared_](const Result<TuneResult>& result) {
    if (shared != shared_) return;
    running_.reset();
    timer_.stop();
    if (result)
      result_ = *result;
    else if (result.error().kind != Error::Kind::cancelled)
      emit told(QString::fromStdString(result.error().message));
    emit changed();
  });
}

void TuneSession::stop() {
  if (!running_) return;
  take_news();
  running_->cancel = true;
  running_.reset();
  timer_.stop();
  emit changed();
}

void TuneSession::take_news() {
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

void TuneSession::take(const Pipeline& pipeline) {
  if (!can_take()) {
    emit told(is_taking_ ? tr("What was chosen is being made.")
                         : tr("The graph is not the one that was searched: search again."));
    return;
  }
  is_taking_ = true;
  emit told(tr("Running the passes that were chosen..."));
  emit changed();
  QtConcurrent::run([snapshot = searched_, pipeline, budget = *result_->budget,
                     title = document_.title()] {
    return run(*snapshot, pipeline, budget, title);
  }).then(this, [this, searched = searched_](const Result<Taken>& taken) {
    is_taking_ = false;
    if (!taken)
      emit told(QString::fromStdString(taken.error().message));
    else if (!taken->pair.isEmpty())
      emit pair_made(taken->pair);
    else if (searched == searched_)
      apply(taken->edits, taken->figures);
    emit changed();
  });
}

// The history goes back to what was searched, and on from there.
void TuneSession::apply(const std::vector<Edit>& edits, const StepFigures& figures) {
  const auto place = searched_place();
  if (!place) {
    emit told(tr("The graph is not the one that was searched: search again."));
    return;
  }
  Editing& editing = document_.editing();
  if (editing.line() != line_) editing.go_to(*place);
  if (edits.empty()) return;
  editing.apply_all(edits);
  emit told(tr("%1 steps: step %2, peak %3.")
                .arg(count_text(edits.size()), time_text(figures.figures.step_ns),
                     bytes_text(figures.figures.peak_bytes)));
}

}  // namespace jointer::views
