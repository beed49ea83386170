// A CUDA device, accessed through torch: counters of the caching allocator, events on the compute
// stream, and CUDA graphs.

#include "app/runner/cuda/cuda_platform.h"

#include <ATen/Context.h>
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/CUDAEvent.h>
#include <ATen/cuda/CUDAGraph.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "app/runner/cuda/kineto_tracer.h"
#include "app/runner/cuda/nccl.h"
#include "app/runner/cuda/nvml.h"
#include "app/runner/kernels/attention.h"
#include "app/runner/support/torch_error.h"
#include "app/runner/support/torch_version.h"
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

// Newer versions of torch register a generator when a recorded kernel first draws from it.
template <class Graph>
void register_generator(Graph& graph, const at::Generator& generator) {
  if constexpr (requires { graph.register_generator_state(generator); })
    graph.register_generator_state(generator);
}

class GraphRecording final : public Recording {
 public:
  // Error (run): the step does something that cannot be captured, such as waiting for the device.
  Result<void> record(const std::function<void()>& step, std::span<const at::Generator> generators,
                      c10::cuda::CUDAStream stream) {
    const c10::cuda::CUDAStreamGuard guard(stream);
    try {
      for (const at::Generator& generator : generators) register_generator(graph_, generator);
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

// 13000 is 13.0.
std::string cuda_version(int number) {
  return fmt::format("{}.{}", number / 1000, number % 1000 / 10);
}

// The variables that set how the allocator, CUDA, cuBLAS and NCCL work, as NAME=VALUE. Images also
// set variables that only describe what is installed.
std::vector<std::string> settings() {
  constexpr std::array<std::string_view, 5> kPrefixes{"PYTORCH_", "TORCH_NCCL_", "NCCL_", "CUDA_",
                                                      "CUBLAS_"};
  constexpr std::array<std::string_view, 3> kDescriptions{"_VERSION", "_HOME", "_PATH"};
  std::vector<std::string> found;
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string_view setting = *each;
    const std::string_view name = setting.substr(0, setting.find('='));
    if (std::ranges::any_of(kPrefixes, [&](auto start) { return name.starts_with(start); }) &&
        std::ranges::none_of(kDescriptions, [&](auto end) { return name.ends_with(end); }))
      found.emplace_back(setting);
  }
  std::ranges::sort(found);
  return found;
}

std::string bus_of(c10::DeviceIndex device) {
  std::array<char, 32> text{};
  return cudaDeviceGetPCIBusId(text.data(), static_cast<int>(text.size()), device) == cudaSuccess
             ? text.data()
             : "";
}

// A stream of the device, which becomes the current one.
c10::cuda::CUDAStream stream_of(c10::DeviceIndex device) {
  c10::cuda::set_device(device);
  return c10::cuda::getStreamFromPool(/*isHighPriority=*/false, device);
}

class CudaPlatform final : public Platform {
 public:
  explicit CudaPlatform(c10::DeviceIndex index)
      : device_(at::kCUDA, index), recording_stream_(stream_of(index)), monitor_(bus_of(index)) {
    const cudaDeviceProp* properties = at::cuda::getDeviceProperties(index);
    name_ = properties->name;
    total_bytes_ = static_cast<std::int64_t>(properties->totalGlobalMem);
  }

  [[nodiscard]] at::Device device() const override { return device_; }
  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] std::vector<std::string> environment() const override {
    std::vector<std::string> facts{fmt::format("torch {}", torch_version()),
                                   fmt::format("CUDA {}", cuda_version(CUDART_VERSION))};
    if (int driver = 0; cudaDriverGetVersion(&driver) == cudaSuccess)
      facts.push_back(fmt::format("driver for CUDA up to {}", cuda_version(driver)));
    const auto cudnn = at::detail::getCUDAHooks().versionRuntimeCuDNN();  // 91900 is 9.19.0
    facts.push_back(fmt::format("cuDNN {}.{}.{}", cudnn / 10000, cudnn / 100 % 100, cudnn % 100));
    facts.push_back(fmt::format("NCCL {}", nccl_version()));
    for (std::string& setting : settings()) facts.push_back(std::move(setting));
    return facts;
  }
  [[nodiscard]] std::optional<GpuState> state() const override { return monitor_.read(); }
  [[nodiscard]] MemoryFigures memory() const override {
    using c10::CachingAllocator::StatType;
    const auto stats = c10::cuda::CUDACachingAllocator::getDeviceStats(device_.index());
    constexpr auto kAll = static_cast<std::size_t>(StatType::AGGREGATE);
    const auto own = [this](std::int64_t bytes, std::int64_t before) {
      return std::max<std::int64_t>(0, bytes - before);
    };
    const auto& allocated = stats.allocated_bytes[kAll];
    const auto& requested = stats.requested_bytes[kAll];
    return {.requested = own(requested.current, requested_before_),
            .allocated = own(allocated.current, allocated_before_),
            .peak_requested = own(requested.peak, requested_before_),
            .peak_allocated = own(allocated.peak, allocated_before_),
            .peak_reserved = stats.reserved_bytes[kAll].peak};
  }
  std::int64_t start_counting() override {
    synchronize();
    release_cache();
    const MemoryFigures now = memory();
    leave_out(now);
    reset_peaks();
    return now.allocated;
  }
  std::int64_t make_workspaces(const std::function<void()>& step, bool recorded) override {
    const MemoryFigures before = memory();
    {
      std::optional<c10::cuda::CUDAStreamGuard> guard;
      if (recorded) guard.emplace(recording_stream_);
      step();
    }
    synchronize();
    MemoryFigures made = memory();
    made.requested -= before.requested;
    made.allocated -= before.allocated;
    leave_out(made);
    return made.allocated;
  }
  void release_cache() override { c10::cuda::CUDACachingAllocator::emptyCache(); }
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
  std::unique_ptr<KernelTracer> trace_kernels() override { return trace_with_kineto(); }
  Result<std::unique_ptr<Recording>> record(const std::function<void()>& step,
                                            std::span<const at::Generator> generators) override {
    // The recording has its own pool, which cannot use memory that eager steps left in the cache.
    synchronize();
    release_cache();
    auto recording = std::make_unique<GraphRecording>();
    JOINTER_CHECK(recording->record(step, generators, recording_stream_));
    return recording;
  }
  [[nodiscard]] const BackendFactory& collectives() const override { return nccl_collectives(); }
  Result<void> choose_attention(AttentionKernel kernel) override {
    use_attention(kernel);
    return {};
  }

 private:
  void leave_out(const MemoryFigures& bytes) {
    requested_before_ += bytes.requested;
    allocated_before_ += bytes.allocated;
  }

  at::Device device_;
  std::string name_;
  std::int64_t total_bytes_ = 0;
  std::int64_t requested_before_ = 0, allocated_before_ = 0;  // does not count
  // The default stream cannot be captured. A stream of high priority would compete with the
  // collectives'.
  c10::cuda::CUDAStream recording_stream_;
  GpuMonitor monitor_;
};

}  // namespace

std::string why_no_cuda_device() {
  try {
    c10::cuda::device_count_ensure_non_zero();
    return {};
  } catch (const c10::Error& error) {
    return summary(error);
  }
}

Result<std::unique_ptr<Platform>> make_cuda_platform(const PlatformOptions& options) {
  if (const std::string why = why_no_cuda_device(); !why.empty())
    return fail(Error::Kind::run, "the CUDA device cannot be used: {}", why);
  try {
    const auto count = c10::cuda::device_count();
    // Slurm can give each task one GPU, which is device 0 for every task.
    const bool has_own = count == 1 && std::getenv("SLURM_PROCID") != nullptr;
    const int index = has_own ? 0 : options.local_rank;
    if (index >= count)
      return fail(Error::Kind::run, "rank {} of this machine sees only {}; each rank needs its own",
                  options.local_rank, counted(static_cast<std::size_t>(count), "CUDA device"));
    at::globalContext().lazyInitDevice(at::kCUDA);
    return std::make_unique<CudaPlatform>(static_cast<c10::DeviceIndex>(index));
  } catch (const c10::Error& error) {
    return fail(Error::Kind::run, "the CUDA device cannot be used: {}", summary(error));
  }
}

}  // namespace jointer::runner
