// A CUDA device, accessed through torch: counters of the caching allocator, events on the compute
// stream, and CUDA graphs.

#include "app/runner/cuda/cuda_platform.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/core/CachingHostAllocator.h>
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
#include <string_view>
#include <utility>

#include "app/runner/cuda/allocator_history.h"
#include "app/runner/cuda/kineto_tracer.h"
#include "app/runner/cuda/nccl.h"
#include "app/runner/cuda/nvtx.h"
#include "app/runner/device_choice.h"
#include "app/runner/device_claim.h"
#include "app/runner/device_platform.h"
#include "app/runner/gpu/gpu_surroundings.h"
#include "app/runner/kernels/attention.h"
#include "app/runner/support/recording_error.h"
#include "app/runner/support/torch_error.h"
#include "app/runner/support/torch_version.h"

namespace jointer::runner {
namespace {

class EventMarks final : public Marks {
 public:
  explicit EventMarks(std::size_t count) {
    events_.reserve(count);
    // The first record creates an event, which would add to the times of the calls.
    for (std::size_t i = 0; i < count; ++i) events_.emplace_back(cudaEventDefault).record();
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

// Registers the generator with the graph in versions of torch that require it. Newer versions do
// this when a captured kernel first draws from the generator.
template <class Graph>
void register_generator(Graph& graph, const at::Generator& generator) {
  if constexpr (requires { graph.register_generator_state(generator); })
    graph.register_generator_state(generator);
}

constexpr int kFirstWithTf32 = 8;  // compute capability: Ampere

static_assert(kFirstCaptureError == static_cast<int>(cudaErrorStreamCaptureUnsupported));
static_assert(kLastCaptureError == static_cast<int>(cudaErrorStreamCaptureWrongThread));
static_assert(kDriverIsOutOfMemory == static_cast<int>(cudaErrorMemoryAllocation));

class GraphRecording final : public Recording {
 public:
  // Error (run): the step performs an operation that cannot be captured, such as waiting for the
  // device.
  Result<void> record(const std::function<void()>& step, std::span<const at::Generator> generators,
                      c10::cuda::CUDAStream stream) {
    const c10::cuda::CUDAStreamGuard guard(stream);
    try {
      for (const at::Generator& generator : generators) register_generator(graph_, generator);
      graph_.capture_begin();
      step();
      graph_.capture_end();
    } catch (const c10::Error& error) {
      return recording_error(error);
    }
    return {};
  }
  void replay() override { graph_.replay(); }

 private:
  at::cuda::CUDAGraph graph_;
};

// Formats the number of a CUDA version: 13000 becomes "13.0".
std::string cuda_version(int number) {
  return fmt::format("{}.{}", number / 1000, number % 1000 / 10);
}

// The environment variables that configure the allocator, CUDA, cuBLAS and NCCL, as NAME=VALUE.
// Container images also set variables that only describe the installed software; these are left
// out.
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

// Returns 0 if the driver does not report the attribute.
int attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  return cudaDeviceGetAttribute(&value, which, device) == cudaSuccess ? value : 0;
}

ComputeMode compute_mode_of(int device) {
  return static_cast<ComputeMode>(attribute(cudaDevAttrComputeMode, device));
}

// "GPU 0000:18:00.0": the same in all processes, whatever CUDA_VISIBLE_DEVICES is. The parts of a
// GPU that is divided (MIG) share the address, so their names and indices distinguish them.
std::string identity_of(int device) {
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  const bool is_part = visible != nullptr && std::string_view(visible).starts_with("MIG-");
  const std::string bus = bus_of(static_cast<c10::DeviceIndex>(device));
  return is_part ? fmt::format("GPU {} ({}, device {})", bus, visible, device)
                 : fmt::format("GPU {}", bus);
}

// Makes the device current and returns one of its streams.
c10::cuda::CUDAStream stream_of(c10::DeviceIndex device) {
  c10::cuda::set_device(device);
  return c10::cuda::getStreamFromPool(/*isHighPriority=*/false, device);
}

class CudaPlatform final : public DevicePlatform {
 public:
  // `claim`: from claim_device.
  CudaPlatform(c10::DeviceIndex index, FileDescriptor claim, GpuSurroundings surroundings)
      : claim_(std::move(claim)),
        device_(at::kCUDA, index),
        recording_stream_(stream_of(index)),
        surroundings_(std::move(surroundings)) {
    const cudaDeviceProp* properties = at::cuda::getDeviceProperties(index);
    name_ = properties->name;
    total_bytes_ = static_cast<std::int64_t>(properties->totalGlobalMem);
  }

  [[nodiscard]] at::Device device() const override { return device_; }
  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] bool is_exclusive() const override {
    return compute_mode_of(device_.index()) != ComputeMode::shared;
  }
  [[nodiscard]] std::optional<GpuProperties> properties() const override {
    const cudaDeviceProp& reported = *at::cuda::getDeviceProperties(device_.index());
    constexpr std::int64_t kKhzPerMhz = 1000;
    return GpuProperties{
        .name = name_,
        .major = reported.major,
        .minor = reported.minor,
        .multiprocessors = reported.multiProcessorCount,
        .sm_mhz = attribute(cudaDevAttrClockRate, device_.index()) / kKhzPerMhz,
        .memory_mhz = attribute(cudaDevAttrMemoryClockRate, device_.index()) / kKhzPerMhz,
        .memory_bus_bits = attribute(cudaDevAttrGlobalMemoryBusWidth, device_.index()),
        .memory_bytes = total_bytes_};
  }
  [[nodiscard]] std::vector<std::string> environment() const override {
    std::vector<std::string> facts{fmt::format("torch {}", torch_version()),
                                   fmt::format("CUDA {}", cuda_version(CUDART_VERSION))};
    if (int driver = 0; cudaDriverGetVersion(&driver) == cudaSuccess)
      facts.push_back(fmt::format("driver for CUDA up to {}", cuda_version(driver)));
    const auto cudnn = at::detail::getCUDAHooks().versionRuntimeCuDNN();  // 91900 is 9.19.0
    facts.push_back(fmt::format("cuDNN {}.{}.{}", cudnn / 10000, cudnn / 100 % 100, cudnn % 100));
    facts.push_back(fmt::format("NCCL {}", nccl_version()));
    for (std::string& setting : settings()) facts.push_back(std::move(setting));
    for (std::string& fact : surroundings_.facts()) facts.push_back(std::move(fact));
    return facts;
  }
  [[nodiscard]] std::vector<std::string> notes() const override { return surroundings_.notes(); }
  [[nodiscard]] std::optional<GpuState> state() const override {
    return surroundings_.monitor().read();
  }
  void keep_history(bool keeps) override { history_.keep(keeps); }
  [[nodiscard]] Result<std::string> memory_snapshot() const override { return history_.snapshot(); }
  void release_cache() override { c10::cuda::CUDACachingAllocator::emptyCache(); }
  void reset_peaks() override {
    c10::cuda::CUDACachingAllocator::resetPeakStats(device_.index());
    at::getHostAllocator(at::kCUDA)->reset_peak_stats();
  }
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
  [[nodiscard]] std::unique_ptr<ProfilerRanges> profiler_ranges() override { return nvtx_ranges(); }
  Result<std::unique_ptr<Recording>> record(const std::function<void()>& step,
                                            std::span<const at::Generator> generators) override {
    // The recording uses separate pools of device memory and of pinned host memory, which cannot
    // use what eager steps left in the caches.
    synchronize();
    release_cache();
    at::getHostAllocator(at::kCUDA)->empty_cache();
    auto recording = std::make_unique<GraphRecording>();
    JOINTER_CHECK(recording->record(step, generators, recording_stream_));
    return recording;
  }
  [[nodiscard]] const BackendFactory& collectives() const override { return nccl_collectives(); }
  Result<void> choose_attention(AttentionKernel kernel) override {
    use_attention(kernel);
    return {};
  }
  Result<void> choose_tf32(bool allows) override {
    if (at::cuda::getDeviceProperties(device_.index())->major < kFirstWithTf32)
      return DevicePlatform::choose_tf32(allows);
    at::globalContext().setAllowTF32CuBLAS(allows);
    at::globalContext().setAllowTF32CuDNN(allows);
    return {};
  }

 protected:
  [[nodiscard]] MemoryFigures all_memory() const override {
    using c10::CachingAllocator::StatType;
    const auto stats = c10::cuda::CUDACachingAllocator::getDeviceStats(device_.index());
    constexpr auto kAll = static_cast<std::size_t>(StatType::AGGREGATE);
    const auto& allocated = stats.allocated_bytes[kAll];
    const auto& requested = stats.requested_bytes[kAll];
    const auto& reserved = stats.reserved_bytes[kAll];
    return {.requested = requested.current,
            .allocated = allocated.current,
            .reserved = reserved.current,
            .peak_requested = requested.peak,
            .peak_allocated = allocated.peak,
            .peak_reserved = reserved.peak,
            .peak_pinned = at::getHostAllocator(at::kCUDA)->get_stats().active_bytes.peak};
  }
  void run_on_recording_stream(const std::function<void()>& step) override {
    const c10::cuda::CUDAStreamGuard guard(recording_stream_);
    step();
  }

 private:
  FileDescriptor claim_;
  at::Device device_;
  std::string name_;
  std::int64_t total_bytes_ = 0;
  // The default stream cannot be captured. A high-priority stream would compete with the streams of
  // collectives.
  c10::cuda::CUDAStream recording_stream_;
  GpuSurroundings surroundings_;
  AllocatorHistory history_;
};

// The GPUs of the other ranks on this machine. If each task has its own GPU, a rank does not see
// those of the others.
std::vector<NumberedGpu> gpus_of_others(int own, const PlatformOptions& options) {
  std::vector<NumberedGpu> others;
  const int ranks = std::min<int>(options.local_world_size, c10::cuda::device_count());
  for (int i = 0; i < ranks; ++i)
    if (i != own) others.push_back({.number = i, .bus = bus_of(static_cast<c10::DeviceIndex>(i))});
  return others;
}

// Pins the rank before CUDA starts its threads.
GpuSurroundings surroundings_of(int index, const PlatformOptions& options) {
  GpuSurroundings surroundings(
      {.gpu = {.number = index, .bus = bus_of(static_cast<c10::DeviceIndex>(index))},
       .others = gpus_of_others(index, options),
       .pins = options.pins});
  if (options.threads == 0 && surroundings.pinned_cpus() > 0)
    at::set_num_threads(std::min(at::get_num_threads(), surroundings.pinned_cpus()));
  return surroundings;
}

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
    return fail(Error::Kind::run, "no CUDA device can be used: {}; --on cpu runs on the CPU", why);
  // Slurm can assign one GPU to each task, which then sees it as device 0.
  const bool each_task_has_one = std::getenv("SLURM_PROCID") != nullptr;
  JOINTER_TRY(const int index,
              choose_device(options.local_rank, c10::cuda::device_count(), each_task_has_one));
  JOINTER_TRY(FileDescriptor claim, claim_device(identity_of(index), compute_mode_of(index)));
  try {
    GpuSurroundings surroundings = surroundings_of(index, options);
    at::globalContext().lazyInitDevice(at::kCUDA);
    return std::make_unique<CudaPlatform>(static_cast<c10::DeviceIndex>(index), std::move(claim),
                                          std::move(surroundings));
  } catch (const c10::Error& error) {
    return fail(Error::Kind::run, "CUDA device {} cannot be used: {}", index,
                explain_unusable(summary(error), compute_mode_of(index)));
  }
}

}  // namespace jointer::runner
