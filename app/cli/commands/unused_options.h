#pragma once

// Options that have no effect in some mode of a command: refused there, never ignored. Options that
// always need or exclude one another are declared so with needs() and excludes().

#include <CLI/CLI.hpp>
#include <initializer_list>
#include <string_view>

#include "core/base/result.h"

namespace jointer::cli {

// Why an option that changes the figures is refused where they are not printed.
inline constexpr std::string_view kNoFigures =
    "standard output is a file's content here (`-`), without the figures; write the file elsewhere";

// Error (usage): the first of `options` that `command` was given, followed by `why`.
Result<void> refuse_options(const CLI::App& command, std::initializer_list<const char*> options,
                            std::string_view why);

}  // namespace jointer::cli
