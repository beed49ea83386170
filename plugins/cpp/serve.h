#pragma once

#include <string>

#include "core/base/result.h"

namespace jointer {

// What jointer-plugin-host does: answers the one request on its standard input (docs/plugins.md)
// with messages on its standard output. What a plugin prints goes to the standard error. The exit
// code.
int serve_plugin();

// Writes the `plugin.json` of a library into its folder, from what the library itself declares.
// Error (usage): it cannot be loaded. Error (run): the file cannot be written.
Result<void> describe_plugin(const std::string& library, const std::string& summary);

}  // namespace jointer
