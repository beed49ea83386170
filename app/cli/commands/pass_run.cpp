#include "app/cli/commands/pass_run.h"

#include <filesystem>

#include "app/cli/commands/progress_line.h"
#include "core/base/units.h"
#include "plugins/python/python_passes.h"

namespace jointer::cli {
namespace {

namespace fs = std::filesystem;

// In quotes that a shell takes as they are.
std::string shell_word(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// The failure, with the place of what is needed to see it again.
Error with_reproducer(const Graph& graph, const Pipeline& pipeline, const PipelineRun& run,
                      const PassRunOptions& options) {
  Error error = *run.error;
  const bool is_own_mistake = error.kind == Error::Kind::usage;
  if (error.kind == Error::Kind::cancelled || (is_own_mistake && options.reproducer.empty()))
    return error;
  const PipelineStep* failed = nullptr;
  for (const PipelineStep& step : pipeline)
    if (to_text(step) == run.failed_step) failed = &step;
  if (failed == nullptr) return error;
  const Graph& last = end_of(run, graph);
  std::string path =
      options.reproducer.empty() ? unused_reproducer_path({}, failed->pass) : options.reproducer;
  auto written = write_reproducer(path, last, *failed, error);
  if (!written && options.reproducer.empty()) {
    std::error_code no_folder;
    path = unused_reproducer_path(fs::temp_directory_path(no_folder).string(), failed->pass);
    written = write_reproducer(path, last, *failed, error);
  }
  if (written)
    error.message +=
        fmt::format("; to see it again: jointer apply {} --passes {}{}", shell_word(path),
                    shell_word(run.failed_step), options.plugins.text());
  else
    error.message += fmt::format("; no reproducer: {}", written.error().message);
  return error;
}

}  // namespace

std::vector<std::string> numerics_notes(const Pipeline& pipeline, const PassRegistry& registry) {
  std::vector<std::string> notes;
  for (const PipelineStep& step : pipeline)
    if (const Pass* pass = registry.find(step.pass);
        step.is_enabled && pass != nullptr && !pass->info.keeps_numerics)
      notes.push_back(
          fmt::format("{} may change numerics: outputs need not be equal bit by bit", step.pass));
  return notes;
}

const Graph& end_of(const PipelineRun& run, const Graph& graph) {
  return run.steps.empty() ? graph : *run.steps.back().graph;
}

Result<PipelineRun> run_passes(const Graph& graph, const Pipeline& pipeline,
                               const PassRegistry& registry, const PassRunOptions& options) {
  ProgressLine line;
  std::vector<std::string> names;
  for (const PipelineStep& step : pipeline)
    if (step.is_enabled) names.push_back(step.pass);
  std::size_t done = 0;
  const auto show = [&](double part) {
    if (line.is_seen() && done < names.size())
      line.show(fmt::format("{} of {}  {}  {}", done + 1, names.size(), names[done],
                            format_percent(part)));
  };
  show(0);
  PassContext::Options context;
  context.analysis = options.analysis;
  context.peak_limit = options.peak_limit;
  context.report = show;
  JOINTER_TRY(const PassSources sources, options.plugins.sources());
  context.python = python_runner(sources.host);
  JOINTER_TRY(PipelineRun run,
              run_pipeline(graph, pipeline, registry, context, [&](const StepResult&) {
                ++done;
                show(0);
              }));
  line.clear();
  if (run.error) return tl::unexpected(with_reproducer(graph, pipeline, run, options));
  return run;
}

}  // namespace jointer::cli
