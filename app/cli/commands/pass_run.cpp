#include "app/cli/commands/pass_run.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "app/cli/commands/interruption.h"
#include "app/cli/commands/progress_line.h"
#include "app/cli/commands/unchanged.h"
#include "core/base/bytes.h"
#include "core/base/units.h"
#include "plugins/python/python_passes.h"

namespace jointer::cli {
namespace {

namespace fs = std::filesystem;

// Quotes a word for the shell.
std::string shell_word(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// A text value that ends in one of these is treated as a file name.
constexpr std::array<std::string_view, 6> kFileEndings{".json", ".zst", ".gz",
                                                       ".txt",  ".py",  ".jointer"};

// Makes paths absolute, so that the value names the same files in any working directory.
PassValue with_whole_paths(const PassValue& value) {
  if (const auto* list = value.as<PassValue::List>()) {
    PassValue::List whole;
    for (const PassValue& each : *list) whole.push_back(with_whole_paths(each));
    return whole;
  }
  const auto* text = value.as<std::string>();
  const bool is_file =
      text != nullptr && std::ranges::any_of(kFileEndings, [&](std::string_view ending) {
        return text->ends_with(ending);
      });
  return is_file ? PassValue(absolute_path(*text)) : value;
}

PipelineStep with_whole_paths(PipelineStep step) {
  for (auto& [name, value] : step.given) value = with_whole_paths(value);
  return step;
}

// An estimator has the syntax of a pipeline step: profile{trace="trace.json"}.
std::string with_whole_paths(const std::string& estimator) {
  const auto parsed = parse_pipeline(estimator);
  return parsed && parsed->size() == 1 ? to_text(with_whole_paths(parsed->front())) : estimator;
}

// The analysis options that differ from the defaults, and the graph's assumptions, as words of a
// command line.
std::vector<std::string> analysis_words(const AnalysisOptions& analysis, const Graph& graph) {
  std::vector<std::string> words;
  const auto add = [&](const char* name, std::string value) {
    words.insert(words.end(), {name, std::move(value)});
  };
  const EstimatorRequest& estimator = analysis.estimator;
  std::error_code none;
  if (!estimator.device.empty())
    add("--device", fs::is_regular_file(estimator.device, none) ? absolute_path(estimator.device)
                                                                : estimator.device);
  if (estimator.name != EstimatorRequest().name)
    add("--estimator", with_whole_paths(estimator.name));
  if (estimator.gpus_per_node != EstimatorRequest().gpus_per_node)
    add("--gpus-per-node", fmt::format("{}", estimator.gpus_per_node));
  if (analysis.memory.optimizer == OptimizerState::adamw) add("--optimizer", "adamw");
  if (!graph.assumptions().empty()) add("--assume", graph.assumptions().text());
  return words;
}

RunSettings settings_of(const PassRunOptions& options, const Graph& graph) {
  PluginOptions plugins = options.plugins.absolute();
  RunSettings settings{.peak_limit = options.peak_limit,
                       .plugins = std::move(plugins.plugins),
                       .python_passes = std::move(plugins.python_passes),
                       .options = plugins.other_arguments()};
  const std::vector<std::string> words = analysis_words(options.analysis, graph);
  settings.options.insert(settings.options.end(), words.begin(), words.end());
  return settings;
}

// Writes a reproducer, and returns the run's error, followed by the command that reproduces it.
// Usage and input errors get a reproducer only on request, and interruptions get none.
Error with_reproducer(const Graph& graph, const Pipeline& pipeline, const PipelineRun& run,
                      const PassRunOptions& options) {
  Error error = *run.error;
  // The pipeline is invalid, or a file that it names cannot be read.
  const bool is_own_mistake = error.kind == Error::Kind::usage || error.kind == Error::Kind::input;
  if (error.kind == Error::Kind::cancelled) return {Error::Kind::cancelled, "interrupted"};
  if (is_own_mistake && options.reproducer.empty()) return error;
  const PipelineStep* failed = nullptr;
  for (const PipelineStep& step : pipeline)
    if (to_text(step) == run.failed_step) failed = &step;
  if (failed == nullptr) return error;
  const Graph& last = end_of(run, graph);
  const PipelineStep step = with_whole_paths(*failed);
  std::string path =
      options.reproducer.empty() ? unused_reproducer_path({}, step.pass) : options.reproducer;
  const Reproduced again{
      .pipeline = to_text(step), .error = error.message, .settings = settings_of(options, graph)};
  auto written = write_reproducer(path, last, step, error, again.settings);
  if (!written && options.reproducer.empty()) {
    std::error_code no_folder;
    path = unused_reproducer_path(fs::temp_directory_path(no_folder).string(), step.pass);
    written = write_reproducer(path, last, step, error, again.settings);
  }
  if (written)
    error.message += "; to reproduce it: " + again_command(absolute_path(path), again);
  else
    error.message += fmt::format("; no reproducer could be written: {}", written.error().message);
  return error;
}

// True if the pipeline step had an effect. Passes that choose how a graph runs decide about nodes
// without changing them.
bool has_effect(const StepResult& step, const PassInfo& pass) {
  if (!is_unchanged(step)) return true;
  return pass.stage == PassStage::compile &&
         std::ranges::any_of(step.decisions,
                             [](const Decision& each) { return each.action != "kept"; });
}

}  // namespace

std::string again_command(const std::string& path, const Reproduced& reproduced) {
  const RunSettings& settings = reproduced.settings;
  std::string text = fmt::format("jointer apply {} --passes {}", shell_word(path),
                                 shell_word(reproduced.pipeline));
  for (const std::string& each : settings.plugins) text += " --plugin " + shell_word(each);
  for (const std::string& each : settings.python_passes)
    text += " --python-pass " + shell_word(each);
  if (settings.peak_limit) text += fmt::format(" --budget {}B", *settings.peak_limit);
  for (const std::string& each : settings.options)
    text += ' ' + (each.starts_with("--") ? each : shell_word(each));
  return text;
}

std::vector<std::string> numerics_notes(const PipelineRun& run, const PassRegistry& registry) {
  std::vector<std::string> notes;
  for (const StepResult& step : run.steps) {
    const Pass* pass = registry.find(pass_of(step));
    if (pass == nullptr || pass->info.keeps_numerics || !has_effect(step, pass->info)) continue;
    notes.push_back(
        fmt::format("{} may change numerics: outputs need not be bitwise equal", pass->info.name));
  }
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
  // If a pass runs in another process, an interruption must end that process and delete its files.
  const Interruption interruption;
  context.is_cancelled = &Interruption::has_happened;
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
