#pragma once

// The passes available to the command line: built-in passes, plugins and Python passes. The desktop
// has its own list (app/desktop/local_passes.h).

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/pass/registry.h"
#include "plugins/hosted/hosted_pass.h"

namespace jointer {

// The passes that the user named or allowed. Opening a file never adds to them.
struct PassSources {
  std::vector<std::string> plugins;        // folders of C++ plugins
  std::vector<std::string> python_passes;  // specs (plugins/python/python_passes.h)
  // True if plugins that were found but not named may also run. They are always listed, which does
  // not run their code.
  bool allows_found = false;
  HostOptions host;
};

struct AvailablePasses {
  PassRegistry registry;
  std::vector<std::string> notes;  // one sentence for each plugin or pass that cannot be added
};

// Error (usage, input, run): a plugin or Python pass that the user named cannot be added.
Result<AvailablePasses> available_passes(const PassSources& sources = {});

}  // namespace jointer
