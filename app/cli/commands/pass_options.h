#pragma once

// Options of commands that run passes: which ones there are, and which are run.

#include <optional>
#include <string>
#include <vector>

#include "app/cli/commands/options.h"
#include "app/cli/commands/plugin_options.h"
#include "core/pass/pipeline_text.h"

namespace jointer::cli {

// The passes that there are. The notes of what could not be had go to standard error.
Result<PassRegistry> registry(const PluginOptions& plugins);
// The same with the notes.
Result<AvailablePasses> registry_and_notes(const PluginOptions& plugins);

// [--passes TEXT|@FILE|@preset:NAME] [--preset NAME] [--graph-trainer-flags FLAGS], and those of
// plugins
struct PipelineOptions {
  std::string text, preset;
  std::optional<std::string> graph_trainer;
  PluginOptions plugins;

  void add_to(CLI::App& command);
  [[nodiscard]] bool any() const { return !text.empty() || !preset.empty() || graph_trainer; }
  // The file that --passes names; empty: none.
  [[nodiscard]] std::string file() const;
  // What is asked for, of whatever passes. Error (usage), (input): as `pipeline`.
  [[nodiscard]] Result<Pipeline> read() const;
  // Error (input): the file is none; (usage): no pipeline, no such preset, or it does not fit the
  // passes that there are.
  [[nodiscard]] Result<Pipeline> pipeline(const PassRegistry& registry) const;
};

}  // namespace jointer::cli
