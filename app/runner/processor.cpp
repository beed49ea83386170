#include "app/runner/processor.h"

#include <ATen/Parallel.h>
#include <ATen/cpu/Utils.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/ones.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "core/base/environment.h"
#include "core/process/spawn.h"

namespace jointer::runner {
namespace {

constexpr const char* kVariable = "ONEDNN_MAX_CPU_ISA";
constexpr const char* kWithoutTiles = "AVX512_CORE_BF16";  // the same as in jointer.amx

bool claims_tile_registers() {
#if defined(__x86_64__)
  unsigned a = 7, b = 0, c = 0, d = 0;
  asm volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
  constexpr unsigned kAmxTile = 1U << 24;
  return (d & kAmxTile) != 0;
#else
  return false;
#endif
}

}  // namespace

void avoid_trapping_instructions(char** argv) {
  if (!claims_tile_registers() || std::getenv(kVariable) != nullptr) return;
  keep_exit_statuses();
  const pid_t child = ::fork();
  if (child < 0) return;
  if (child == 0) {
    at::set_num_threads(1);
    at::cpu::init_amx();
    const at::Tensor ones = at::ones({64, 64}, at::kBFloat16);
    at::mm(ones, ones);
    ::_exit(0);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGILL) return;
  ::setenv(kVariable, kWithoutTiles, 1);
  // This preserves argv[0], the name that process lists show.
  ::execv(this_program().c_str(), argv);
  std::perror("jointer-runner: cannot restart without AMX");
}

}  // namespace jointer::runner
