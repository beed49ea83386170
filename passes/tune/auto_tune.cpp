// auto_tune: searches for the passes that give the shortest step time within a memory budget, and
// runs the best ones found.
//
// Steps
//   1. Search (passes/tune/tuner.h) orders, buckets and, if the graph is not partitioned yet,
//      policies and partitioners, all together. Each candidate is simulated, and its peak is
//      computed.
//   2. Run the winner's pipeline steps on the graph, because the search keeps estimates but not
//      decisions. This run is not included in `seconds`. The result has the decisions of these
//      pipeline steps and one edit per pipeline step, or one per move if a pipeline step moves
//      collectives individually.
// If no candidate is within the budget, the graph stays unchanged, and a decision reports the
// lowest peak found. The pass also reports a decision for each pipeline step of the winner, with
// the loss without that pipeline step; a decision for each preset, with its estimates; the reasons
// why candidates failed; and tables of the winner's pipeline steps and of the frontier of step time
// against peak.
//
// The result is deterministic for a given number of evaluations and seed. `seconds` can only end
// the search earlier. If every rank tunes separately, set it so high that it is not reached, or
// tune once and distribute the recipe to all ranks.
//
// Source: Jointer's own. Cost: `evaluations` candidates; see tuner.cpp.

#include "passes/tune/auto_tune.h"

#include <algorithm>
#include <array>

#include "core/base/checked.h"
#include "core/base/counted.h"
#include "core/base/distinct_bytes.h"
#include "core/base/environment.h"
#include "core/base/units.h"
#include "core/edit/difference.h"
#include "passes/support/parameters.h"

namespace jointer {
namespace {

using Unit = PassTable::Unit;

std::string text_of(const Pipeline& pipeline) {
  return pipeline.empty() ? "the graph as it is" : to_text(pipeline);
}

std::string figures_text(const Figures& f, const std::string& peak) {
  return fmt::format("step {}, {} exposed, peak {}", format_ns(f.step_ns), format_ns(f.exposed_ns),
                     peak);
}

std::string figures_text(const Figures& f) {
  return figures_text(f, format_bytes(f.peak_bytes));
}

TuneOptions read_options(const Arguments& arguments, const PassContext& context,
                         std::int64_t unedited_peak) {
  constexpr std::int64_t kMaxThreads = 16;
  TuneOptions options;
  options.context.analysis = context.analysis();
  options.evaluations = static_cast<std::size_t>(arguments.integer("evaluations"));
  if (arguments.has_value("seconds")) options.seconds = arguments.number("seconds");
  options.seed = static_cast<std::uint64_t>(arguments.integer("seed"));
  options.twin_groups = arguments.boolean("twin_groups");
  const std::int64_t threads = arguments.integer("threads");
  options.threads =
      static_cast<std::size_t>(std::min(threads == 0 ? usable_cores() : threads, kMaxThreads));
  if (arguments.has_value("memory_budget"))
    options.budget = arguments.integer("memory_budget");
  else if (arguments.has_value("memory_share"))
    options.budget =
        saturating_whole(static_cast<double>(unedited_peak) * arguments.number("memory_share"));
  if (const auto limit = context.peak_limit())
    options.budget = std::min(options.budget.value_or(*limit), *limit);
  return options;
}

PassTable frontier_table(const TuneResult& result) {
  PassTable table{.title = "step time against peak memory",
                  .columns = {{"passes", Unit::text},
                              {"candidate", Unit::count},
                              {"peak", Unit::bytes},
                              {"step", Unit::nanoseconds},
                              {"exposed", Unit::nanoseconds},
                              {"is", Unit::text}}};
  const auto add = [&](const TunePoint& point, std::string what) {
    const Figures& f = point.figures.figures;
    table.rows.push_back({"",
                          {text_of(point.pipeline), static_cast<std::int64_t>(point.evaluation),
                           f.peak_bytes, f.step_ns, f.exposed_ns, std::move(what)}});
  };
  add(result.unedited, "unedited");
  for (const TunePoint& preset : result.presets) add(preset, "preset " + preset.name);
  for (const TunePoint& point : result.frontier)
    add(point, result.winner && point.pipeline == result.winner->pipeline ? "winner" : "frontier");
  return table;
}

PassTable steps_table(const TuneResult& result) {
  PassTable table{.title = "gain of each pipeline step",
                  .columns = {{"step", Unit::text},
                              {"step longer without it", Unit::nanoseconds},
                              {"peak higher without it", Unit::bytes}}};
  const auto cell = [](const std::optional<std::int64_t>& more) {
    return more ? PassTable::Cell(*more) : PassTable::Cell();
  };
  for (const TuneStep& step : result.steps)
    table.rows.push_back({"", {to_text(step.step), cell(step.ns_more), cell(step.bytes_more)}});
  return table;
}

// Reports how each pipeline step changes the estimates of the previous graph, and what the winner
// would lose without that pipeline step.
void decide_steps(const TuneResult& result, const PipelineRun& run, PassContext& context) {
  for (std::size_t i = 0; i < run.steps.size(); ++i) {
    const StepResult& step = run.steps[i];
    context.decide("step", fmt::format("{}: {} {}", step.step,
                                       change_text(step.before.figures, step.after.figures),
                                       gain_text(result.steps[i])));
  }
}

void decide_presets(const TuneResult& result, PassContext& context) {
  for (const TunePoint& preset : result.presets) {
    const Figures& f = preset.figures.figures;
    const bool is_over = result.budget && f.peak_bytes > *result.budget;
    context.decide("tried", fmt::format("The preset {}: {}{}.", preset.name, figures_text(f),
                                        is_over ? ", which is over the budget" : ""));
  }
}

// The reason why the graph stays unchanged.
std::string kept_text(const TuneResult& result, const std::string& budget) {
  if (result.lowest) {
    const Figures& lowest = result.lowest->figures.figures;
    const auto peaks = distinct_bytes(std::array{*result.budget, lowest.peak_bytes});
    return fmt::format("No candidate is within {}. The candidate with the lowest peak is {}: {}.",
                       peaks[0], text_of(result.lowest->pipeline), figures_text(lowest, peaks[1]));
  }
  const Figures& f = result.unedited.figures.figures;
  const bool fits = f.peak_bytes <= *result.budget;
  return fmt::format("No candidate {}. The unchanged graph is {} {}.",
                     result.evaluated == 0 ? "was tried in the available time" : "produced a graph",
                     fits ? "within" : "over", budget);
}

void decide_result(const TuneResult& result, const PipelineRun& run, PassContext& context) {
  const std::string budget = format_bytes(*result.budget);
  if (result.winner)
    context.decide("chosen", fmt::format("{}: {}; unedited: {}.", text_of(result.winner->pipeline),
                                         figures_text(result.winner->figures.figures),
                                         figures_text(result.unedited.figures.figures)));
  else
    context.decide("kept", kept_text(result, budget));
  decide_steps(result, run, context);
  if (result.winner && !result.winner->pipeline.empty())
    context.decide("note", fmt::format("These pipeline steps keep the peak within {} bytes. To "
                                       "run them without auto_tune, set this limit (--budget {}B "
                                       "on the command line).",
                                       format_count(*result.budget), *result.budget));
  context.decide("searched",
                 fmt::format("{} {} over {}.", end_text(result),
                             counted(result.over_budget, "of them was", "of them were"), budget));
  decide_presets(result, context);
  for (const auto& [reason, failures] : result.failures)
    context.decide("failed", fmt::format("Number of candidates that failed for the same reason: "
                                         "{}. Reason: {}. The first was {}.",
                                         failures.count, reason, to_text(failures.first)));
  if (!result.out_of_reach.empty()) context.decide("note", result.out_of_reach);
}

// Runs the winner as a pipeline. Error: one of its passes failed.
Result<PipelineRun> run_winner(const Graph& graph, const TuneResult& result,
                               const PassRegistry& registry, PassContext& context) {
  if (!result.winner) return PipelineRun{};
  PassContext::Options options;
  options.analysis = context.analysis();
  options.peak_limit = result.budget;
  options.is_cancelled = [&] { return !context.report(1); };
  return run_whole_pipeline(graph, result.winner->pipeline, registry, options);
}

void add_run(const PipelineRun& run, PassContext& context) {
  for (const StepResult& step : run.steps) {
    for (const Decision& each : step.decisions) context.add_decision(each);
    for (const PassTable& table : step.tables) context.add_table(table);
    for (const Edit& edit : step.edits) context.add_edit(edit);
  }
}

Result<void> run_auto_tune(const PassRegistry& registry, Graph& graph, const Arguments& arguments,
                           PassContext& context) {
  JOINTER_CHECK(context.report(0));
  JOINTER_TRY(const StepFigures before, step_figures(graph, context.analysis()));
  TuneOptions options = read_options(arguments, context, before.figures.peak_bytes);
  double searched = 0;
  options.context.report = [&](double part) { searched = part; };
  options.context.is_cancelled = [&] { return !context.report(searched); };
  JOINTER_TRY(const TuneResult result, tune(graph, registry, options));
  if (result.end == TuneResult::End::cancelled) return fail(Error::Kind::cancelled, "cancelled");
  JOINTER_TRY(const PipelineRun done, run_winner(graph, result, registry, context));
  decide_result(result, done, context);
  context.add_table(steps_table(result));
  context.add_table(frontier_table(result));
  add_run(done, context);
  context.set_ran(
      {.steps = result.winner ? result.winner->pipeline : Pipeline{}, .peak_limit = result.budget});
  if (!done.steps.empty()) graph = *done.steps.back().graph;
  return context.report(1);
}

std::vector<Parameter> tune_parameters() {
  return {
      count("evaluations", 200, 1, "Number of candidates to evaluate."),
      optional_number("seconds",
                      "Time limit of the search in seconds, after which the winner runs once "
                      "more; none: no limit."),
      bytes("memory_budget", {}, "Maximum peak in bytes; none: determined by memory_share."),
      optional_number("memory_share",
                      "Maximum peak as a fraction of the graph's own peak; none: the run's limit, "
                      "or the graph's own peak if there is no limit."),
      count("seed", 0, 0, "Random seed for choosing candidates."),
      count(
          "threads", 0, 0,
          "Number of candidates to evaluate at once, 16 at most; 0: the number of cores. Does not "
          "affect the result."),
      flag("twin_groups", true,
           "Allow reassign_to_pg, which needs an additional process group when the graph "
           "runs."),
  };
}

}  // namespace

Pass auto_tune_pass(RegistryMaker make_registry) {
  return {.info = {.name = "auto_tune",
                   .summary = "Searches for the orders, buckets and policies with the shortest "
                              "step time within a memory budget, and applies the best ones found.",
                   .source = "Jointer",
                   .stage = PassStage::search,
                   .parameters = tune_parameters()},
          .run = [make_registry](Graph& graph, const Arguments& arguments, PassContext& context) {
            return run_auto_tune(make_registry(), graph, arguments, context);
          }};
}

std::string change_text(const Figures& before, const Figures& after) {
  std::string was = format_ns(before.step_ns), is = format_ns(after.step_ns);
  if (was == is && before.step_ns != after.step_ns) {
    was = format_count(before.step_ns) + " ns";
    is = format_count(after.step_ns) + " ns";
  }
  const std::string step = before.step_ns == after.step_ns
                               ? fmt::format("the step still takes {}", is)
                               : fmt::format("the step takes {} (was {})", is, was);
  const auto peaks = distinct_bytes(std::array{before.peak_bytes, after.peak_bytes});
  const std::string peak = before.peak_bytes == after.peak_bytes
                               ? fmt::format("the peak is still {}", peaks[1])
                               : fmt::format("the peak is {} (was {})", peaks[1], peaks[0]);
  return fmt::format("{}, and {}.", step, peak);
}

std::string gain_text(const TuneStep& step) {
  if (!step.ns_more) return "Its gain was not evaluated.";
  const std::int64_t ns = *step.ns_more, bytes = *step.bytes_more;
  const std::string time =
      ns == 0 ? "the step would take the same time"
              : fmt::format("the step would take {} {}", format_ns(ns < 0 ? -ns : ns),
                            ns > 0 ? "longer" : "less");
  if (bytes == 0) return fmt::format("Without it, {}.", time);
  return fmt::format("Without it, {}, and the peak would be {} {}.", time,
                     format_bytes(bytes < 0 ? -bytes : bytes), bytes > 0 ? "higher" : "lower");
}

std::string end_text(const TuneResult& result) {
  const std::string_view why = result.end == TuneResult::End::time ? "; the time limit was reached"
                               : result.end == TuneResult::End::cancelled
                                   ? "; the search was cancelled"
                                   : "";
  return fmt::format("Evaluated {}, and {} more for the gain of each pipeline step{}.",
                     counted(result.evaluated, "candidate"), result.taken_apart, why);
}

}  // namespace jointer
