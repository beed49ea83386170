#include "app/cli/commands/plugin_options.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

#include "core/pass/parameter.h"

namespace jointer::cli {
namespace {

// In quotes that a shell takes as they are.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace

void PluginOptions::add_to(CLI::App& command) {
  command.add_option("--plugin", plugins, "Passes of the C++ plugin in this folder; repeatable")
      ->type_name("FOLDER")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command
      .add_option("--python-pass", python_passes,
                  "A pass in Python: module:function, file.py:function, or file.py; repeatable "
                  "(docs/plugins.md)")
      ->type_name("SPEC")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command.add_flag("--allow-plugins", allows_found,
                   "Also run passes of installed plugins that were found and not named");
  command
      .add_option("--pass-deadline", deadline_s,
                  "Seconds after which a pass of a plugin or in Python is ended")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command.add_option("--pass-memory", memory,
                     "Memory that such a pass may take, such as 16GiB; otherwise three quarters of "
                     "the machine's");
}

Result<PassSources> PluginOptions::sources() const {
  PassSources sources{
      .plugins = plugins, .python_passes = python_passes, .allows_found = allows_found, .host = {}};
  constexpr double kLongest = 1e9;  // 30 years
  sources.host.limits.deadline =
      std::chrono::milliseconds(std::llround(std::min(deadline_s, kLongest) * 1000));
  if (!memory.empty()) {
    const auto bytes = parse_byte_count(memory);
    if (!bytes || *bytes <= 0)
      return fail(Error::Kind::usage, "--pass-memory takes bytes, such as 16GiB; not `{}`", memory);
    sources.host.limits.memory_bytes = *bytes;
  }
  sources.host.log = [](std::string_view pass, std::string_view line) {
    fmt::print(stderr, "{}{}{}\n", pass, pass.empty() ? "" : ": ", line);
  };
  return sources;
}

std::string PluginOptions::text() const {
  std::string text;
  for (const std::string& each : plugins) text += " --plugin " + quoted(each);
  for (const std::string& each : python_passes) text += " --python-pass " + quoted(each);
  if (allows_found) text += " --allow-plugins";
  if (deadline_s != PluginOptions().deadline_s)
    text += fmt::format(" --pass-deadline {}", deadline_s);
  if (!memory.empty()) text += " --pass-memory " + quoted(memory);
  return text;
}

}  // namespace jointer::cli
