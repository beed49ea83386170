#include "app/launch/available_passes.h"

#include "passes/built_in.h"
#include "plugins/cpp/plugins.h"
#include "plugins/hosted/withheld.h"
#include "plugins/python/python_passes.h"

namespace jointer {
namespace {

// Returns a stand-in for a pass that was found but not named by the user.
Pass unnamed(const Pass& pass) {
  return withheld(pass, fmt::format("belongs to an installed plugin that is not enabled ({}); "
                                    "enable the plugin with --allow-plugins or --plugin FOLDER",
                                    pass.info.source));
}

// Adds plugins from the search path. A plugin that the user named is already registered, which is
// not an error.
void add_found(const PassSources& sources, AvailablePasses& available) {
  PassRegistry found;
  for (const PluginError& error : add_plugins(found, plugin_search_path(), sources.host))
    available.notes.push_back(error.message);
  for (const Pass& pass : found.passes()) {
    const Pass* known = available.registry.find(pass.info.name);
    if (known != nullptr && known->info.source == pass.info.source) continue;
    const auto added = available.registry.add(sources.allows_found ? pass : unnamed(pass));
    if (!added)
      available.notes.push_back(fmt::format("{}: {}", pass.info.source, added.error().message));
  }
}

}  // namespace

Result<AvailablePasses> available_passes(const PassSources& sources) {
  AvailablePasses available{.registry = built_in_passes(), .notes = {}};
  for (const std::string& folder : sources.plugins)
    JOINTER_CHECK(add_plugin(available.registry, folder, sources.host));
  JOINTER_CHECK(add_python_passes(available.registry, sources.python_passes, sources.host));
  add_found(sources, available);
  return available;
}

}  // namespace jointer
