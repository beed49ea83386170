// jointer-runner-cuda: runs one rank of a benchmark on a CUDA device or, if none can be used and
// the user did not request one, on the CPU. jointer-runner starts it.

#include <cstdio>
#include <exception>

#include "app/runner/cuda/cuda_platform.h"
#include "app/runner/processor.h"
#include "app/runner/session.h"

int main(int argc, char** argv) {
  jointer::runner::avoid_trapping_instructions(argv);
  try {
    return jointer::runner::run_rank(argc, argv, jointer::runner::make_cpu_platform,
                                     jointer::runner::make_cuda_platform,
                                     jointer::runner::why_no_cuda_device());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "jointer-runner: %s\n", error.what());
    return 4;
  }
}
