#include "app/cli/commands/unused_options.h"

namespace jointer::cli {

Result<void> refuse_options(const CLI::App& command, std::initializer_list<const char*> options,
                            std::string_view why) {
  for (const char* option : options)
    if (command.count(option) > 0) return fail(Error::Kind::usage, "option {}: {}", option, why);
  return {};
}

}  // namespace jointer::cli
