#include "plugins/cpp/plugin_version.h"

#include "plugins/cpp/plugin.h"

namespace jointer {

Result<void> check_plugin_version(std::uint32_t interface, std::string_view built_with) {
  if (interface != kPluginInterface)
    return fail(Error::Kind::usage,
                "built for version {} of the plugin interface, but this Jointer has version {}; "
                "rebuild the plugin",
                interface, kPluginInterface);
  if (built_with != kPluginBuild)
    return fail(Error::Kind::usage,
                "built with {}, but this Jointer was built with {}; rebuild the plugin", built_with,
                kPluginBuild);
  return {};
}

}  // namespace jointer
