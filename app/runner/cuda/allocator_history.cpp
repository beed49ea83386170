// Torch calls an observer when an allocation fails, before the error unwinds the step, so that the
// snapshot has all tensors that were allocated at that moment. The observer only makes the
// snapshot: a library may catch the error and continue, so the session decides whether to write it.

#include "app/runner/cuda/allocator_history.h"

#include <c10/cuda/CUDACachingAllocator.h>
#include <torch/csrc/cuda/memory_snapshot.h>

#include <exception>
#include <optional>

#include "app/runner/support/torch_error.h"

namespace jointer::runner {
namespace {

// Limits a snapshot to about 20 MB. This many entries cover several hundred steps of a small graph,
// or a few steps of the largest graphs.
constexpr std::size_t kMaxEntries = 200'000;

}  // namespace

struct AllocatorHistory::State {
  bool is_kept = false;
  std::string bytes;     // empty: memory has not run out, or no history was kept then
  std::string unusable;  // why there is no snapshot; empty if there can be one
};

AllocatorHistory::AllocatorHistory() : state_(std::make_shared<State>()) {
  const auto observe = [state = state_](std::int64_t, std::size_t, std::size_t, std::size_t) {
    state->bytes.clear();
    if (!state->is_kept) return;
    state->unusable.clear();
    try {
      state->bytes = torch::cuda::_memory_snapshot_pickled();
    } catch (const std::exception& error) {
      state->unusable = first_line(error.what());
    }
  };
  try {
    c10::cuda::CUDACachingAllocator::attachOutOfMemoryObserver(observe);
  } catch (const c10::Error& error) {  // thrown by backends such as cudaMallocAsync
    state_->unusable = summary(error);
  }
}

void AllocatorHistory::keep(bool keeps) {
  if (state_->is_kept == keeps) return;
  try {
    // Call stacks would be those of this program. Without a context, none are recorded.
    torch::cuda::_record_memory_history(keeps ? std::optional<std::string>("all") : std::nullopt,
                                        /*context=*/std::optional<std::string>(),
                                        /*stacks=*/"python", kMaxEntries);
    state_->is_kept = keeps;
  } catch (const c10::Error& error) {
    state_->unusable = summary(error);
  }
}

Result<std::string> AllocatorHistory::snapshot() const {
  if (!state_->unusable.empty()) return fail(Error::Kind::run, "{}", state_->unusable);
  return state_->bytes;
}

}  // namespace jointer::runner
