#pragma once

// Options of commands that run passes: the available passes, and the pipeline to run.

#include <optional>
#include <string>
#include <vector>

#include "app/cli/commands/options.h"
#include "app/cli/commands/plugin_options.h"
#include "core/pass/pipeline_text.h"

namespace jointer::cli {

// The available passes. Notes about passes that cannot be loaded go to standard error.
Result<PassRegistry> registry(const PluginOptions& plugins);
// Prints the notes and also returns them.
Result<AvailablePasses> registry_and_notes(const PluginOptions& plugins);

// [--passes PASSES|@FILE|@preset:NAME] [--preset NAME] [--graph-trainer-flags FLAGS], and options
// for plugins
struct PipelineOptions {
  std::string text, preset;
  std::optional<std::string> graph_trainer;
  PluginOptions plugins;

  void add_to(CLI::App& command);
  [[nodiscard]] bool any() const { return !text.empty() || !preset.empty() || graph_trainer; }
  // The file that --passes names; empty if it names no file.
  [[nodiscard]] std::string file() const;
  // The pipeline as given, not checked against the available passes. Error (usage, input): as for
  // `pipeline`.
  [[nodiscard]] Result<Pipeline> read() const;
  // The pipeline, checked against the available passes. Error (input): the file cannot be read.
  // Error (usage): no pipeline was given, the text or the flags are invalid, the preset does not
  // exist, or the pipeline does not fit the available passes.
  [[nodiscard]] Result<Pipeline> pipeline(const PassRegistry& registry) const;
};

}  // namespace jointer::cli
