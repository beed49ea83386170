#include "app/runner/device_choice.h"

#include <utility>

#include "core/base/counted.h"

namespace jointer::runner {

Result<int> choose_device(int local_rank, int count, bool each_task_has_one) {
  const int index = each_task_has_one && count == 1 ? 0 : local_rank;
  if (index < count) return index;
  return fail(
      Error::Kind::run,
      "local rank {} sees only {}, and each rank needs its own; --solo RANK runs one rank alone, "
      "and --on cpu needs no GPU",
      local_rank, counted(static_cast<std::size_t>(count), "CUDA device"));
}

std::string explain_unusable(std::string error, ComputeMode mode) {
  switch (mode) {
    case ComputeMode::shared:
      return error;
    case ComputeMode::exclusive_thread:
    case ComputeMode::exclusive:
      return std::move(error) +
             "; the GPU is in exclusive compute mode, so only one process at a time can use it; "
             "wait for the other process, or allow several with `nvidia-smi -c DEFAULT`";
    case ComputeMode::prohibited:
      return std::move(error) +
             "; the GPU is in prohibited compute mode; `nvidia-smi -c DEFAULT` allows its use";
  }
  return error;
}

}  // namespace jointer::runner
