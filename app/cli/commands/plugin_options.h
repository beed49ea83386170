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
  // What passes print goes to standard error, under their names. Error (usage): no number of bytes.
  [[nodiscard]] Result<PassSources> sources() const;
  // As it is written on a command line, with a blank before each; empty if nothing was given.
  [[nodiscard]] std::string text() const;
};

}  // namespace jointer::cli
