#include "app/launch/programs.h"

#include "core/base/environment.h"
#include "core/process/spawn.h"

namespace jointer {

Result<ProgramCommand> runner_program() {
  constexpr const char* kName = "jointer-runner";
  if (const std::string named = environment_variable("JOINTER_RUNNER"); !named.empty()) {
    const std::string found = find_program(named);
    if (!can_run(found))
      return fail(Error::Kind::run,
                  "JOINTER_RUNNER is `{}`, which was not found or is not executable; set it to the "
                  "path of {}",
                  named, kName);
    return ProgramCommand{{found}, {}};
  }
  if (const std::string beside = sibling_program(kName); can_run(beside))
    return ProgramCommand{{beside}, {}};
  if (const std::string found = find_program(kName); !found.empty())
    return ProgramCommand{{found}, {}};
  return fail(Error::Kind::run,
              "{} is neither next to this program nor on PATH; build it with LibTorch, set "
              "JOINTER_RUNNER to its path, or use the backend `python`",
              kName);
}

Result<std::string> nsys_program() {
  std::string found = find_program("nsys");
  if (found.empty())
    return fail(
        Error::Kind::run,
        "option --nsys: nsys is not on PATH; install Nsight Systems, or add the `bin` folder "
        "of its installation or of the CUDA toolkit to PATH");
  return found;
}

}  // namespace jointer
