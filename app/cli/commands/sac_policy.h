#pragma once

// Options that tag a graph according to a policy before it is partitioned.

#include <string>
#include <vector>

#include "app/cli/commands/options.h"
#include "core/policy/decider.h"

namespace jointer::cli {

struct AppliedPolicy {
  std::vector<std::string> notes;  // for the user
  std::vector<Decider> tags;       // by node: the origin of its tag; empty if none was changed
};

// [--save OP,...] [--every-nth OP/N,...] [--policy FILE] [--preset NAME]
struct PolicyOptions {
  std::vector<std::string> save, every_nth;
  std::string file, preset;

  void add_to(CLI::App& command);
  [[nodiscard]] bool any() const {
    return !save.empty() || !every_nth.empty() || !file.empty() || !preset.empty();
  }
  // Tags the graph; with `fresh`, removes its existing tags first. Error (usage): the options
  // contradict each other, or the policy does not exist or matches no node. Error (input): the file
  // cannot be read or is not a policy.
  [[nodiscard]] Result<AppliedPolicy> apply_to(Graph& graph, bool fresh) const;
};

}  // namespace jointer::cli
