#pragma once

#include <string>

#include "core/base/result.h"

namespace jointer {

// The main function of jointer-plugin-host: reads one request (docs/plugins.md) from standard input
// and answers with messages on standard output. Redirects the output of plugins to standard error.
// Returns the exit code: 0, or 4 if the request failed.
int serve_plugin();

// Writes `plugin.json`, which declares the passes in a plugin's library, to the library's folder.
// Error (usage): the library cannot be loaded. Error (run): the file cannot be written.
Result<void> describe_plugin(const std::string& library, const std::string& summary);

}  // namespace jointer
