#pragma once

// The interface of C++ plugins. A plugin is a folder with a shared object that contains passes, and
// a `plugin.json` that describes them (docs/plugins.md; plugins/example_cpp is a complete example).
//
//   std::vector<jointer::Pass> passes() { return {{.info = {.name = "mine", ...}, .run = mine}}; }
//   JOINTER_PLUGIN(passes)
//
// A plugin runs in jointer-plugin-host and uses the host's core/ and passes/ instead of linking
// them. It must therefore be built with the headers of the Jointer installation that loads it.
// `jointer_add_plugin`, which find_package(Jointer) defines, ensures this; the host refuses other
// plugins.

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/pass/pass.h"

namespace jointer {

// Incremented whenever PluginInterface or the interface between a Pass and its host changes.
inline constexpr std::uint32_t kPluginInterface = 1;

// The versions of Jointer and of the compiler that a plugin is built with, and the ABI of its
// standard library.
#define JOINTER_TEXT_OF(x) #x
#define JOINTER_TEXT(x) JOINTER_TEXT_OF(x)
#if defined(_GLIBCXX_USE_CXX11_ABI)
#define JOINTER_LIBRARY_ABI ", libstdc++ ABI " JOINTER_TEXT(_GLIBCXX_USE_CXX11_ABI)
#else
#define JOINTER_LIBRARY_ABI ""
#endif
#if defined(__clang__)
#define JOINTER_COMPILER "clang " JOINTER_TEXT(__clang_major__)
#else
#define JOINTER_COMPILER "gcc " JOINTER_TEXT(__GNUC__)
#endif
inline constexpr const char* kPluginBuild =
    "Jointer " JOINTER_VERSION ", " JOINTER_COMPILER JOINTER_LIBRARY_ABI;

// The result of the entry point. The offsets of the first two members never change, so a host of
// any version can read them.
struct PluginInterface {
  std::uint32_t version = kPluginInterface;
  const char* built_with = kPluginBuild;
  // The sizes of the types that the plugin and the host exchange. If they differ, the plugin was
  // built with different headers than the host.
  std::array<std::size_t, 4> sizes{sizeof(Graph), sizeof(Node), sizeof(Pass), sizeof(PassContext)};
  std::vector<Pass> (*make_passes)() = nullptr;
};

// The name and type of the entry point.
inline constexpr const char* kPluginEntry = "jointer_plugin";
using PluginEntry = const PluginInterface* (*)();

}  // namespace jointer

// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): an entry point must be at namespace scope
#define JOINTER_PLUGIN(make)                                                          \
  extern "C" __attribute__((visibility("default"))) const ::jointer::PluginInterface* \
  jointer_plugin() {                                                                  \
    static const ::jointer::PluginInterface plugin{.make_passes = (make)};            \
    return &plugin;                                                                   \
  }
