#include "app/runner/cuda/nvtx.h"

#include <c10/cuda/CUDAException.h>
#include <cuda_profiler_api.h>
#include <nvtx3/nvToolsExt.h>

namespace jointer::runner {
namespace {

class NvtxRanges final : public ProfilerRanges {
 public:
  void start_recording() override { C10_CUDA_CHECK(cudaProfilerStart()); }
  void stop_recording() override { C10_CUDA_CHECK(cudaProfilerStop()); }
  void push(const std::string& name) override { nvtxRangePushA(name.c_str()); }
  void pop() override { nvtxRangePop(); }
};

}  // namespace

std::unique_ptr<ProfilerRanges> nvtx_ranges() {
  return std::make_unique<NvtxRanges>();
}

}  // namespace jointer::runner
