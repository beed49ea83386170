// jointer capture -- COMMAND: runs a training script with the capture helper.

#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/cli/commands/commands.h"
#include "app/cli/commands/options.h"
#include "app/cli/commands/outputs.h"
#include "core/process/python.h"
#include "core/process/run_child.h"

namespace jointer::cli {
namespace {

struct CaptureCommand {
  std::string out = "captures", python = "python3";
  bool pair = false, each_pass = false;
  std::vector<std::string> command;
};

// True if this Python runs, but has no torch. The capture helper would then end in a stack trace.
bool lacks_torch(const std::string& python) {
  bool is_missing = false;
  ChildOptions child;
  child.command = {python, "-c",
                   "import importlib.util as u; u.find_spec('torch') or print('no torch')"};
  child.on_line = [&](std::string_view line) { is_missing |= line == "no torch"; };
  const auto ended = run_child(std::move(child), {});
  return ended && ended->end.succeeded() && is_missing;
}

Result<int> run(const CaptureCommand& options) {
  JOINTER_CHECK(check_output_folder(options.out));
  // If Jointer's resources lack its Python package, Python looks for one that pip installed.
  if (const std::string path = python_path(); !path.empty())
    ::setenv("PYTHONPATH", path.c_str(), 1);
  if (lacks_torch(options.python))
    return fail(Error::Kind::run,
                "torch is not installed for Python `{}`; specify an interpreter that has torch "
                "with --python",
                options.python);
  std::vector<std::string> words{options.python, "-m", "jointer", "run", "--out", options.out};
  if (options.pair) words.emplace_back("--pair");
  if (options.each_pass) words.emplace_back("--each-pass");
  words.emplace_back("--");
  words.insert(words.end(), options.command.begin(), options.command.end());
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execvp(arguments.front(), arguments.data());
  return fail(Error::Kind::run, "cannot run Python `{}`: {}; specify an interpreter with --python",
              options.python, std::strerror(errno));
}

}  // namespace

void add_capture_command(CLI::App& program, int& exit_code) {
  auto options = std::make_shared<CaptureCommand>();
  CLI::App* command = program.add_subcommand("capture",
                                             "Runs a training script and captures each joint graph "
                                             "that it compiles, and each graph that it traces");
  command->add_option("--out", options->out, "Folder for the captures; default: captures")
      ->type_name("FOLDER");
  command->add_flag("--pair", options->pair, "Also capture the pairs that partitioners make");
  command->add_flag("--each-pass", options->each_pass,
                    "Also capture torchtitan's training step after each of its graph passes");
  command
      ->add_option("--python", options->python,
                   "Python interpreter that has torch; default: python3")
      ->type_name("FILE");
  command
      ->add_option("COMMAND", options->command,
                   "After `--`: the command that runs the script, with python or torchrun")
      ->type_name("")
      ->required();
  command->callback([options, &exit_code] { exit_code = finish(run(*options)); });
}

}  // namespace jointer::cli
