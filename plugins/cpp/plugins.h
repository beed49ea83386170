#pragma once

// C++ plugins: found by their descriptions, listed without being loaded, run in a process of their
// own.

#include <span>
#include <string>
#include <vector>

#include "core/pass/registry.h"
#include "plugins/hosted/hosted_pass.h"

namespace jointer {

// Why a plugin's passes are not in the registry.
struct PluginError {
  std::string path;
  std::string message;  // one sentence
};

// Where plugins are looked for: the folders of $JOINTER_PLUGIN_PATH (with colons between), then a
// person's (`plugins` in data_folder()), then the installation's (lib/jointer/plugins). Each holds
// one folder a plugin.
std::vector<std::string> plugin_search_path();

// Adds the passes of one plugin. Nothing of it is loaded before one of its passes runs. Error
// (input, usage), with the folder's name: its description cannot be read, its library is not
// there, it was built for another Jointer, a name is taken; none of its passes is added then.
Result<void> add_plugin(PassRegistry& registry, const std::string& folder,
                        const HostOptions& options = {});

// Adds every plugin in the folders of a search path, in their order, by name in each; gives those
// that could not be added. A folder that is not there holds none.
std::vector<PluginError> add_plugins(PassRegistry& registry,
                                     std::span<const std::string> search_path,
                                     const HostOptions& options = {});

}  // namespace jointer
