#pragma once

// Options of commands that run passes: which passes of others there are.

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
  // Where no passes are run. Error (usage): one of them was given, followed by `why`.
  static Result<void> refuse(const CLI::App& command, std::string_view why);
  // What passes print goes to standard error, under their names. Error (usage): no number of bytes.
  [[nodiscard]] Result<PassSources> sources() const;
  // Folders and files with their whole paths.
  [[nodiscard]] PluginOptions absolute() const;
  // Those that are no folders and files, word by word as on a command line, where given.
  [[nodiscard]] std::vector<std::string> other_words() const;
};

}  // namespace jointer::cli
