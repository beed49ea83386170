// jointer passes: lists the available passes, their parameters, and presets.

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/cli/commands/commands.h"
#include "app/cli/commands/pass_options.h"
#include "app/cli/commands/table.h"
#include "core/pass/parameter.h"
#include "core/pass/pipeline_file.h"
#include "passes/presets/graph_trainer.h"
#include "passes/presets/presets.h"
#include "passes/tune/training_flags.h"

namespace jointer::cli {
namespace {

using enum Table::Align;

struct PassesCommand {
  std::vector<std::string> names;
  PipelineOptions pipeline;
  bool json = false;
};

Json to_json(const Parameter& parameter) {
  Json json{{"name", parameter.name},
            {"type", to_string(parameter.type)},
            {"default", pass_value_json(parameter.default_value)},
            {"range", range_text(parameter)},
            {"doc", parameter.doc}};
  if (parameter.min) json["least"] = *parameter.min;
  if (parameter.max) json["most"] = *parameter.max;
  if (!parameter.choices.empty()) json["choices"] = parameter.choices;
  return json;
}

Json to_json(const PassInfo& info) {
  Json parameters = Json::array();
  for (const Parameter& each : info.parameters) parameters.push_back(to_json(each));
  return {{"name", info.name},
          {"summary", info.summary},
          {"source", info.source},
          {"stage", to_string(info.stage)},
          {"keeps_numerics", info.keeps_numerics},
          {"idempotent", info.is_idempotent},
          {"parameters", std::move(parameters)}};
}

void print_list(const std::vector<const PassInfo*>& infos) {
  for (const PassStage stage : kPassStages) {
    Table table({{"", left}, {"", left}});
    for (const PassInfo* info : infos)
      if (info->stage == stage) table.add({info->name, info->summary});
    if (!table.empty()) fmt::print("{}{}", heading(std::string(to_string(stage))), table.text());
  }
  Table presets({{"", left}, {"", left}});
  for (const PipelinePreset& preset : pipeline_presets())
    presets.add({preset.name, preset.summary});
  fmt::print("{}{}\n", heading("presets, for --preset NAME"), presets.text());
  fmt::print("`jointer passes NAME` lists the parameters of a pass, or the passes of a preset.\n");
}

void print_details(const PipelinePreset& preset) {
  fmt::print("{}  (preset, {})\n{}\n\n  {}\n", preset.name, preset.source, preset.summary,
             preset.pipeline);
}

void print_details(const PassInfo& info) {
  fmt::print("{}  ({}, {}{})\n{}\n", info.name, to_string(info.stage), info.source,
             info.keeps_numerics ? "" : ", may change numerics", info.summary);
  Table table(
      {{"parameter", left}, {"type", left}, {"default", left}, {"range", left}, {"", left}});
  for (const Parameter& each : info.parameters)
    table.add({each.name, std::string(to_string(each.type)), default_text(each), range_text(each),
               each.doc});
  if (!table.empty()) fmt::print("\n{}", table.text());
}

// Shows a pipeline and the graph_trainer flags that select it.
Result<int> show_pipeline(const PassesCommand& options) {
  if (!options.names.empty())
    return fail(Error::Kind::usage,
                "passes describes either the named passes or a pipeline, but not both; leave out "
                "the names, or --passes, --preset and --graph-trainer-flags");
  JOINTER_TRY(const Pipeline pipeline, options.pipeline.read());
  JOINTER_TRY(const PassRegistry registry, cli::registry(options.pipeline.plugins));
  const auto fits = registry.check(pipeline);
  const auto flags = graph_trainer_flags(pipeline);
  if (options.json) {
    Json json{{"pipeline", to_text(pipeline)}};
    json["problem"] = fits ? Json() : Json(fits.error().message);
    json["graph_trainer_flags"] = flags ? Json(to_text(*flags)) : Json();
    json["why_no_flags"] = flags ? Json() : Json(flags.error().message);
    json["settings"] = training_flags(pipeline, TrainedAs::compiled, registry).text();
    print_json(json);
    return ExitCode::done;
  }
  fmt::print("{}", write_pipeline_text({.name = {}, .summary = {}, .steps = pipeline}));
  if (!fits) fmt::print("\nnote: {}\n", fits.error().message);
  if (!flags) {
    fmt::print(
        "\nnote: {}; `jointer apply` with --save-recipe and --save-graph-trainer writes the "
        "pipeline as a recipe that graph_trainer replays\n",
        flags.error().message);
    return ExitCode::done;
  }
  const std::string text = to_text(*flags);
  fmt::print("\ngraph_trainer: {}\n", text.empty() ? "its default flags" : text);
  return ExitCode::done;
}

Result<int> run(const PassesCommand& options) {
  if (options.pipeline.any()) return show_pipeline(options);
  JOINTER_TRY(const AvailablePasses all, registry_and_notes(options.pipeline.plugins));
  const PassRegistry& passes = all.registry;
  const auto is_named = [&](const std::string& name) {
    return options.names.empty() || std::ranges::find(options.names, name) != options.names.end();
  };
  std::vector<PipelinePreset> presets;
  for (const PipelinePreset& preset : pipeline_presets())
    if (is_named(preset.name)) presets.push_back(preset);
  for (const std::string& name : options.names)
    if (!preset_pipeline(name)) JOINTER_CHECK(passes.check({{.pass = name, .given = {}}}));
  std::vector<const PassInfo*> chosen;
  for (const Pass& pass : passes.passes())
    if (is_named(pass.info.name)) chosen.push_back(&pass.info);
  if (options.json) {
    Json json;
    Json& list = json["passes"] = Json::array();
    for (const PassInfo* info : chosen) list.push_back(to_json(*info));
    Json& named = json["presets"] = Json::array();
    for (const PipelinePreset& preset : presets)
      named.push_back({{"name", preset.name},
                       {"summary", preset.summary},
                       {"source", preset.source},
                       {"pipeline", preset.pipeline}});
    json["notes"] = all.notes;
    print_json(json);
  } else if (options.names.empty()) {
    print_list(chosen);
  } else {
    for (const PassInfo* info : chosen) {
      if (info != chosen.front()) fmt::print("\n");
      print_details(*info);
    }
    for (const PipelinePreset& preset : presets) {
      if (!chosen.empty() || &preset != presets.data()) fmt::print("\n");
      print_details(preset);
    }
  }
  return ExitCode::done;
}

}  // namespace

void add_passes_command(CLI::App& program, int& exit_code) {
  auto options = std::make_shared<PassesCommand>();
  CLI::App* command =
      program.add_subcommand("passes",
                             "Lists passes and presets, describes those named, or shows a pipeline "
                             "given by --passes, --preset or --graph-trainer-flags");
  command->add_option("NAME", options->names, "Passes or presets to describe in detail")
      ->type_name("");
  options->pipeline.add_to(*command);
  command->add_flag("--json", options->json, "Print the result as JSON");
  command->callback([options, &exit_code] { exit_code = finish(run(*options)); });
}

}  // namespace jointer::cli
