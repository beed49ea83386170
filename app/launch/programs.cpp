#include "app/launch/programs.h"

#include "core/process/own_program.h"
#include "core/process/spawn.h"

namespace jointer {

Result<ProgramCommand> runner_program() {
  JOINTER_TRY(std::string program,
              find_own_program({.name = "jointer-runner",
                                .purpose = "runs the ranks of a benchmark",
                                .variable = "JOINTER_RUNNER",
                                .if_missing = "build it with LibTorch, set JOINTER_RUNNER to its "
                                              "path, or use the backend `python`"}));
  return ProgramCommand{{std::move(program)}, {}};
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
