#pragma once

// Options for third-party passes.

#include "app/cli/commands/options.h"
#include "app/launch/available_passes.h"

namespace jointer::cli {

// [--plugin FOLDER]... [--python-pass SPEC]... [--allow-plugins] [--pass-deadline SECONDS]
// [--pass-memory BYTES]
struct PluginOptions {
  std::vector<std::string> plugins, python_passes;
  bool allows_found = false;
  double deadline_s = 600;
  std::string memory;

  void add_to(CLI::App& command);
  // Refuses these options, for commands that run no passes. Error (usage): one of the options was
  // given; the message ends with `why`.
  static Result<void> refuse(const CLI::App& command, std::string_view why);
  // The sources that the options name. The output of passes goes to standard error, prefixed with
  // the name of the pass. Error (usage): --pass-memory is not a number of bytes.
  [[nodiscard]] Result<PassSources> sources() const;
  // These options with absolute paths.
  [[nodiscard]] PluginOptions absolute() const;
  // The given options except --plugin and --python-pass, as command-line words.
  [[nodiscard]] std::vector<std::string> other_arguments() const;
};

}  // namespace jointer::cli
