#include "app/cli/commands/plugin_options.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

#include "app/cli/commands/checks.h"
#include "app/cli/commands/unused_options.h"
#include "core/base/bytes.h"
#include "plugins/python/python_passes.h"

namespace jointer::cli {
void PluginOptions::add_to(CLI::App& command) {
  const HelpGroup group(command, "Plugins");
  command
      .add_option("--plugin", plugins,
                  "Folder of a C++ plugin, whose passes become available; repeatable")
      ->type_name("FOLDER")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command
      .add_option("--python-pass", python_passes,
                  "Pass in Python: module:function, file.py:function or file.py; repeatable "
                  "(docs/plugins.md)")
      ->type_name("SPEC")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command.add_flag("--allow-plugins", allows_found,
                   "Also allow passes from installed plugins that --plugin does not name");
  command
      .add_option("--pass-deadline", deadline_s,
                  "Stop a plugin pass or a Python pass after this time; default: 600")
      ->type_name("SECONDS")
      ->check(positive_number());
  command
      .add_option("--pass-memory", memory,
                  "Maximum memory of a plugin pass or a Python pass, such as 16GiB; default: three "
                  "quarters of the memory that this process may use")
      ->type_name("BYTES");
}

Result<void> PluginOptions::refuse(const CLI::App& command, std::string_view why) {
  return refuse_options(
      command, {"--plugin", "--python-pass", "--allow-plugins", "--pass-deadline", "--pass-memory"},
      why);
}

Result<PassSources> PluginOptions::sources() const {
  PassSources sources{
      .plugins = plugins, .python_passes = python_passes, .allows_found = allows_found, .host = {}};
  constexpr double kLongest = 1e9;  // about 30 years
  sources.host.limits.deadline =
      std::chrono::milliseconds(std::llround(std::min(deadline_s, kLongest) * 1000));
  if (!memory.empty()) {
    JOINTER_TRY(sources.host.limits.memory_bytes,
                bytes_of_option("--pass-memory", memory, "a size such as 16GiB", 1));
  }
  sources.host.log = [](std::string_view pass, std::string_view line) {
    fmt::print(stderr, "{}{}{}\n", pass, pass.empty() ? "" : ": ", line);
  };
  return sources;
}

PluginOptions PluginOptions::absolute() const {
  PluginOptions copy = *this;
  for (std::string& each : copy.plugins) each = absolute_path(each);
  for (std::string& each : copy.python_passes) each = absolute_spec(each);
  return copy;
}

std::vector<std::string> PluginOptions::other_arguments() const {
  std::vector<std::string> words;
  if (allows_found) words.emplace_back("--allow-plugins");
  if (deadline_s != PluginOptions().deadline_s)
    words.insert(words.end(), {"--pass-deadline", fmt::format("{}", deadline_s)});
  if (!memory.empty()) words.insert(words.end(), {"--pass-memory", memory});
  return words;
}

}  // namespace jointer::cli
