#pragma once

#include <cstdint>
#include <string_view>

#include "core/base/result.h"

namespace jointer {

// Checks that a plugin was built for this Jointer. Error (usage): the plugin interface or the build
// (kPluginBuild) differs; the message is one sentence.
Result<void> check_plugin_version(std::uint32_t interface, std::string_view built_with);

}  // namespace jointer
