// A CUDA device, accessed through torch: counters of the caching allocator, events on the compute
// stream, and CUDA graphs.

#include "app/runner/cuda/cuda_platform.h"

#include <ATen/Context.h>
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/CUDAEvent.h>
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>

#include <algorithm>
#include <cmath>

#include "app/runner/cuda/nccl.h"
#include "app/runner/kernels/attention.h"
#include "app/runner/support/torch_error.h"
#include "core/base/counted.h"

namespace jointer::runner {
namespace {

class EventMarks final : public Marks {
 public:
  explicit EventMarks(std::size_t count) {
    events_.reserve(count);
    for (std::size_t i = 0; i < count; ++i) events_.emplace_back(cudaEventDefault);
  }
  void mark(std::size_t index) override { events_[index].record(); }
  std::vector<std::int64_t> read() override {
    std::vector<std::int64_t> ns;
    ns.reserve(events_.size());
    if (!events_.empty()) events_.back().synchronize();
    for (at::cuda::CUDAEvent& event : events_) {
      event.synchronize();
      constexpr double kNanosecondsInMs = 1e6;
      ns.push_back(std::llround(double{events_.front().elapsed_time(event)} * kNanosecondsInMs));
    }
    return ns;
  }

 private:
  std::vector<at::cuda::CUDAEvent> events_;
};

class GraphRecording final : public Recording {
 public:
  // Error (run): the step does something that cannot be captured, such as waiting for the device.
  Result<void> record(const std::function<void()>& step) {
    // The default stream cannot be captured.
    const c10::cuda::CUDAStreamGuard guard(c10::cuda::getStreamFromPool(/*isHighPriority=*/true));
    try {
      graph_.capture_begin();
      step();
      graph_.capture_end();
    } catch (const c10::Error& error) {
      return fail(Error::Kind::run, "the step cannot be captured as a CUDA graph: {}",
                  summary(error));
    }
    return {};
  }
  void replay() override { graph_.replay(); }

 private:
  at::cuda::CUDAGraph graph_;
};

class CudaPlatform final : public Platform {
 public:
  explicit CudaPlatform(c10::DeviceIndex index) : device_(at::kCUDA, index) {
    c10::cuda::set_device(index);
    const cudaDeviceProp* properties = at::cuda::getDeviceProperties(index);
    name_ = properties->name;
    total_bytes_ = static_cast<std::int64_t>(properties->totalGlobalMem);
  }

  [[nodiscard]] at::Device device() const override { return device_; }
  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] MemoryFigures memory() const override {
    using c10::CachingAllocator::StatType;
    const auto stats = c10::cuda::CUDACachingAllocator::getDeviceStats(device_.index());
    constexpr auto kAll = static_cast<std::size_t>(StatType::AGGREGATE);
    const auto own = [this](std::int64_t bytes) {
      return std::max<std::int64_t>(0, bytes - before_);
    };
    return {.allocated = own(stats.allocated_bytes[kAll].current),
            .peak_allocated = own(stats.allocated_bytes[kAll].peak),
            .peak_requested = own(stats.requested_bytes[kAll].peak),
            .peak_reserved = stats.reserved_bytes[kAll].peak};
  }
  void start_counting() override {
    synchronize();
    c10::cuda::CUDACachingAllocator::emptyCache();
    before_ += memory().allocated;
    reset_peaks();
  }
  void reset_peaks() override { c10::cuda::CUDACachingAllocator::resetPeakStats(device_.index()); }
  void limit_memory(std::int64_t bytes) override {
    if (bytes <= 0) return;
    const double fraction = static_cast<double>(bytes) / static_cast<double>(total_bytes_);
    c10::cuda::CUDACachingAllocator::setMemoryFraction(std::min(1.0, fraction), device_.index());
  }
  void synchronize() override { c10::cuda::device_synchronize(); }
  [[nodiscard]] std::unique_ptr<Marks> marks(std::size_t count) const override {
    return std::make_unique<EventMarks>(count);
  }
  Result<std::unique_ptr<Recording>> record(const std::function<void()>& step) override {
    auto recording = std::make_unique<GraphRecording>();
    JOINTER_CHECK(recording->record(step));
    return recording;
  }
  [[nodiscard]] const BackendFactory& collectives() const override { return nccl_collectives(); }
  Result<void> choose_attention(AttentionKernel kernel) override {
    use_attention(kernel);
    return {};
  }

 private:
  at::Device device_;
  std::string name_;
  std::int64_t total_bytes_ = 0;
  std::int64_t before_ = 0;  // allocated when counting began
};

}  // namespace

Result<std::unique_ptr<Platform>> make_cuda_platform(const PlatformOptions& options) {
  try {
    const auto count = c10::cuda::device_count();
    if (count == 0) return fail(Error::Kind::run, "no CUDA device found; --on cpu runs on the CPU");
    if (options.local_rank >= count)
      return fail(Error::Kind::run, "rank {} of this machine sees only {}; each rank needs its own",
                  options.local_rank, counted(static_cast<std::size_t>(count), "CUDA device"));
    at::globalContext().lazyInitDevice(at::kCUDA);
    return std::make_unique<CudaPlatform>(static_cast<c10::DeviceIndex>(options.local_rank));
  } catch (const c10::Error& error) {
    return fail(Error::Kind::run, "the CUDA device cannot be used: {}", summary(error));
  }
}

}  // namespace jointer::runner
