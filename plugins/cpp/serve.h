#pragma once

#include <string>

#include "core/base/result.h"

namespace jointer {

// The main function of jointer-plugin-host: reads one request from standard input (docs/plugins.md)
// and answers with messages on standard output. Output of plugins is redirected to standard error.
// Returns the exit code.
int serve_plugin();

// Writes `plugin.json` into the folder of a plugin's library, from the declarations in the library.
// Error (usage): the library cannot be loaded. Error (run): the file cannot be written.
Result<void> describe_plugin(const std::string& library, const std::string& summary);

}  // namespace jointer
