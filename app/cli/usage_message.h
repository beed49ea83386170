#pragma once

// Error messages for invalid command lines.

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

namespace jointer::cli {

// One line: what is wrong with the command line that `program` has just parsed, and what to do.
std::string usage_message(const CLI::App& program, const CLI::ParseError& error);

// Makes the commands of `program` refuse empty values of options, which would otherwise have no
// effect: `--budget "$LIMIT"` in a script that forgot to set LIMIT.
void refuse_empty_values(CLI::App& program);

// The message for a first word that is neither a command nor a file.
std::string not_a_command(const CLI::App& program, std::string_view word);
// The message for a word after `help` that is not a command.
std::string no_such_command(const CLI::App& program, std::string_view word);

}  // namespace jointer::cli
