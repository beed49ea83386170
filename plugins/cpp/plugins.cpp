#include "plugins/cpp/plugins.h"

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "core/base/bytes.h"
#include "core/base/environment.h"
#include "core/process/own_program.h"
#include "plugins/cpp/plugin_folder.h"
#include "plugins/cpp/plugin_version.h"

namespace jointer {
namespace {

namespace fs = std::filesystem;

Result<ProgramCommand> plugin_host() {
  JOINTER_TRY(std::string program,
              find_own_program({.name = "jointer-plugin-host",
                                .purpose = "runs plugins",
                                .variable = "JOINTER_PLUGIN_HOST",
                                .if_missing = "set JOINTER_PLUGIN_HOST to its path"}));
  return ProgramCommand{{std::move(program)}, {}};
}

Result<void> check(const PluginFolder& folder) {
  JOINTER_CHECK(check_plugin_version(folder.interface, folder.built_with));
  std::error_code status;
  if (!fs::is_regular_file(folder.library_path(), status))
    return fail(Error::Kind::usage, "the library {} does not exist; rebuild the plugin",
                folder.library);
  return {};
}

Result<void> add_passes(PassRegistry& registry, const PluginFolder& folder,
                        const HostOptions& options) {
  PassRegistry with = registry;  // so that either all passes or none are added
  for (PassInfo info : folder.passes) {
    info.source = "plugin: " + folder.path;
    HostedPass hosted{.info = std::move(info), .program = plugin_host, .request = {}};
    hosted.request = {{"library", folder.library_path()}, {"function", hosted.info.name}};
    JOINTER_CHECK(with.add(make_hosted_pass(std::move(hosted), options)));
  }
  registry = std::move(with);
  return {};
}

}  // namespace

std::vector<std::string> plugin_search_path() {
  std::vector<std::string> path;
  std::istringstream named(environment_variable("JOINTER_PLUGIN_PATH"));
  for (std::string folder; std::getline(named, folder, ':');)
    if (!folder.empty()) path.push_back(folder);
  path.push_back(data_folder() + "/plugins");
  const fs::path self = this_program();
  if (!self.empty())
    path.push_back((self.parent_path() / "../lib/jointer/plugins").lexically_normal().string());
  return path;
}

Result<void> add_plugin(PassRegistry& registry, const std::string& folder,
                        const HostOptions& options) {
  JOINTER_TRY(const PluginFolder described, read_plugin_folder(absolute_path(folder)));
  auto fits = check(described);
  if (fits) fits = add_passes(registry, described, options);
  if (!fits) return fail(fits.error().kind, "{}: {}", folder, fits.error().message);
  return {};
}

std::vector<PluginError> add_plugins(PassRegistry& registry,
                                     std::span<const std::string> search_path,
                                     const HostOptions& options) {
  std::vector<PluginError> errors;
  for (const std::string& folder : search_path) {
    std::vector<std::string> plugins;
    std::error_code status;
    for (fs::directory_iterator it(folder, status), last; !status && it != last;
         it.increment(status))
      if (std::error_code ignored; it->is_directory(ignored))
        plugins.push_back(it->path().string());
    std::ranges::sort(plugins);
    for (const std::string& plugin : plugins)
      if (auto added = add_plugin(registry, plugin, options); !added)
        errors.push_back({.path = plugin, .message = std::move(added).error().message});
  }
  return errors;
}

}  // namespace jointer
