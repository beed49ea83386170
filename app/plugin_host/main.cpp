// jointer-plugin-host: runs one pass of a C++ plugin for the process that started it, and writes
// the descriptions of plugins at build time.

#include <fmt/core.h>

#include <cstdio>
#include <cstring>
#include <exception>

#include "plugins/cpp/serve.h"

namespace {

constexpr int kWrongUsage = 2;

int run(int argc, char** argv) {
  if (argc == 1) return jointer::serve_plugin();
  if ((argc != 3 && argc != 4) || std::strcmp(argv[1], "--describe") != 0) {
    fmt::print(stderr,
               "usage: jointer-plugin-host --describe LIBRARY [SUMMARY]\n"
               "Writes plugin.json to the folder of a plugin's library. Without arguments, answers "
               "a request on standard input.\n");
    return kWrongUsage;
  }
  const auto done = jointer::describe_plugin(argv[2], argc == 4 ? argv[3] : "");
  if (done) return 0;
  fmt::print(stderr, "jointer-plugin-host: {}\n", done.error().message);
  return 4;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "jointer-plugin-host: %s\n", error.what());
    return 4;
  }
}
