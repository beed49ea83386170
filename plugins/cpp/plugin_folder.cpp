#include "plugins/cpp/plugin_folder.h"

#include <filesystem>

#include "core/base/bytes.h"
#include "core/base/json_fields.h"
#include "plugins/hosted/declaration.h"

namespace jointer {
namespace {

constexpr const char* kFile = "/plugin.json";
constexpr const char* kFormat = "jointer-plugin";
constexpr auto kFields = std::tuple(json_field("id", &PluginFolder::id).required(),
                                    json_field("summary", &PluginFolder::summary),
                                    json_field("library", &PluginFolder::library).required(),
                                    json_field("interface", &PluginFolder::interface).required(),
                                    json_field("built_with", &PluginFolder::built_with).required());

}  // namespace

Result<PluginFolder> read_plugin_folder(const std::string& path) {
  const std::string file = path + kFile;
  std::error_code none;
  if (!std::filesystem::is_regular_file(file, none))
    return input_error(
        "{}: not a plugin; a plugin is a folder with a plugin.json, which the plugin's build "
        "writes",
        path);
  JOINTER_TRY(const PaddedBytes bytes, read_bytes(file));
  JOINTER_TRY(const OrderedJson json, parse_json(bytes.view(), file));
  if (!json.is_object())
    return input_error("{}: not a plugin description: expected a JSON object", file);
  PluginFolder folder;
  folder.path = path;
  JsonMembers members(json, file + ": not a plugin description");
  if (const OrderedJson* format = members.find("format"); format == nullptr || *format != kFormat)
    return input_error("{}: not a plugin description: expected `format` to be \"{}\"", file,
                       kFormat);
  read_fields(members, folder, kFields);
  if (members.find_set("passes") == nullptr) members.expect("passes", "a list");
  members.read_list("passes", [&](const OrderedJson& each, std::size_t /*at*/) {
    auto info = read_pass_info(each);
    if (info)
      folder.passes.push_back(*std::move(info));
    else
      members.refuse(fmt::format("{}: {}", file, info.error().message));
  });
  if (!members.problem().empty()) return input_error("{}", members.problem());
  if (folder.library.empty() || folder.library.find('/') != std::string::npos)
    return input_error("{}: `library` must be the name of a file in the same folder", file);
  return folder;
}

Result<void> write_plugin_folder(const PluginFolder& folder) {
  OrderedJson json, passes = OrderedJson::array();
  for (const PassInfo& each : folder.passes) passes.push_back(to_json(each));
  add_member(json, "format", kFormat);
  write_fields(json, folder, kFields);
  add_member(json, "passes", std::move(passes));
  return write_bytes((folder.path.empty() ? "." : folder.path) + kFile, json.dump(2) + '\n');
}

}  // namespace jointer
