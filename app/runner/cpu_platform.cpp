#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/cpu/Utils.h>

#include <chrono>
#include <fstream>

#include "app/runner/kernels/attention.h"
#include "app/runner/memory/counting_allocator.h"
#include "app/runner/platform.h"
#include "app/runner/support/recording_error.h"
#include "core/base/environment.h"
#include "core/process/free_memory.h"

namespace jointer::runner {
namespace {

class ClockMarks final : public Marks {
 public:
  explicit ClockMarks(std::size_t count) : times_(count) {}
  void mark(std::size_t index) override { times_[index] = std::chrono::steady_clock::now(); }
  std::vector<std::int64_t> read() override {
    std::vector<std::int64_t> ns;
    ns.reserve(times_.size());
    for (const auto& time : times_)
      ns.push_back(std::chrono::duration_cast<std::chrono::nanoseconds>(time - times_[0]).count());
    return ns;
  }

 private:
  std::vector<std::chrono::steady_clock::time_point> times_;
};

// Makes Linux kill this rank, rather than the program that started it, if memory runs out.
void go_first() {
  std::ofstream("/proc/self/oom_score_adj") << 1000;
}

class CpuPlatform final : public Platform {
 public:
  explicit CpuPlatform(const PlatformOptions& options) : allocator_(CountingAllocator::install()) {
    threads_ = options.threads > 0
                   ? options.threads
                   : std::max(1, usable_cores() / std::max(1, options.local_world_size));
    at::set_num_threads(threads_);
    // A process must ask the kernel for permission to use the AMX tile registers. Do it here
    // instead of relying on oneDNN's lazy initialization.
    at::cpu::init_amx();
    go_first();
    // Ranks share the free memory. An error that names the node is better than a killed rank.
    allocator_.set_share(memory_share(free_memory(), options.local_world_size));
    const std::string processor = processor_name();
    name_ = (processor.empty() ? "CPU" : processor) + ", " + std::to_string(threads_) +
            (threads_ == 1 ? " thread" : " threads");
  }

  [[nodiscard]] at::Device device() const override { return at::kCPU; }
  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] MemoryFigures memory() const override {
    // All peaks are equal, since there is no cache between torch and the system.
    const std::int64_t peak = allocator_.peak();
    return {.requested = allocator_.allocated(),
            .allocated = allocator_.allocated(),
            .reserved = allocator_.allocated(),
            .peak_requested = peak,
            .peak_allocated = peak,
            .peak_reserved = peak};
  }
  std::int64_t start_counting() override {
    allocator_.start_from_here();
    return 0;
  }
  void reset_peaks() override { allocator_.reset_peak(); }
  void start_recording() override { allocator_.start_recording(); }
  std::vector<MeasuredBytes> stop_recording() override { return allocator_.stop_recording(); }
  void limit_memory(std::int64_t bytes) override {
    if (bytes > 0) allocator_.limit(bytes);
  }
  void synchronize() override {}
  [[nodiscard]] std::unique_ptr<Marks> marks(std::size_t count) const override {
    return std::make_unique<ClockMarks>(count);
  }
  Result<std::unique_ptr<Recording>> record(
      const std::function<void()>& /*step*/,
      std::span<const at::Generator> /*generators*/) override {
    return fail(Error::Kind::run, "CUDA graphs need a CUDA device; {}", kRunWithoutRecording);
  }
  [[nodiscard]] const BackendFactory& collectives() const override { return gloo_collectives(); }
  Result<void> choose_attention(AttentionKernel kernel) override {
    use_attention(kernel);
    if (kernel == AttentionKernel::efficient || kernel == AttentionKernel::cudnn)
      return fail(Error::Kind::run, "the CPU has no {} attention kernel; use flash or math",
                  to_string(kernel));
    return {};
  }
  Result<void> choose_tf32(bool /*allows*/) override {
    return fail(Error::Kind::run, "the CPU does not support TF32; set TF32 (--tf32) to auto");
  }

 private:
  CountingAllocator& allocator_;
  int threads_ = 1;
  std::string name_;
};

}  // namespace

Result<std::unique_ptr<Platform>> make_cpu_platform(const PlatformOptions& options) {
  return std::make_unique<CpuPlatform>(options);
}

}  // namespace jointer::runner
