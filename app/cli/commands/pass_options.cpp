#include "app/cli/commands/pass_options.h"

#include <cstdio>

#include "core/base/bytes.h"
#include "core/pass/pipeline_file.h"
#include "core/pass/pipeline_rules.h"
#include "passes/presets/graph_trainer.h"
#include "passes/presets/presets.h"

namespace jointer::cli {
namespace {

constexpr std::string_view kPreset = "@preset:";

}  // namespace

Result<PassRegistry> registry(const PluginOptions& plugins) {
  JOINTER_TRY(AvailablePasses available, registry_and_notes(plugins));
  return std::move(available.registry);
}

Result<AvailablePasses> registry_and_notes(const PluginOptions& plugins) {
  JOINTER_TRY(const PassSources sources, plugins.sources());
  JOINTER_TRY(AvailablePasses available, available_passes(sources));
  for (const std::string& note : available.notes) fmt::print(stderr, "jointer: {}\n", note);
  return available;
}

void PipelineOptions::add_to(CLI::App& command) {
  {
    const HelpGroup group(command, "Passes");
    CLI::Option* passes =
        command
            .add_option("--passes", text,
                        "Passes to run: \"a{k=v,list=[x,y]},b\", @FILE (docs/passes.md) or "
                        "@preset:NAME; `jointer passes` lists passes and presets")
            ->type_name("PASSES");
    CLI::Option* named = command.add_option("--preset", preset, "Same as --passes @preset:NAME")
                             ->type_name("NAME")
                             ->excludes(passes);
    command
        .add_option("--graph-trainer-flags", graph_trainer,
                    "Run the passes that torchtitan's graph_trainer runs with these flags, such as "
                    "\"--compile.memory_policy eager\"; \"\" for its defaults")
        ->type_name("FLAGS")
        ->excludes(passes)
        ->excludes(named);
  }
  plugins.add_to(command);
}

std::string PipelineOptions::file() const {
  return text.starts_with('@') && !text.starts_with(kPreset) ? text.substr(1) : std::string();
}

Result<Pipeline> PipelineOptions::read() const {
  if (!preset.empty()) return preset_pipeline(preset);
  if (graph_trainer) {
    const auto flags = parse_graph_trainer_flags(*graph_trainer);
    auto pipeline = flags ? graph_trainer_pipeline(*flags) : tl::unexpected(flags.error());
    if (!pipeline)
      return fail(pipeline.error().kind, "option --graph-trainer-flags: {}",
                  pipeline.error().message);
    return pipeline;
  }
  if (text.starts_with(kPreset)) return preset_pipeline(text.substr(kPreset.size()));
  if (const std::string path = file(); !path.empty()) {
    JOINTER_TRY(const PaddedBytes bytes, read_bytes(path));
    JOINTER_TRY(PipelineFile file, read_pipeline_file(bytes.view(), path));
    return std::move(file.steps);
  }
  auto pipeline = parse_pipeline(text);
  if (!pipeline)
    return fail(pipeline.error().kind, "option --passes: {}", pipeline.error().message);
  return pipeline;
}

Result<Pipeline> PipelineOptions::pipeline(const PassRegistry& registry) const {
  JOINTER_TRY(Pipeline pipeline, read());
  JOINTER_CHECK(registry.check(pipeline));
  JOINTER_CHECK(check_order(pipeline));
  return pipeline;
}

}  // namespace jointer::cli
