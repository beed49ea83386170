// A plugin with a later interface.

#include "plugins/cpp/plugin.h"

extern "C" __attribute__((visibility("default"))) const jointer::PluginInterface* jointer_plugin() {
  static const jointer::PluginInterface plugin{.version = jointer::kPluginInterface + 1};
  return &plugin;
}
