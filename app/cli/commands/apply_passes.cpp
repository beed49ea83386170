#include "app/cli/commands/apply_passes.h"

#include <fmt/core.h>

#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>

#include "app/cli/commands/checks.h"
#include "app/cli/commands/figures.h"
#include "app/cli/commands/outputs.h"
#include "app/cli/commands/pass_run.h"
#include "app/cli/commands/table.h"
#include "app/cli/commands/unchanged.h"
#include "app/cli/commands/unused_options.h"
#include "core/base/byte_units.h"
#include "core/base/bytes.h"
#include "core/base/distinct_bytes.h"
#include "core/base/units.h"
#include "core/capture/native_writer.h"
#include "core/edit/replay.h"
#include "core/pass/pipeline_file.h"
#include "passes/presets/graph_trainer.h"

namespace jointer::cli {
namespace {

using enum Table::Align;

struct PassesAnswer {
  std::string name, pipeline;
  PipelineRun run;
  GraphFigures before, after;
  std::optional<std::int64_t> limit;  // bytes
  std::vector<std::string> notes;

  [[nodiscard]] bool is_met() const { return !limit || after.peak_bytes <= *limit; }
};

// True if the pipeline step has its own budget, as a search does, and exceeds it.
bool is_over_its_budget(const StepResult& step) {
  return step.ran.peak_limit && step.after.figures.peak_bytes > *step.ran.peak_limit;
}

Json to_json(const StepFigures& f) {
  return {{"peak_bytes", f.figures.peak_bytes},
          {"step_ms", to_ms(f.figures.step_ns)},
          {"exposed_ms", to_ms(f.figures.exposed_ns)},
          {"hidden_count", f.hidden},
          {"collective_count", f.collectives}};
}

Json to_json(const StepResult& step, const PassTable& table) {
  struct Writer {
    Json operator()(std::monostate) const { return {}; }
    Json operator()(std::int64_t held) const { return held; }
    Json operator()(double held) const { return held; }
    Json operator()(const std::string& held) const { return held; }
  };
  Json json{{"pass", pass_of(step)}, {"title", table.title}};
  Json& columns = json["columns"] = Json::array();
  for (const PassTable::Column& column : table.columns)
    columns.push_back({{"name", column.name}, {"unit", to_string(column.unit)}});
  Json& rows = json["rows"] = Json::array();
  for (const PassTable::Row& row : table.rows) {
    Json cells = Json::array();
    for (const PassTable::Cell& cell : row.cells) cells.push_back(std::visit(Writer(), cell));
    rows.push_back({{"node", row.node}, {"cells", std::move(cells)}});
  }
  return json;
}

Json to_json(const PassesAnswer& a, bool with_decisions) {
  Json json;
  json["name"] = a.name;
  json["pipeline"] = a.pipeline;
  Json& passes = json["passes"] = Json::array();
  for (const StepResult& step : a.run.steps) {
    passes.push_back({{"name", pass_of(step)},
                      {"step", step.step},
                      {"ms", to_ms(step.ns)},
                      {"moved", step.moved},
                      {"added", step.added},
                      {"removed", step.removed},
                      {"changed", step.changed},
                      {"retagged", step.retagged},
                      {"merged", step.merged},
                      {"decisions", step.decisions.size()},
                      {"before", to_json(step.before)},
                      {"after", to_json(step.after)}});
    if (step.ran.steps.empty()) continue;
    passes.back()["ran"] = to_text(step.ran.steps);
    passes.back()["ran_limit"] = step.ran.peak_limit ? Json(*step.ran.peak_limit) : Json();
  }
  json["before"] = cli::to_json(a.before);
  json["after"] = cli::to_json(a.after);
  if (a.limit)
    json["limit"] = {{"kind", "peak"},
                     {"asked", *a.limit},
                     {"reached", a.after.peak_bytes},
                     {"met", a.is_met()}};
  json["notes"] = a.notes;
  Json& tables = json["tables"] = Json::array();
  for (const StepResult& step : a.run.steps)
    for (const PassTable& table : step.tables) tables.push_back(to_json(step, table));
  if (!with_decisions) return json;
  Json& decisions = json["decisions"] = Json::array();
  for (const StepResult& step : a.run.steps)
    for (const Decision& each : step.decisions)
      decisions.push_back({{"pass", each.pass},
                           {"node", each.node},
                           {"action", each.action},
                           {"reason", each.reason},
                           {"effect", each.effect}});
  return json;
}

void add_warnings(const PipelineRun& run, std::vector<std::string>& notes) {
  for (const StepResult& step : run.steps)
    for (const Decision& each : step.decisions)
      if (each.action == "warning" && each.node.empty())
        notes.push_back(fmt::format("{}: {}", each.pass, each.reason));
}

void print_pass_tables(const PassesAnswer& a) {
  for (const StepResult& step : a.run.steps)
    for (const PassTable& each : step.tables) {
      std::vector<Table::Column> columns{{"", left}};
      for (const PassTable::Column& column : each.columns)
        columns.push_back({column.name, column.unit == PassTable::Unit::text ? left : right});
      Table table(std::move(columns));
      for (const PassTable::Row& row : each.rows) {
        std::vector<std::string> cells{row.node};
        for (std::size_t i = 0; i < row.cells.size(); ++i)
          cells.push_back(cell_text(row.cells[i], each.columns[i].unit));
        table.add(std::move(cells));
      }
      if (!table.empty())
        fmt::print("{}{}", heading(fmt::format("{}: {}", pass_of(step), each.title)), table.text());
    }
}

void print_steps(const PassesAnswer& a) {
  Table steps({{"pass", left},
               {"time", right},
               {"moved", right},
               {"added", right},
               {"removed", right},
               {"changed", right},
               {"tags", right},
               {"merged", right},
               {"decisions", right},
               {"peak", right},
               {"step", right},
               {"exposed", right}});
  for (const StepResult& s : a.run.steps)
    steps.add({s.step, format_ns(s.ns), format_count(s.moved), format_count(s.added),
               format_count(s.removed), format_count(s.changed), format_count(s.retagged),
               format_count(s.merged), format_count(s.decisions.size()),
               format_bytes(s.after.figures.peak_bytes), format_ns(s.after.figures.step_ns),
               format_ns(s.after.figures.exposed_ns)});
  fmt::print("{}\n{}", a.name, steps.empty() ? std::string() : steps.text());
  for (const StepResult& s : a.run.steps)
    if (is_unchanged(s)) fmt::print("{} changed nothing: {}\n", pass_of(s), why_unchanged(s));
}

void print_decisions(const PassesAnswer& a) {
  std::set<std::string_view> passes;
  for (const StepResult& step : a.run.steps)
    for (const Decision& each : step.decisions) passes.insert(each.pass);
  std::vector<Table::Column> columns{
      {"node", left}, {"decision", left}, {"why", left}, {"effect", left}};
  const bool names_passes = a.run.steps.size() > 1 || passes.size() > 1;
  if (names_passes) columns.insert(columns.begin(), {"pass", left});
  Table table(std::move(columns));
  for (const StepResult& step : a.run.steps)
    for (const Decision& each : step.decisions) {
      std::vector<std::string> row{each.node, each.action, each.reason, each.effect};
      if (names_passes) row.insert(row.begin(), each.pass);
      table.add(std::move(row));
    }
  if (!table.empty()) fmt::print("\n{}", table.text());
}

// Returns all edits of the run as a recipe that reproduces the final graph. Error (usage): a
// pipeline step creates a new graph. Error (run): the recipe does not reproduce the final graph.
Result<std::string> recipe_of(const Graph& graph, const PipelineRun& run) {
  std::vector<Edit> edits;
  for (const StepResult& step : run.steps) {
    if (!step.edit_refusal.empty())
      return fail(
          Error::Kind::usage,
          "option --save-recipe: {} creates a new graph, which a recipe cannot express: {}; "
          "run only the passes before it; to export a save plan, use `jointer sac "
          "--export recipe`",
          pass_of(step), step.edit_refusal);
    edits.insert(edits.end(), step.edits.begin(), step.edits.end());
  }
  const Graph& after = end_of(run, graph);
  const Recipe recipe = make_recipe(graph, after, std::move(edits), std::string(graph.title()));
  Graph again = graph;
  const auto replayed = replay(again, recipe);
  if (!replayed || replayed->ends_as_recorded == false)
    return fail(Error::Kind::run,
                "option --save-recipe: replaying the recipe does not reproduce the graph{}; this "
                "is a bug in Jointer, please report it",
                replayed ? std::string() : ": " + replayed.error().message);
  return write_recipe(recipe);
}

// Returns the pipeline as it ran, so that running it again gives the same graph without a search. A
// pass that ran other passes is disabled and followed by those passes.
PipelineFile applied(const Pipeline& pipeline, const PipelineRun& run) {
  PipelineFile file;
  std::size_t done = 0;
  for (const PipelineStep& step : pipeline) {
    file.steps.push_back(step);
    if (!step.is_enabled) continue;
    const RanSteps& ran = run.steps[done++].ran;
    file.steps.back().is_enabled = ran.steps.empty();
    file.steps.insert(file.steps.end(), ran.steps.begin(), ran.steps.end());
    if (ran.peak_limit && !ran.steps.empty())
      file.summary = fmt::format("Found for --budget {}B.", *ran.peak_limit);
  }
  return file;
}

Result<void> write_snapshots(const std::string& folder, const Graph& graph,
                             const PipelineRun& run) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return fail(Error::Kind::run, "{}: {}", folder, error.message());
  const auto path = [&](std::size_t i, const std::string& name) {
    return (std::filesystem::path(folder) / fmt::format("{:02}-{}.json.zst", i, name)).string();
  };
  JOINTER_CHECK(write_bytes(path(0, "before"), write_native(graph)));
  for (std::size_t i = 0; i < run.steps.size(); ++i)
    JOINTER_CHECK(
        write_bytes(path(i + 1, pass_of(run.steps[i])), write_native(*run.steps[i].graph)));
  return {};
}

Result<std::optional<std::int64_t>> limit_of(const std::string& text) {
  if (text.empty()) return std::nullopt;
  JOINTER_TRY(const std::int64_t bytes,
              bytes_of_option("--budget", text, "a peak memory size such as 40GiB"));
  return bytes;
}

// Returns the path by which the Python file `file` refers to the recipe. If the recipe is in the
// file's folder or below it, the path is relative, so that both files can be moved together.
std::string recipe_path(const std::string& recipe, const std::string& file) {
  const auto path = std::filesystem::absolute(recipe).lexically_normal();
  if (file == "-") return path.string();
  const auto folder = std::filesystem::absolute(file).lexically_normal().parent_path();
  const auto relative = path.lexically_relative(folder);
  const bool is_below = !relative.empty() && *relative.begin() != "..";
  return is_below ? relative.string() : path.string();
}

Result<void> write_files(const ApplyPasses& options, const Graph& graph, const Pipeline& pipeline,
                         const PipelineRun& run) {
  std::string recipe;
  if (!options.recipe.empty()) {
    JOINTER_TRY(recipe, recipe_of(graph, run));
  }
  if (!options.snapshots.empty()) JOINTER_CHECK(write_snapshots(options.snapshots, graph, run));
  if (!options.output.empty())
    JOINTER_CHECK(write_bytes(options.output, write_native(end_of(run, graph))));
  if (!options.recipe.empty()) JOINTER_CHECK(write_bytes(options.recipe, recipe));
  if (!options.graph_trainer.empty()) {
    const std::string path = recipe_path(options.recipe, options.graph_trainer);
    JOINTER_CHECK(write_bytes(options.graph_trainer,
                              graph_trainer_recipe_file(applied(pipeline, run).steps, path)));
  }
  if (!options.saved_pipeline.empty())
    JOINTER_CHECK(write_pipeline_file(options.saved_pipeline, applied(pipeline, run)));
  return {};
}

}  // namespace

Result<int> apply_passes(const ApplyPasses& options, const CLI::App& command) {
  const bool has_passes = options.pipeline.any();
  if (!has_passes) {
    constexpr std::string_view kNeedsPasses = "needs passes; add --passes";
    JOINTER_CHECK(PluginOptions::refuse(command, kNeedsPasses));
    JOINTER_CHECK(refuse_options(command,
                                 {"--save-recipe", "--save-graph-trainer", "--save-pipeline",
                                  "--snapshots", "--budget", "--decisions", "--reproducer"},
                                 kNeedsPasses));
  }
  if (!options.graph_trainer.empty() && options.recipe == "-")
    return fail(Error::Kind::usage,
                "option --save-graph-trainer: needs --save-recipe with a file name");
  std::vector<OutputFile> outputs{{"--output", options.output},
                                  {"--save-recipe", options.recipe},
                                  {"--save-pipeline", options.saved_pipeline},
                                  {"--save-graph-trainer", options.graph_trainer}};
  const bool prints_figures = !fills_standard_output(outputs);
  outputs.push_back({"--reproducer",
                     options.reproducer});  // written only on failure, when nothing else is printed
  JOINTER_CHECK(check_outputs(
      outputs, {options.graph.file, options.graph.backward, options.pipeline.file()}));
  if (!prints_figures)
    JOINTER_CHECK(refuse_options(command, {"--json", "--decisions"}, kNoFigures));
  JOINTER_CHECK(check_output_folder(options.snapshots));
  JOINTER_TRY(const PassRegistry passes, registry(options.pipeline.plugins));
  Pipeline pipeline;
  if (has_passes) {
    JOINTER_TRY(pipeline, options.pipeline.pipeline(passes));
  }
  JOINTER_TRY(const std::optional<std::int64_t> limit, limit_of(options.budget));
  JOINTER_TRY(const Graph graph, options.graph.open(options.json));
  JOINTER_TRY(const std::unique_ptr<Estimator> estimator, options.estimator.make(graph));
  const PassRunOptions run_options{.analysis = {.memory = memory_options(options.optimizer),
                                                .estimator = options.estimator.request()},
                                   .peak_limit = limit,
                                   .reproducer = options.reproducer,
                                   .plugins = options.pipeline.plugins};
  JOINTER_TRY(PipelineRun run, run_passes(graph, pipeline, passes, run_options));
  JOINTER_CHECK(write_files(options, graph, pipeline, run));
  const Graph& after = end_of(run, graph);
  std::vector<std::string> notes = numerics_notes(run, passes);
  add_warnings(run, notes);
  const PassesAnswer answer{.name = std::string(graph.title()),
                            .pipeline = to_text(pipeline),
                            .run = std::move(run),
                            .before = figures_of(graph, *estimator, options.optimizer),
                            .after = figures_of(after, *estimator, options.optimizer),
                            .limit = limit,
                            .notes = std::move(notes)};
  if (!answer.is_met()) {
    const auto peaks = distinct_bytes(std::array{answer.after.peak_bytes, *limit});
    fmt::print(stderr, "jointer: the peak, {}, exceeds the budget of {}\n", peaks[0], peaks[1]);
  }
  bool is_met = answer.is_met();
  for (const StepResult& step : answer.run.steps) {
    if (!is_over_its_budget(step)) continue;
    if (answer.is_met()) {
      const auto peaks =
          distinct_bytes(std::array{step.after.figures.peak_bytes, *step.ran.peak_limit});
      fmt::print(stderr,
                 "jointer: {}: the peak of {} exceeds its budget of {}; --decisions shows why\n",
                 pass_of(step), peaks[0], peaks[1]);
    }
    is_met = false;
  }
  const int code = is_met ? ExitCode::done : ExitCode::negative_answer;
  if (!prints_figures) return code;
  if (options.json) {
    print_json(to_json(answer, options.decisions));
    return code;
  }
  print_steps(answer);
  fmt::print("\n{}", compare_table(answer.before, answer.after, "before", "after").text());
  for (const std::string& note : answer.notes) fmt::print("note: {}\n", note);
  if (options.decisions) {
    print_pass_tables(answer);
    print_decisions(answer);
  }
  return code;
}

}  // namespace jointer::cli
