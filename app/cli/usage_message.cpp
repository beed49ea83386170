#include "app/cli/usage_message.h"

#include <fmt/format.h>

#include <optional>
#include <utility>
#include <vector>

#include "core/base/nearest_name.h"

namespace jointer::cli {
namespace {

// "--output" for "--output: ...".
std::string_view option_of(std::string_view message) {
  return message.starts_with('-') ? message.substr(0, message.find(':')) : std::string_view();
}

// The parts of `message` on either side of `middle`.
std::optional<std::pair<std::string, std::string>> around(const std::string& message,
                                                          std::string_view middle) {
  const std::size_t at = message.find(middle);
  if (at == std::string::npos) return std::nullopt;
  return std::pair(message.substr(0, at), message.substr(at + middle.size()));
}

// The command that was parsed, or the program if there is none.
const CLI::App& parsed_command(const CLI::App& program) {
  const auto commands = program.get_subcommands();
  return commands.empty() ? program : *commands.front();
}

std::string help_command(const CLI::App& program) {
  const CLI::App& command = parsed_command(program);
  if (&command == &program) return "`jointer --help` lists the commands";
  return fmt::format("`jointer {} --help` lists its options", command.get_name());
}

std::string unknown_option(const CLI::App& command, const std::string& word) {
  std::vector<std::string> held;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames()) held.push_back("--" + name);
  const std::vector<std::string_view> names(held.begin(), held.end());
  return fmt::format("there is no option {}{}", word,
                     nearest_name_question(word.substr(0, word.find('=')), names));
}

std::string unexpected(const CLI::App& program, const std::string& word) {
  const CLI::App& command = parsed_command(program);
  if (!word.starts_with('-'))
    return fmt::format("{}: unexpected argument `{}`; {}", command.get_name(), word,
                       help_command(program));
  return fmt::format("{}: {} {}", command.get_name(), unknown_option(command, word),
                     help_command(program));
}

// The message for an option that was given before the command, or without a command.
std::string not_of_the_program(const CLI::App& program, const std::string& word) {
  const CLI::App& command = parsed_command(program);
  if (&command != &program && command.get_option_no_throw(word) != nullptr)
    return fmt::format("option {}: goes after the command, as in `jointer {} ... {}`", word,
                       command.get_name(), word);
  return fmt::format("{} `jointer --help` lists the commands", unknown_option(program, word));
}

// The message for an option that was given without a value, or several times.
std::string wrong_count(const CLI::App& program, std::string_view name) {
  const CLI::Option* option = parsed_command(program).get_option_no_throw(std::string(name));
  if (option != nullptr && option->count() > 1)
    return fmt::format("option {}: given {} times; give it once", name, option->count());
  return fmt::format("option {}: expected a value; {}", name, help_command(program));
}

// "; did you mean overlap? the commands are info, memory".
std::string commands_text(const CLI::App& program, std::string_view word) {
  std::vector<std::string> held;
  for (const CLI::App* command : program.get_subcommands([](const CLI::App*) { return true; }))
    held.push_back(command->get_name());
  const std::vector<std::string_view> names(held.begin(), held.end());
  return fmt::format("{} the commands are {}", nearest_name_question(word, names),
                     fmt::join(held, ", "));
}

}  // namespace

std::string usage_message(const CLI::App& program, const CLI::ParseError& error) {
  const std::string message = error.what();
  const std::string_view option = option_of(message);
  const std::vector<std::string> before_command = program.remaining(false);
  if (!before_command.empty() && before_command.front().starts_with('-') &&
      before_command.front() != "--")
    return not_of_the_program(program, before_command.front());
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    const std::vector<std::string> words = program.remaining(true);
    if (!words.empty()) return unexpected(program, words.front());
  }
  if (!option.empty() && dynamic_cast<const CLI::ValidationError*>(&error) != nullptr)
    return fmt::format("option {}", message);
  if (!option.empty() && dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr)
    return wrong_count(program, option);
  if (dynamic_cast<const CLI::RequiresError*>(&error) != nullptr)
    if (const auto names = around(message, " requires "))
      return fmt::format("option {}: needs {}", names->first, names->second);
  if (dynamic_cast<const CLI::ExcludesError*>(&error) != nullptr)
    if (const auto names = around(message, " excludes "))
      return fmt::format("options {} and {} cannot be used together", names->first, names->second);
  // Values are checked before they are converted, so only flags can get here.
  if (dynamic_cast<const CLI::ConversionError*>(&error) != nullptr)
    if (const auto value = around(message, " = "))
      return fmt::format("option {}: expected no value, got `{}`",
                         value->first.substr(value->first.rfind(' ') + 1), value->second);
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr &&
      &parsed_command(program) == &program)
    return fmt::format("expected a command or a file; {}", help_command(program));
  return fmt::format("{}; {}", message, help_command(program));
}

void refuse_empty_values(CLI::App& program) {
  const CLI::Validator is_given(
      [](const std::string& value) {
        return value.empty() ? std::string("expected a value, got none") : std::string();
      },
      {});
  for (CLI::App* command : program.get_subcommands([](const CLI::App*) { return true; }))
    for (CLI::Option* option : command->get_options())
      // Without flags, graph_trainer uses its defaults.
      if (!option->get_positional() && option->get_items_expected_max() > 0 &&
          !option->check_lname("graph-trainer-flags"))
        option->check(is_given);
}

std::string not_a_command(const CLI::App& program, std::string_view word) {
  return fmt::format("`{}` is neither a command nor a file{}", word, commands_text(program, word));
}

std::string no_such_command(const CLI::App& program, std::string_view word) {
  return fmt::format("help: there is no command `{}`{}", word, commands_text(program, word));
}

}  // namespace jointer::cli
