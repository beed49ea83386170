#include "core/pass/pipeline_run.h"

#include <chrono>
#include <exception>
#include <filesystem>

#include "core/base/bytes.h"
#include "core/base/json_fields.h"
#include "core/base/units.h"
#include "core/capture/native_writer.h"
#include "core/graph/validate.h"
#include "core/pass/effects.h"
#include "core/pass/graph_rules.h"
#include "core/pass/pipeline_rules.h"

namespace jointer {
namespace {

constexpr const char* kReproducer = "reproducer";
constexpr auto kReproduced = std::tuple(json_field("pipeline", &Reproduced::pipeline).lenient(),
                                        json_field("error", &Reproduced::error).lenient());
constexpr auto kSettings =
    std::tuple(json_field("peak_limit", &RunSettings::peak_limit).if_set().lenient(),
               json_field("plugins", &RunSettings::plugins).if_set().lenient(),
               json_field("python_passes", &RunSettings::python_passes).if_set().lenient(),
               json_field("options", &RunSettings::options).if_set().lenient());

// The number of collectives that a pass removed; 0 if it added no collectives.
std::size_t merged_collectives(const Graph& before, const Graph& after,
                               const GraphDifference& difference) {
  const auto starts = [](const Graph& graph, std::span<const NodeId> nodes) {
    std::size_t count = 0;
    for (const NodeId id : nodes) count += graph.is_collective_start(graph.node(id)) ? 1 : 0;
    return count;
  };
  return starts(after, difference.added) > 0 ? starts(before, difference.removed) : 0;
}

// A graph's estimates, and its simulation.
struct Judgment {
  StepFigures figures;
  Simulation simulation;
};

Judgment judge(const Graph& graph, const Estimator& estimator, const AnalysisOptions& options) {
  const std::vector<NodeCost> costs = estimate_all(graph, estimator);
  Simulation simulation(graph, costs, options.simulation);
  const MemoryTimeline memory(graph, options.memory);
  const StepFigures figures{.figures = {.peak_bytes = memory.peak_bytes(),
                                        .step_ns = simulation.step_ns(),
                                        .exposed_ns = simulation.exposed_ns()},
                            .compute_ns = simulation.compute_ns(),
                            .communication_ns = simulation.communication_ns(),
                            .hidden = simulation.hidden_count(),
                            .collectives = simulation.collective_count()};
  return Judgment{figures, std::move(simulation)};
}

Result<Judgment> judge(const Graph& graph, const AnalysisOptions& options) {
  JOINTER_TRY(const auto estimator, estimator_for(graph, options));
  return judge(graph, *estimator, options);
}

void note_difference(const JudgedGraph& judged_before, const JudgedGraph& judged_after,
                     const PassContext& context, StepResult& result) {
  const Graph &before = judged_before.graph, &after = judged_after.graph;
  if (const auto difference = compare_graphs(before, after)) {
    result.moved = difference->moved.size();
    result.added = difference->added.size();
    result.removed = difference->removed.size();
    result.changed = difference->changed.size();
    result.retagged = difference->retagged.size();
    result.merged = merged_collectives(before, after, *difference);
    note_effects(judged_before, judged_after, *difference, result.decisions);
  }
  auto edit = difference(before, after);
  if (edit) {
    result.edit = *std::move(edit);
    result.edit.title = result.step;
    result.edit.by = result.step;
    result.edit.decisions = kept_decisions(result.decisions);
    if (!context.edits().empty())
      result.edits = context.edits();
    else if (!result.edit.changes.empty())
      result.edits.push_back(result.edit);
  } else {
    result.edit_refusal = edit.error().message;
  }
}

// Warns if a pass that is meant to lower the peak raised it.
void warn_of_peak(const StepFigures& before, const StepFigures& after,
                  std::vector<Decision>& decisions) {
  const std::int64_t was = before.figures.peak_bytes, is = after.figures.peak_bytes;
  if (is <= was) return;
  decisions.push_back({.action = "warning",
                       .reason = fmt::format("The peak rises from {} to {}, though this pass is "
                                             "meant to lower it.",
                                             format_bytes(was), format_bytes(is))});
}

// `now`: on entry, the judgment of `before`; after success, that of the resulting graph.
Result<StepResult> run_pass(const Graph& before, Judgment& now, const PipelineStep& step,
                            const Pass& pass, const PassContext::Options& options) {
  StepResult result;
  result.step = to_text(step);
  result.before = now.figures;
  JOINTER_TRY(const Arguments arguments, Arguments::check(pass.info.parameters, step.given));
  auto graph = std::make_shared<Graph>(before);
  PassContext context(options);
  const auto start = std::chrono::steady_clock::now();
  JOINTER_CHECK(run_guarded(pass, *graph, arguments, context));
  result.ns =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - start)
          .count();
  if (const auto sound = validate(*graph); !sound)
    return fail(Error::Kind::run, "produced an invalid graph: {}", sound.error().message);
  result.tables = context.tables();
  result.ran = context.ran();
  JOINTER_TRY(Judgment after, judge(*graph, options.analysis));
  result.decisions = context.decisions();
  if (pass.info.saves_memory) warn_of_peak(now.figures, after.figures, result.decisions);
  for (Decision& decision : result.decisions)
    if (decision.pass.empty()) decision.pass = step.pass;
  note_difference({before, now.simulation}, {*graph, after.simulation}, context, result);
  now = std::move(after);
  result.after = now.figures;
  result.graph = std::move(graph);
  return result;
}

// Calls run_pass() for a registered pass; error messages begin with its name.
Result<StepResult> run_named(const Graph& before, Judgment& now, const PipelineStep& step,
                             const PassRegistry& registry, const PassContext::Options& options) {
  auto result = run_pass(before, now, step, *registry.find(step.pass), options);
  if (!result) return fail(result.error().kind, "{}: {}", step.pass, result.error().message);
  return result;
}

}  // namespace

Result<void> run_guarded(const Pass& pass, Graph& graph, const Arguments& arguments,
                         PassContext& context) {
  try {
    return pass.run(graph, arguments, context);
  } catch (const std::exception& thrown) {
    return fail(Error::Kind::run, "threw an exception: {}", thrown.what());
  } catch (...) {
    return fail(Error::Kind::run, "threw an object that is not a std::exception");
  }
}

Result<StepFigures> step_figures(const Graph& graph, const AnalysisOptions& options) {
  JOINTER_TRY(const Judgment judgment, judge(graph, options));
  return judgment.figures;
}

StepFigures step_figures(const Graph& graph, const Estimator& estimator,
                         const AnalysisOptions& options) {
  return judge(graph, estimator, options).figures;
}

Result<StepResult> run_step(const Graph& before, const PipelineStep& step,
                            const PassRegistry& registry, const PassContext::Options& options) {
  JOINTER_CHECK(registry.check({step}));
  JOINTER_TRY(Judgment now, judge(before, options.analysis));
  return run_named(before, now, step, registry, options);
}

Result<PipelineRun> run_pipeline(const Graph& graph, const Pipeline& pipeline,
                                 const PassRegistry& registry, const PassContext::Options& options,
                                 const std::function<void(const StepResult&)>& done) {
  JOINTER_CHECK(registry.check(pipeline));
  JOINTER_CHECK(check_order(pipeline));
  JOINTER_CHECK(check_graph(graph, pipeline, registry));
  PipelineRun run;
  JOINTER_TRY(Judgment judgment, judge(graph, options.analysis));
  const Graph* now = &graph;
  for (const PipelineStep& step : pipeline) {
    if (!step.is_enabled) continue;
    if (options.is_cancelled && options.is_cancelled()) {
      run.failed_step = to_text(step);
      run.error = Error{Error::Kind::cancelled, "cancelled before " + step.pass};
      return run;
    }
    auto result = run_named(*now, judgment, step, registry, options);
    if (!result) {
      run.failed_step = to_text(step);
      run.error = result.error();
      return run;
    }
    run.steps.push_back(*std::move(result));
    now = run.steps.back().graph.get();
    if (done) done(run.steps.back());
  }
  return run;
}

Result<PipelineRun> run_whole_pipeline(const Graph& graph, const Pipeline& pipeline,
                                       const PassRegistry& registry,
                                       const PassContext::Options& options) {
  JOINTER_TRY(PipelineRun run, run_pipeline(graph, pipeline, registry, options));
  if (run.error) return tl::unexpected(*run.error);
  return run;
}

std::string unused_reproducer_path(const std::string& folder, const std::string& pass) {
  namespace fs = std::filesystem;
  std::error_code error;
  for (int i = 1;; ++i) {
    const std::string number = i == 1 ? std::string() : fmt::format(".{}", i);
    const fs::path path =
        fs::path(folder) / fmt::format("jointer-reproducer.{}{}.json.zst", pass, number);
    if (!fs::exists(path, error)) return path.string();
  }
}

Result<void> write_reproducer(const std::string& path, const Graph& graph,
                              const PipelineStep& failed, const Error& error,
                              const RunSettings& settings) {
  Graph copy = graph;
  const Reproduced all{.pipeline = to_text(failed), .error = error.message, .settings = settings};
  OrderedJson reproducer;
  write_fields(reproducer, all, kReproduced);
  write_fields(reproducer, all.settings, kSettings);
  if (copy.is_pair()) {
    std::string members(copy.pair_extra());
    keep_member(members, kReproducer, reproducer);
    copy.set_pair_extra(std::move(members));
  } else {
    keep_member(copy.part(PartId(std::size_t{0})).extra, kReproducer, reproducer);
  }
  return write_bytes(path, write_native(copy));
}

std::optional<Reproduced> reproduced(const Graph& graph) {
  const std::string_view members = graph.is_pair() ? std::string_view(graph.pair_extra())
                                                   : graph.part(PartId(std::size_t{0})).extra;
  if (members.find(kReproducer) == std::string_view::npos) return std::nullopt;
  const auto json = parse_json(fmt::format("{{{}}}", members), kReproducer);
  if (!json || !json->contains(kReproducer)) return std::nullopt;
  JsonMembers said((*json)[kReproducer]);
  Reproduced all;
  read_fields(said, all, kReproduced);
  read_fields(said, all.settings, kSettings);
  return all;
}

}  // namespace jointer
