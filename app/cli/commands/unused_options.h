#pragma once

// Options that have no effect in a command's mode are refused, never ignored. Conflicts that do not
// depend on the mode are declared where the options are added, with needs() and excludes().

#include <CLI/CLI.hpp>
#include <initializer_list>
#include <string_view>

#include "core/base/result.h"

namespace jointer::cli {

// The reason for refusing options that affect only tables or JSON, which are not printed if the
// file goes to standard output.
inline constexpr std::string_view kNoFigures =
    "`-` writes the file to standard output and nothing else; give a path instead";

// Error (usage): one of `options` was given to `command`. The message names the first one and ends
// with `why`.
Result<void> refuse_options(const CLI::App& command, std::initializer_list<const char*> options,
                            std::string_view why);

}  // namespace jointer::cli
