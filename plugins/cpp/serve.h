#pragma once

#include <string>

#include "core/base/result.h"

namespace jointer {

// Runs jointer-plugin-host: answers one request on standard input (docs/plugins.md) with messages
// on standard output. Output of plugins goes to standard error. Returns the exit code.
int serve_plugin();

// Writes the `plugin.json` of a library into its folder, from the declarations in the library.
// Error (usage): it cannot be loaded. Error (run): the file cannot be written.
Result<void> describe_plugin(const std::string& library, const std::string& summary);

}  // namespace jointer
