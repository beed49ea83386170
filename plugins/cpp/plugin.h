#pragma once

// What a plugin is written against: passes of its own in a shared object, in a folder beside a
// `plugin.json` that says what is in it (docs/plugins.md; plugins/example_cpp is a whole one).
//
//   std::vector<jointer::Pass> passes() { return {{.info = {.name = "mine", ...}, .run = mine}}; }
//   JOINTER_PLUGIN(passes)
//
// A plugin runs in jointer-plugin-host, which has all of core/ and passes/: it is not linked with
// them, and finds them there. It must therefore be built with the headers of the very Jointer that
// loads it; `jointer_add_plugin` of find_package(Jointer) sees to that, and the host refuses
// others.

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/pass/pass.h"

namespace jointer {

// Counts up when PluginInterface, or what a Pass is to its host, changes.
inline constexpr std::uint32_t kPluginInterface = 1;

// Which Jointer and which compiler a plugin was built with.
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

// What the entry point gives. The first two members never move, so that a host can tell any
// version.
struct PluginInterface {
  std::uint32_t version = kPluginInterface;
  const char* built_with = kPluginBuild;
  // Of what plugin and host hand to each other: headers that are not the host's show here.
  std::array<std::size_t, 4> sizes{sizeof(Graph), sizeof(Node), sizeof(Pass), sizeof(PassContext)};
  std::vector<Pass> (*make_passes)() = nullptr;
};

// The entry point's name and type.
inline constexpr const char* kPluginEntry = "jointer_plugin";
using PluginEntry = const PluginInterface* (*)();

}  // namespace jointer

// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): an entry point must be outside of any function
#define JOINTER_PLUGIN(make)                                                          \
  extern "C" __attribute__((visibility("default"))) const ::jointer::PluginInterface* \
  jointer_plugin() {                                                                  \
    static const ::jointer::PluginInterface plugin{.make_passes = (make)};            \
    return &plugin;                                                                   \
  }
