// jointer: the command-line program.

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/cli/commands/commands.h"
#include "app/cli/commands/options.h"
#include "app/cli/usage_message.h"
#include "core/base/environment.h"

namespace {

using jointer::cli::ExitCode;

// Leaves one blank line between groups of options; CLI11 leaves two.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override {
    return CLI::detail::find_and_replace(CLI::Formatter::make_help(app, std::move(name), mode),
                                         "\n\n\n", "\n\n");
  }
};

// `jointer FILE` opens the file in the desktop, if that is installed next to this program or on
// PATH.
int open_in_desktop(const char* program, char** arguments) {
  std::string desktop = jointer::sibling_program("jointer-desktop");
  if (!std::filesystem::exists(desktop)) desktop = "jointer-desktop";
  arguments[0] = desktop.data();
  ::execvp(desktop.c_str(), arguments);
  fmt::print(stderr,
             "{}: jointer-desktop is not installed; `jointer info FILE` and `jointer memory FILE` "
             "work without it\n",
             program);
  return ExitCode::run_failed;
}

int run(int argc, char** argv) {
  // End immediately. write_bytes leaves no incomplete output file and, if the file system supports
  // unnamed files, no temporary one.
  std::signal(SIGINT, [](int) { ::_exit(ExitCode::interrupted); });

  CLI::App program{"Jointer: a workbench for PyTorch training graphs"};
  program.name("jointer");
  auto formatter = std::make_shared<HelpFormatter>();
  formatter->label("Positionals", "Arguments");
  formatter->label("SUBCOMMAND", "COMMAND");
  program.formatter(std::move(formatter));  // inherited by the commands, like the group
  program.group("Commands");
  program.set_version_flag("--version", std::string("jointer ") + JOINTER_VERSION);
  program.require_subcommand(1);
  int exit_code = ExitCode::done;
  jointer::cli::add_info_command(program, exit_code);
  jointer::cli::add_memory_command(program, exit_code);
  jointer::cli::add_overlap_command(program, exit_code);
  jointer::cli::add_sac_command(program, exit_code);
  jointer::cli::add_bench_command(program, exit_code);
  jointer::cli::add_apply_command(program, exit_code);
  jointer::cli::add_passes_command(program, exit_code);
  jointer::cli::add_diff_command(program, exit_code);
  jointer::cli::add_export_command(program, exit_code);
  jointer::cli::add_calibrate_command(program, exit_code);
  jointer::cli::add_spmd_command(program, exit_code);
  jointer::cli::add_query_command(program, exit_code);
  jointer::cli::add_kernels_command(program, exit_code);
  jointer::cli::add_capture_command(program, exit_code);
  jointer::cli::refuse_empty_values(program);
  program.footer(
      "`jointer help COMMAND` describes a command. `jointer FILE` opens the file in the desktop "
      "application.");

  std::vector<const char*> arguments(argv, argv + argc);
  const auto commands = program.get_subcommands([](const CLI::App*) { return true; });
  const auto is_command = [&](std::string_view word) {
    return std::ranges::any_of(
        commands, [&](const CLI::App* command) { return command->get_name() == word; });
  };
  // `help` and `help COMMAND` are the same as `--help` and `COMMAND --help`.
  if (argc >= 2 && std::string_view(argv[1]) == "help") {
    if (argc > 3)
      return jointer::cli::report(
          {jointer::Error::Kind::usage,
           fmt::format(
               "help: unexpected argument `{}`; `jointer help COMMAND` describes one command",
               argv[3])});
    if (argc == 3 && argv[2][0] != '-' && !is_command(argv[2]))
      return jointer::cli::report(
          {jointer::Error::Kind::usage, jointer::cli::no_such_command(program, argv[2])});
    arguments.erase(arguments.begin() + 1);
    arguments.push_back("--help");
  } else if (argc >= 2 && argv[1][0] != '-' && !is_command(argv[1])) {
    if (std::filesystem::exists(argv[1])) return open_in_desktop("jointer", argv);
    return jointer::cli::report(
        {jointer::Error::Kind::usage, jointer::cli::not_a_command(program, argv[1])});
  }
  try {
    program.parse(static_cast<int>(arguments.size()), arguments.data());
  } catch (const CLI::Success& help) {
    return program.exit(help);
  } catch (const CLI::ParseError& error) {
    return jointer::cli::report(
        {jointer::Error::Kind::usage, jointer::cli::usage_message(program, error)});
  }
  // Output that was truncated by a full disk must not be mistaken for a short answer.
  const bool has_answer = exit_code == ExitCode::done || exit_code == ExitCode::negative_answer;
  if (has_answer && (std::fflush(stdout) != 0 || std::ferror(stdout) != 0))
    return jointer::cli::report(
        {jointer::Error::Kind::run, fmt::format("standard output: {}", std::strerror(errno))});
  return exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    // Most likely, memory has run out, so do not allocate here.
    std::fprintf(stderr, "jointer: %s\n", error.what());
    return ExitCode::run_failed;
  }
}
