#pragma once

// Whose policy tags a graph before it is partitioned.

#include <string>
#include <vector>

#include "app/cli/commands/options.h"

namespace jointer::cli {

// [--save OP,...] [--every-nth OP/N,...] [--policy FILE] [--preset NAME]
struct PolicyOptions {
  std::vector<std::string> save, every_nth;
  std::string file, preset;

  void add_to(CLI::App& command);
  [[nodiscard]] bool any() const {
    return !save.empty() || !every_nth.empty() || !file.empty() || !preset.empty();
  }
  // Tags the graph; `fresh`: its own tags go first. Notes for the person. Error (usage): a policy
  // that does not exist or fits nothing; (input): the file is none.
  [[nodiscard]] Result<std::vector<std::string>> apply_to(Graph& graph, bool fresh) const;
};

}  // namespace jointer::cli
