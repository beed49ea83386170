#include "plugins/cpp/plugin_folder.h"

#include <filesystem>

#include "core/base/bytes.h"
#include "plugins/hosted/declaration.h"

namespace jointer {
namespace {

constexpr const char* kFile = "/plugin.json";
constexpr const char* kFormat = "jointer-plugin";

}  // namespace

Result<PluginFolder> read_plugin_folder(const std::string& path) {
  const std::string file = path + kFile;
  std::error_code none;
  if (!std::filesystem::is_regular_file(file, none))
    return input_error(
        "{}: not a plugin: a plugin is a folder with a plugin.json, which its build writes", path);
  JOINTER_TRY(const PaddedBytes bytes, read_bytes(file));
  JOINTER_TRY(const OrderedJson json, parse_json(bytes.view(), file));
  if (!json.is_object()) return input_error("{}: it does not describe a plugin", file);
  PluginFolder folder;
  folder.path = path;
  try {
    if (json.at("format") != kFormat) return input_error("{}: it does not describe a plugin", file);
    folder.id = json.at("id").get<std::string>();
    folder.library = json.at("library").get<std::string>();
    folder.interface = json.at("interface").get<std::uint32_t>();
    folder.built_with = json.at("built_with").get<std::string>();
    folder.summary = json.value("summary", "");
    for (const OrderedJson& each : json.at("passes")) {
      auto info = read_pass_info(each);
      if (!info) return input_error("{}: {}", file, info.error().message);
      folder.passes.push_back(*std::move(info));
    }
  } catch (const OrderedJson::exception& error) {
    // Strips the library's prefix: "[json.exception.type_error.302] type must be string".
    const std::string_view what = error.what();
    const std::size_t at = what.find("] ");
    return input_error("{}: it does not describe a plugin: {}", file,
                       at == std::string_view::npos ? what : what.substr(at + 2));
  }
  if (folder.library.empty() || folder.library.find('/') != std::string::npos)
    return input_error("{}: its library is not in its folder", file);
  return folder;
}

Result<void> write_plugin_folder(const PluginFolder& folder) {
  OrderedJson json{{"format", kFormat},
                   {"id", folder.id},
                   {"summary", folder.summary},
                   {"library", folder.library},
                   {"interface", folder.interface},
                   {"built_with", folder.built_with},
                   {"passes", OrderedJson::array()}};
  for (const PassInfo& each : folder.passes) json["passes"].push_back(to_json(each));
  return write_bytes((folder.path.empty() ? "." : folder.path) + kFile, json.dump(2) + '\n');
}

}  // namespace jointer
