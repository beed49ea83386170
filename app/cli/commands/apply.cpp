// jointer apply FILE --recipe IN -o OUT: replays edits on a graph.

#include <fmt/format.h>

#include "app/cli/commands/commands.h"
#include "app/cli/commands/figures.h"
#include "app/cli/commands/options.h"
#include "app/cli/commands/table.h"
#include "core/base/bytes.h"
#include "core/base/units.h"
#include "core/capture/native_writer.h"
#include "core/edit/replay.h"

namespace jointer::cli {
namespace {

struct ApplyCommand {
  GraphOptions graph;
  EstimatorOptions estimator;
  std::string recipe, output, optimizer = "none";
  bool lenient = false, json = false;
};

struct Answer {
  std::string name;
  Recipe recipe;
  Replay replay;
  Figures before, after;
};

Json to_json(const Answer& a) {
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
  json["before"] = cli::to_json(a.before);
  json["after"] = cli::to_json(a.after);
  return json;
}

void print_tables(const Answer& a) {
  using enum Table::Align;
  fmt::print("{}\n", a.name);
  Table edits({{"edit", left}, {"by", left}, {"changes", right}});
  for (const Edit& edit : a.replay.done)
    edits.add({edit.title, edit.by, format_count(static_cast<std::int64_t>(edit.changes.size()))});
  fmt::print("{}", edits.text());
  for (const Edit& edit : a.replay.done)
    for (const std::string& note : edit.notes) fmt::print("  {}\n", note);
  for (const SkippedEdit& each : a.replay.skipped)
    fmt::print("skipped, edit {} ({}): {}\n", each.edit, each.title, each.why);
  fmt::print("\n{}", compare_table(a.before, a.after, "before", "after").text());
  if (a.replay.ends_as_recorded == false)
    fmt::print(
        "\nThe graph is not the one that the recipe's maker ended with: the recipe was "
        "changed since, or something was skipped.\n");
}

Result<int> run(const ApplyCommand& options) {
  if (options.graph.file == "-" && options.recipe == "-")
    return fail(Error::Kind::usage, "standard input is the graph or the recipe, not both");
  JOINTER_TRY(const PaddedBytes text, read_bytes(options.recipe));
  auto recipe = read_recipe(text.view());
  if (!recipe) return input_error("{}: {}", options.recipe, recipe.error().message);
  JOINTER_TRY(Graph graph, options.graph.open(options.json));
  JOINTER_TRY(const std::unique_ptr<Estimator> estimator, options.estimator.make(graph));
  Answer answer{.name = std::string(graph.title()),
                .recipe = std::move(*recipe),
                .replay = {},
                .before = figures_of(graph, *estimator, options.optimizer),
                .after = {}};
  auto replayed = replay(graph, answer.recipe, options.lenient);
  if (!replayed)
    return fail(replayed.error().kind, "{}: {}", options.recipe, replayed.error().message);
  answer.replay = std::move(*replayed);
  answer.after = figures_of(graph, *estimator, options.optimizer);
  if (!options.output.empty()) JOINTER_CHECK(write_bytes(options.output, write_native(graph)));
  if (options.output == "-") return ExitCode::done;
  if (options.json)
    print_json(to_json(answer));
  else
    print_tables(answer);
  return ExitCode::done;
}

}  // namespace

void add_apply_command(CLI::App& program, int& exit_code) {
  auto options = std::make_shared<ApplyCommand>();
  CLI::App* command = program.add_subcommand("apply", "Edits of a recipe, replayed on a graph");
  options->graph.add_to(*command);
  options->estimator.add_to(*command);
  add_optimizer_option(*command, options->optimizer);
  command
      ->add_option("--recipe", options->recipe,
                   "What to replay (docs/recipe.md); `-` is standard input")
      ->required();
  command->add_option("-o,--output", options->output,
                      "The edited graph as a native capture, packed if it ends in .zst; `-` is "
                      "standard output, without the figures");
  command->add_flag("--lenient", options->lenient,
                    "Skip and report what does not fit, instead of refusing");
  command->add_flag("--json", options->json, "One JSON object");
  command->callback([options, &exit_code] { exit_code = finish(run(*options)); });
}

}  // namespace jointer::cli
