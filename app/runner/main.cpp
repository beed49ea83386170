// jointer-runner: runs one rank of a benchmark on the CPU. If the rank may run on a GPU, it starts
// jointer-runner-cuda in the same folder instead, so that this binary does not depend on CUDA
// libraries.

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <exception>
#include <string>
#include <system_error>

#include "app/runner/processor.h"
#include "app/runner/session.h"
#include "core/base/environment.h"
#include "core/bench/request.h"
#include "core/process/gpus.h"
#include "core/process/spawn.h"

namespace {

// True if the user chose the CPU, or chose no device and there is no GPU. Also true if the
// arguments are invalid, so that this program reports the error.
bool stays_on_cpu(int argc, char** argv) {
  const auto request = jointer::parse_runner_arguments({argv + 1, argv + argc});
  if (!request || request->on == jointer::RunOn::cpu) return true;
  return request->on == jointer::RunOn::automatic && jointer::visible_gpus() == 0;
}

// Starts jointer-runner-cuda in place of this program. Returns only if that fails, with the reason.
std::string start_on_gpu(char** argv) {
  const std::string other = jointer::sibling_program("jointer-runner-cuda");
  std::string reason = "the runner was built without CUDA";
  if (jointer::can_run(other)) {
    ::execv(other.c_str(), argv);
    reason = fmt::format("{} cannot be started ({})", other, std::system_category().message(errno));
  }
  return jointer::visible_gpus() > 0 ? "this machine has a GPU, but " + reason : reason;
}

}  // namespace

int main(int argc, char** argv) {
  jointer::runner::avoid_trapping_instructions(argv);
  try {
    std::string no_device;
    if (!stays_on_cpu(argc, argv)) no_device = start_on_gpu(argv);
    return jointer::runner::run_rank(argc, argv, jointer::runner::make_cpu_platform, nullptr,
                                     no_device);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "jointer-runner: %s\n", error.what());
    return 4;
  }
}
