#include "views/session/pipeline/pipeline_work.h"

#include <QDir>

#include "core/graph/inherited_assumptions.h"
#include "views/session/pipeline/pass_service.h"

namespace jointer::views {
namespace {

// The settings of a step's run other than its parameters: the peak limit and the pass's source.
RunSettings settings_of(const PipelineWork& work, const PipelineStep& step) {
  RunSettings settings;
  settings.peak_limit = work.options.peak_limit;
  const Pass* pass = work.registry->find(step.pass);
  const QString source = pass == nullptr ? QString() : QString::fromStdString(pass->info.source);
  if (source.startsWith(kPluginSource))
    settings.plugins.push_back(source.mid(kPluginSource.size()).toStdString());
  if (source.startsWith(kPythonSource))
    settings.python_passes.push_back(source.mid(kPythonSource.size()).toStdString());
  return settings;
}

// If the error is an Error (run), writes a reproducer.
void add_reproducer(StepFailure& failure, const Graph& graph, const PipelineStep& step,
                    const PipelineWork& work) {
  const QString& folder = work.reproducer_folder;
  if (failure.error.kind != Error::Kind::run) return;
  if (folder.isEmpty() || !QDir().mkpath(folder)) {
    failure.no_reproducer = folder.isEmpty()
                                ? QObject::tr("there is no folder for application data")
                                : QObject::tr("the folder %1 cannot be created").arg(folder);
    return;
  }
  const std::string path = unused_reproducer_path(folder.toStdString(), step.pass);
  if (const auto written =
          write_reproducer(path, graph, step, failure.error, settings_of(work, step));
      !written) {
    failure.no_reproducer = QString::fromStdString(written.error().message);
    return;
  }
  failure.reproducer = QString::fromStdString(path);
  failure.assumptions = inherited_assumptions(graph.assumptions(), graph);
}

// Drops an edit that the document would refuse; the result then becomes a separate graph.
void check_edit(const Graph& before, StepResult& result) {
  if (result.edit.changes.empty()) return;
  Graph copy = before;
  const auto done = jointer::apply(copy, result.edit);
  if (done) return;
  result.edit.changes.clear();
  result.edit_refusal = done.error().message;
}

}  // namespace

void work_pipeline(const PipelineWork& work, const Reporter<StepDone>& job) {
  PassContext::Options options = work.options;
  const std::shared_ptr<RunShare> share = work.share;
  options.report = [share](double done) { share->done = done; };
  options.is_cancelled = [&job] { return job.is_cancelled(); };
  std::shared_ptr<const Graph> graph = work.graph;
  for (const DraftStep& each : work.steps) {
    share->done = 0;
    const auto run = [&]() -> Result<StepResult> {
      if (job.is_cancelled()) return fail(Error::Kind::cancelled, "cancelled");
      return run_step(*graph, each.step, *work.registry, options);
    };
    Result<StepResult> result = run();
    if (job.is_cancelled()) return;  // the result is no longer needed
    if (!result) {
      auto failure = std::make_shared<StepFailure>(
          StepFailure{.step = each.id, .text = to_text(each.step), .error = result.error()});
      add_reproducer(*failure, *graph, each.step, work);
      job.report(StepDone{.failure = std::move(failure)});
      return;
    }
    check_edit(*graph, *result);
    const auto after = result->graph;
    job.report(StepDone{.outcome = std::make_shared<StepOutcome>(StepOutcome{
                            .step = each.id, .result = *std::move(result), .before = graph})});
    graph = after;
  }
}

}  // namespace jointer::views
