#pragma once

// The passes that there are for the command line and the desktop: built in, and what plugins and
// Python passes add.

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/pass/registry.h"
#include "plugins/hosted/hosted_pass.h"

namespace jointer {

// What a person named or allowed. Opening a file fills none of it.
struct PassSources {
  std::vector<std::string> plugins;        // folders of C++ plugins
  std::vector<std::string> python_passes;  // specs (plugins/python/python_passes.h)
  // Whether plugins that were found, and not named, may run too. They are listed anyway: that runs
  // nothing of them.
  bool allows_found = false;
  HostOptions host;
};

struct AvailablePasses {
  PassRegistry registry;
  std::vector<std::string> notes;  // what could not be had, and why: a sentence each
};

// Error (usage, input, run): something that was asked for by name is not there.
Result<AvailablePasses> available_passes(const PassSources& sources = {});

}  // namespace jointer
