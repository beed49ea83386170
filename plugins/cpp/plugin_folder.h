#pragma once

// Reads and writes the description of a plugin. On disk, a plugin is a folder with a shared object
// and a `plugin.json`. Reading the description does not run the plugin's code.

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/pass/pass.h"

namespace jointer {

struct PluginFolder {
  std::string id;       // the library's name without its extension
  std::string summary;  // one sentence
  std::string path;     // path of the folder
  std::string library;  // name of a file in the folder
  std::uint32_t interface = 0;
  std::string built_with;
  std::vector<PassInfo> passes;

  [[nodiscard]] std::string library_path() const { return path + '/' + library; }
};

// Reads a description but does not check its version. Error (input): the description is missing or
// invalid.
Result<PluginFolder> read_plugin_folder(const std::string& path);

// Error (run): the file cannot be written.
Result<void> write_plugin_folder(const PluginFolder& folder);

}  // namespace jointer
