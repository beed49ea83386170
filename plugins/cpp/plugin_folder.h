#pragma once

// A plugin as it lies on disk: a folder with a `plugin.json` beside its shared object. Reading it
// runs nothing of the plugin.

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/pass/pass.h"

namespace jointer {

struct PluginFolder {
  std::string id;       // the library's name without its ending
  std::string summary;  // one sentence
  std::string path;     // of the folder
  std::string library;  // in it
  std::uint32_t interface = 0;
  std::string built_with;
  std::vector<PassInfo> passes;

  [[nodiscard]] std::string library_path() const { return path + '/' + library; }
};

// Error (input): there is no description, or it is not as it should be. Whether the version fits is
// not asked.
Result<PluginFolder> read_plugin_folder(const std::string& path);

// Error (run): it cannot be written.
Result<void> write_plugin_folder(const PluginFolder& folder);

}  // namespace jointer
