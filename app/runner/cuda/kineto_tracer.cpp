// Every instruction runs in a scope of torch's profiler, which records the scope in which each
// kernel was launched. The scopes are of the kind TORCHSCRIPT_FUNCTION, the only one that is
// recorded, so the profiler records no events for operators.

#include "app/runner/cuda/kineto_tracer.h"

#include <ATen/record_function.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/util/Exception.h>
#include <torch/csrc/autograd/profiler_kineto.h>

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>

#include "core/base/number_text.h"

namespace jointer::runner {
namespace {

namespace profiler = torch::autograd::profiler;
namespace impl = torch::profiler::impl;

constexpr at::RecordScope kScope = at::RecordScope::TORCHSCRIPT_FUNCTION;

// True for copies, fills and kernels. The numbers are values of Kineto's ActivityType, whose header
// is not part of torch.
bool is_work(const profiler::KinetoEvent& event) {
  constexpr std::uint8_t kCopy = 3, kFill = 4, kKernel = 5;
  return event.activityType() == kCopy || event.activityType() == kFill ||
         event.activityType() == kKernel;
}

class KinetoTracer final : public KernelTracer {
 public:
  KinetoTracer() {
    const impl::ProfilerConfig config(impl::ProfilerState::KINETO);
    const std::set<impl::ActivityType> activities{impl::ActivityType::CPU,
                                                  impl::ActivityType::CUDA};
    profiler::prepareProfiler(config, activities);
    profiler::enableProfiler(config, activities, {kScope});
    is_running_ = true;
  }
  ~KinetoTracer() override {
    scope_.reset();
    if (is_running_) profiler::disableProfiler();
  }

  void begin(std::size_t instruction) override {
    scope_.emplace(kScope);
    if (scope_->isActive()) scope_->before(std::to_string(instruction));
  }
  void end() override { scope_.reset(); }

  std::vector<TracedKernel> stop() override {
    c10::cuda::device_synchronize();
    is_running_ = false;
    const auto result = profiler::disableProfiler();
    std::unordered_map<std::uint64_t, std::size_t> instructions;  // by the scope's number
    for (const profiler::KinetoEvent& event : result->events())
      if (event.deviceType() == c10::DeviceType::CPU) {
        if (const auto instruction = number_of<std::size_t>(event.name()))
          instructions[event.correlationId()] = *instruction;
      }
    std::vector<TracedKernel> kernels;
    for (const profiler::KinetoEvent& event : result->events()) {
      if (event.deviceType() != c10::DeviceType::CUDA || !is_work(event)) continue;
      const auto found = instructions.find(event.linkedCorrelationId());
      if (found == instructions.end()) continue;
      kernels.push_back({.instruction = found->second,
                         .name = event.name(),
                         .stream = event.deviceResourceId(),
                         .start_ns = static_cast<std::int64_t>(event.startNs()),
                         .end_ns = static_cast<std::int64_t>(event.endNs())});
    }
    std::ranges::stable_sort(kernels, {}, &TracedKernel::start_ns);
    return kernels;
  }

 private:
  std::optional<at::RecordFunction> scope_;
  bool is_running_ = false;
};

}  // namespace

std::unique_ptr<KernelTracer> trace_with_kineto() {
  try {
    return std::make_unique<KinetoTracer>();
  } catch (const c10::AcceleratorError&) {
    throw;  // of an earlier call
  } catch (const c10::Error&) {
    return nullptr;
  }
}

}  // namespace jointer::runner
