#include "plugins/cpp/library.h"

#include <dlfcn.h>

#include <cstring>
#include <exception>

#include "plugins/cpp/plugin.h"
#include "plugins/cpp/plugin_version.h"

namespace jointer {
namespace {

Result<void> check(const PluginInterface* plugin) {
  if (plugin == nullptr)
    return fail(Error::Kind::usage, "the entry point returns null; define it with JOINTER_PLUGIN");
  JOINTER_CHECK(check_plugin_version(
      plugin->version, plugin->built_with == nullptr ? "an unknown version" : plugin->built_with));
  if (plugin->sizes != PluginInterface().sizes)
    return fail(Error::Kind::usage, "built with different Jointer headers; rebuild the plugin");
  if (plugin->make_passes == nullptr)
    return fail(Error::Kind::usage,
                "make_passes is null; define the entry point with JOINTER_PLUGIN");
  return {};
}

}  // namespace

void PluginLibrary::Close::operator()(void* handle) const {
  ::dlclose(handle);
}

Result<PluginLibrary> PluginLibrary::open(const std::string& path) {
  PluginLibrary library;
  // RTLD_NOW reports missing symbols here. With RTLD_LAZY, they would end the process later.
  library.handle_.reset(::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (!library.handle_) return fail(Error::Kind::usage, "cannot be loaded: {}", ::dlerror());
  void* const symbol = ::dlsym(library.handle_.get(), kPluginEntry);
  if (symbol == nullptr)
    return fail(Error::Kind::usage,
                "not a plugin: there is no entry point `{}`; define it with JOINTER_PLUGIN",
                kPluginEntry);
  PluginEntry entry = nullptr;
  static_assert(sizeof entry == sizeof symbol);
  std::memcpy(&entry, &symbol, sizeof entry);
  try {
    const PluginInterface* const plugin = entry();
    JOINTER_CHECK(check(plugin));
    library.passes_ = plugin->make_passes();
  } catch (const std::exception& thrown) {
    return fail(Error::Kind::usage, "the entry point or make_passes threw an exception: {}",
                thrown.what());
  } catch (...) {
    return fail(Error::Kind::usage,
                "the entry point or make_passes threw an object that is not a std::exception");
  }
  return library;
}

}  // namespace jointer
