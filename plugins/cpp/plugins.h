#pragma once

// Finds C++ plugins by their descriptions, and adds their passes to a registry. Passes are listed
// without loading the plugin, and run in a separate process.

#include <span>
#include <string>
#include <vector>

#include "core/pass/registry.h"
#include "plugins/hosted/hosted_pass.h"

namespace jointer {

// A plugin whose passes were not added to the registry, and the reason.
struct PluginError {
  std::string path;
  std::string message;  // one sentence
};

// The folders to search for plugins: those of $JOINTER_PLUGIN_PATH (separated by colons), then the
// user's (`plugins` in data_folder()), then the installation's (lib/jointer/plugins). Each folder
// contains one folder per plugin.
std::vector<std::string> plugin_search_path();

// Adds the passes of one plugin. The plugin's library is loaded only when one of its passes runs.
// Error (input, usage): the description cannot be read, the library is missing or was built for a
// different Jointer, or a name is already in use; the message names the folder. In that case,
// none of the plugin's passes are added.
Result<void> add_plugin(PassRegistry& registry, const std::string& folder,
                        const HostOptions& options = {});

// Adds every plugin in the folders of a search path, in the order of the path and by name within
// each folder. Skips folders that do not exist. Returns the plugins that could not be added.
std::vector<PluginError> add_plugins(PassRegistry& registry,
                                     std::span<const std::string> search_path,
                                     const HostOptions& options = {});

}  // namespace jointer
