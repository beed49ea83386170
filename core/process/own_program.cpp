#include "core/process/own_program.h"

#include "core/base/environment.h"
#include "core/process/spawn.h"

namespace jointer {

Result<std::string> find_own_program(const OwnProgram& program) {
  if (const std::string named = environment_variable(program.variable); !named.empty()) {
    const std::string found = find_program(named);
    if (!can_run(found))
      return fail(Error::Kind::run,
                  "{} is `{}`, which was not found or is not executable; set it to the path of {}",
                  program.variable, named, program.name);
    return found;
  }
  if (std::string beside = sibling_program(program.name); can_run(beside)) return beside;
  if (std::string found = find_program(program.name); !found.empty()) return found;
  return fail(Error::Kind::run, "{}, which {}, is neither next to this program nor on PATH; {}",
              program.name, program.purpose, program.if_missing);
}

}  // namespace jointer
