#include "app/cli/usage_message.h"

#include <fmt/format.h>

#include <vector>

#include "core/base/nearest_name.h"

namespace jointer::cli {
namespace {

// "--output" of "--output: ...".
std::string_view option_of(std::string_view message) {
  return message.starts_with('-') ? message.substr(0, message.find(':')) : std::string_view();
}

// The command that was parsed; the program where there is none.
const CLI::App& parsed_command(const CLI::App& program) {
  const auto commands = program.get_subcommands();
  return commands.empty() ? program : *commands.front();
}

std::string help_command(const CLI::App& program) {
  const CLI::App& command = parsed_command(program);
  if (&command == &program) return "`jointer --help` lists the commands";
  return fmt::format("`jointer {} --help` lists its options", command.get_name());
}

std::string unexpected(const CLI::App& program, const std::string& word) {
  const CLI::App& command = parsed_command(program);
  if (!word.starts_with('-'))
    return fmt::format("{}: unexpected argument `{}`; {}", command.get_name(), word,
                       help_command(program));
  std::vector<std::string> held;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames()) held.push_back("--" + name);
  const std::vector<std::string_view> names(held.begin(), held.end());
  return fmt::format("{}: there is no option {}{} {}", command.get_name(), word,
                     nearest_name_question(word.substr(0, word.find('=')), names),
                     help_command(program));
}

}  // namespace

std::string usage_message(const CLI::App& program, const CLI::ParseError& error) {
  const std::string message = error.what();
  const std::string_view option = option_of(message);
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    const std::vector<std::string> words = program.remaining(true);
    if (!words.empty()) return unexpected(program, words.front());
  }
  if (!option.empty() && dynamic_cast<const CLI::ValidationError*>(&error) != nullptr)
    return fmt::format("option {}", message);
  if (!option.empty() && dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr)
    return fmt::format("option {}: expected a value; {}", option, help_command(program));
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr &&
      &parsed_command(program) == &program)
    return fmt::format("expected a command or a file; {}", help_command(program));
  return fmt::format("{}; {}", message, help_command(program));
}

std::string not_a_command(const CLI::App& program, std::string_view word) {
  std::vector<std::string> held;
  for (const CLI::App* command : program.get_subcommands([](const CLI::App*) { return true; }))
    held.push_back(command->get_name());
  const std::vector<std::string_view> names(held.begin(), held.end());
  return fmt::format("`{}` is neither a command nor a file{} the commands are {}", word,
                     nearest_name_question(word, names), fmt::join(held, ", "));
}

}  // namespace jointer::cli
