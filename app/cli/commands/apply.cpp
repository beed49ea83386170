// jointer apply FILE: replays the edits of a recipe on a graph, runs passes on it, or writes it as
// a native capture.

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <variant>

#include "app/cli/commands/apply_passes.h"
#include "app/cli/commands/checks.h"
#include "app/cli/commands/commands.h"
#include "app/cli/commands/figures.h"
#include "app/cli/commands/options.h"
#include "app/cli/commands/outputs.h"
#include "app/cli/commands/pass_run.h"
#include "app/cli/commands/plan_comparison.h"
#include "app/cli/commands/table.h"
#include "app/cli/commands/unused_options.h"
#include "core/base/bytes.h"
#include "core/base/counted.h"
#include "core/base/units.h"
#include "core/capture/native_writer.h"
#include "core/edit/replay.h"
#include "core/open/open.h"
#include "core/policy/flat_step.h"

namespace jointer::cli {
namespace {

struct ApplyCommand {
  ApplyPasses common;  // options of both modes, and options that apply only to passes
  std::string recipe;
  bool lenient = false;
  std::optional<std::size_t> max_skipped;
};

struct ApplyAnswer {
  std::string name;
  Recipe recipe;
  Replay replay;
  GraphFigures before, after;
  // The comparison of the plans before and after, or why it failed; std::nullopt if the plans are
  // the same or were not compared.
  std::optional<Result<PlanComparison>> plan;
};

bool sets_policies(const Recipe& recipe) {
  return std::ranges::any_of(recipe.edits, [](const Edit& edit) {
    return std::ranges::any_of(edit.changes, [](const Change& change) {
      return std::holds_alternative<SetPolicy>(change);
    });
  });
}

Json to_json(const ApplyAnswer& a) {
  Json json;
  json["name"] = a.name;
  json["recipe"] = a.recipe.name;
  Json& edits = json["edits"] = Json::array();
  for (const Edit& edit : a.replay.done)
    edits.push_back({{"title", edit.title},
                     {"by", edit.by},
                     {"changes", edit.changes.size()},
                     {"notes", edit.notes}});
  Json& skipped = json["skipped"] = Json::array();
  for (const SkippedEdit& each : a.replay.skipped)
    skipped.push_back({{"edit", each.edit}, {"title", each.title}, {"why", each.why}});
  json["ends_as_recorded"] = a.replay.ends_as_recorded ? Json(*a.replay.ends_as_recorded) : Json();
  json["other_rank"] = a.replay.other_rank.empty() ? Json() : Json(a.replay.other_rank);
  json["before"] = cli::to_json(a.before);
  json["after"] = cli::to_json(a.after);
  if (a.plan) json["plan"] = cli::to_json(*a.plan);
  return json;
}

void print_tables(const ApplyAnswer& a) {
  using enum Table::Align;
  fmt::print("{}\n", a.name);
  Table edits({{"edit", left}, {"by", left}, {"changes", right}});
  for (const Edit& edit : a.replay.done)
    edits.add({edit.title, edit.by, format_count(edit.changes.size())});
  fmt::print("{}", edits.text());
  for (const Edit& edit : a.replay.done)
    for (const std::string& note : edit.notes) fmt::print("  {}\n", note);
  for (const SkippedEdit& each : a.replay.skipped)
    fmt::print("skipped in edit {} ({}): {}\n", each.edit, each.title, each.why);
  if (!a.replay.other_rank.empty()) fmt::print("{}\n", a.replay.other_rank);
  fmt::print("\n{}", compare_table(a.before, a.after, "before", "after").text());
  if (a.plan) {
    fmt::print("{}", heading("plan"));
    if (*a.plan)
      print_plan_figures(**a.plan);
    else
      fmt::print("  {}\n", a.plan->error().message);
  }
  if (a.replay.ends_as_recorded == false)
    fmt::print(
        "\nThe result differs from the graph that the recipe was saved from, because the opened "
        "graph differs, the recipe was changed, or edits were skipped.\n");
}

// Returns the exit code. If more changes were skipped than --max-skipped allows, reports this on
// standard error.
int code_of(const Replay& replay, std::optional<std::size_t> max_skipped) {
  const std::size_t skipped = replay.skipped.size();
  if (!max_skipped || skipped <= *max_skipped) return ExitCode::done;
  fmt::print(stderr, "jointer: {}, but --max-skipped is {}\n",
             counted(skipped, "change was skipped", "changes were skipped"), *max_skipped);
  return ExitCode::negative_answer;
}

// The advice to use --lenient; empty if even --lenient refuses the recipe.
std::string lenient_advice(Graph graph, const Recipe& recipe) {
  return replay(graph, recipe, true) ? "; --lenient skips changes that do not fit" : "";
}

Result<int> apply_recipe(const ApplyCommand& given, const CLI::App& command) {
  const ApplyPasses& options = given.common;
  const std::string& path = given.recipe;
  if (options.graph.file == "-" && path == "-")
    return fail(
        Error::Kind::usage,
        "FILE and --recipe cannot both be standard input (`-`); give one of them as a file");
  JOINTER_CHECK(
      PluginOptions::refuse(command, "has no effect with --recipe, which runs no passes"));
  const std::vector<OutputFile> outputs{{"--output", options.output}};
  JOINTER_CHECK(check_outputs(outputs, {options.graph.file, options.graph.backward, path}));
  if (fills_standard_output(outputs))
    JOINTER_CHECK(refuse_options(command, {"--json"}, kNoFigures));
  JOINTER_TRY(const PaddedBytes text, read_bytes(path));
  auto recipe = read_recipe(text.view());
  if (!recipe) return input_error("{}: {}", path, recipe.error().message);
  JOINTER_TRY(Graph graph, options.graph.open(options.json));
  JOINTER_TRY(const std::unique_ptr<Estimator> estimator, options.estimator.make(graph));
  ApplyAnswer answer{.name = std::string(graph.title()),
                     .recipe = std::move(*recipe),
                     .before = figures_of(graph, *estimator, options.optimizer)};
  // Estimates of a joint graph or a flat training step ignore its tags; only a comparison of the
  // plans shows the effect of new tags.
  std::optional<Graph> opened;  // needed only for its plan
  if (check_flat(graph) && sets_policies(answer.recipe)) opened = graph;
  auto replayed = replay(graph, answer.recipe, given.lenient);
  if (!replayed)
    return fail(replayed.error().kind, "{}: {}{}", path, replayed.error().message,
                given.lenient ? "" : lenient_advice(graph, answer.recipe));
  answer.replay = std::move(*replayed);
  answer.after = figures_of(graph, *estimator, options.optimizer);
  if (opened && options.output != "-")
    answer.plan = compare_own_plans({"before", *opened}, {"after", graph}, options.estimator,
                                    memory_options(options.optimizer));
  if (!options.output.empty()) JOINTER_CHECK(write_bytes(options.output, write_native(graph)));
  const int code = code_of(answer.replay, given.max_skipped);
  if (options.output == "-") return code;
  if (options.json)
    print_json(to_json(answer));
  else
    print_tables(answer);
  return code;
}

std::optional<Reproduced> reproduced_at(const std::string& path) {
  const auto graph = open_graph({.path = path});
  return graph ? reproduced(*graph) : std::nullopt;
}

// Returns the usage error for a command line with no passes, no recipe and no output. If FILE is a
// reproducer, the message shows the command that runs it. Jointer does not run that command itself,
// since third-party code runs only if the user names it.
Error nothing_to_do(const GraphOptions& options) {
  Error error{
      Error::Kind::usage,
      "apply needs passes (--passes, --preset or --graph-trainer-flags), a recipe (--recipe) "
      "or a file to write (-o)"};
  if (const auto again = options.file == "-" ? std::nullopt : reproduced_at(options.file))
    error.message += fmt::format("; this is a reproducer: {}", again_command(options.file, *again));
  return error;
}

Result<int> run(const ApplyCommand& options, const CLI::App& command) {
  const bool has_passes = options.common.pipeline.any();
  if (options.recipe.empty() && !has_passes && options.common.output.empty())
    return tl::unexpected(nothing_to_do(options.common.graph));
  if (!options.recipe.empty() && has_passes)
    return fail(Error::Kind::usage,
                "apply runs passes (--passes, --preset or --graph-trainer-flags) or replays a "
                "recipe (--recipe), but not both");
  if (!options.recipe.empty()) return apply_recipe(options, command);
  return apply_passes(options.common, command);
}

}  // namespace

void add_apply_command(CLI::App& program, int& exit_code) {
  auto options = std::make_shared<ApplyCommand>();
  ApplyPasses& common = options->common;
  CLI::App* command =
      program.add_subcommand("apply", "Runs passes on a graph, or replays the edits of a recipe");
  common.graph.add_to(*command);
  common.pipeline.add_to(*command);
  CLI::Option* recipe =
      command
          ->add_option("--recipe", options->recipe,
                       "Recipe to replay (docs/recipes.md); `-` is standard input")
          ->type_name("FILE");
  CLI::Option* lenient =
      command
          ->add_flag("--lenient", options->lenient,
                     "Skip and report changes that do not fit, instead of refusing the recipe")
          ->needs(recipe);
  command
      ->add_option("--max-skipped", options->max_skipped,
                   "With --lenient: exit code 1 if more than N changes are skipped; an edit that "
                   "is skipped as a whole counts as one change")
      ->type_name("N")
      ->check(whole_number(0))
      ->needs(lenient);
  command
      ->add_option("-o,--output", common.output,
                   "Write the resulting graph (that of FILE if there are neither passes nor a "
                   "recipe) as a native capture, compressed if the name ends in .zst; `-` is "
                   "standard output, and nothing else is printed")
      ->type_name("FILE");
  const auto of_passes = [&](CLI::Option* option) { return option->excludes(recipe); };
  CLI::Option* saved = of_passes(
      command->add_option("--save-recipe", common.recipe,
                          "Write the passes' edits as a recipe, which training code can replay"));
  saved->type_name("FILE");
  of_passes(command->add_option(
                "--save-graph-trainer", common.graph_trainer,
                "Write a Python file that registers the saved recipe as a pipeline of torchtitan's "
                "graph_trainer (--compile.pass_pipeline)"))
      ->type_name("FILE")
      ->needs(saved);
  of_passes(command->add_option(
                "--save-pipeline", common.saved_pipeline,
                "Write the passes, including those that auto_tune found, as a file for --passes "
                "@FILE; JSON if the name ends in .json"))
      ->type_name("FILE");
  of_passes(command->add_option("--snapshots", common.snapshots,
                                "Write the graph to this folder before the passes and after each "
                                "of them"))
      ->type_name("FOLDER");
  of_passes(command->add_option("--budget", common.budget,
                                "Peak memory limit for the passes, such as 40GiB; exit code 1 if "
                                "the final peak exceeds it"))
      ->type_name("BYTES");
  of_passes(command->add_flag("--decisions", common.decisions,
                              "List every decision of the passes, with its reason"));
  of_passes(command->add_option("--reproducer", common.reproducer,
                                "If a pass fails, write its input graph and the pass to this file"))
      ->type_name("FILE");
  common.estimator.add_to(*command);
  add_optimizer_option(*command, common.optimizer);
  command->add_flag("--json", common.json, "Print the result as JSON");
  command->callback(
      [options, command, &exit_code] { exit_code = finish(run(*options, *command)); });
}

}  // namespace jointer::cli
