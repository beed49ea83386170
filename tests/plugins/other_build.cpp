// A plugin with the right interface, built with a different Jointer.

#include "plugins/cpp/plugin.h"

extern "C" __attribute__((visibility("default"))) const jointer::PluginInterface* jointer_plugin() {
  static const jointer::PluginInterface plugin{.built_with = "Jointer 0.0.1, gcc 2"};
  return &plugin;
}
