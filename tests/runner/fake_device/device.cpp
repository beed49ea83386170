#include "tests/runner/fake_device/device.h"

#include <c10/core/InferenceMode.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <csignal>
#include <utility>

namespace jointer::test {
namespace {

// As in CUDA: cudaErrorMemoryAllocation, cudaErrorAssert, cudaErrorStreamCaptureUnsupported,
// cudaErrorStreamCaptureInvalidated.
constexpr std::int32_t kNoMemory = 2, kAssert = 710, kNotPermitted = 900, kInvalidated = 901;

[[noreturn]] void throw_device_error(std::string text, std::int32_t code = kAssert) {
  throw c10::AcceleratorError({__func__, __FILE__, __LINE__}, code, std::move(text));
}

constexpr const char* kAssertion = "CUDA error: device-side assert triggered";

}  // namespace

FakeDevice& FakeDevice::instance() {
  static auto* device = new FakeDevice;  // tensors may outlive all scopes
  if (!device->memory_) device->reset();
  return *device;
}

void FakeDevice::reset(DeviceOptions options) {
  auto memory = std::make_unique<FakeMemory>(options.memory_bytes, [this] { return clock_.now(); });
  *this = FakeDevice();
  options_ = std::move(options);
  memory_ = std::move(memory);
}

void* FakeDevice::allocate(std::int64_t bytes) {
  return memory_->allocate(bytes, {.stream = stream_, .recording = recording_});
}

void FakeDevice::make_workspace() {
  if (options_.workspace_bytes > 0 && !workspaces_.contains(stream_))
    workspaces_[stream_] = allocate(options_.workspace_bytes);
}

bool FakeDevice::begin_call(std::int64_t end) {
  if (error_ && clock_.now() >= error_->at_ns) throw_device_error(error_->text);
  const char* part = is_replaying_ ? "replay" : is_capturing() ? "record" : "";
  const auto fault = options_.faults.at_call(part);
  if (!fault) return false;
  switch (*fault) {
    case FaultKind::died:
      ::raise(SIGKILL);
      return false;
    case FaultKind::hung:
      if (is_capturing()) clock_.wait(kNever);  // nothing runs, so the call itself hangs
      return true;
    case FaultKind::out_of_memory:
      memory_->fail(std::int64_t{20} << 20);
    case FaultKind::driver_out_of_memory:
      throw_device_error("CUDA error: out of memory", kNoMemory);
    case FaultKind::device_assert:
      error_ = {.at_ns = end, .text = kAssertion};
      if (is_capturing()) throw_device_error(kAssertion);
      return false;
    case FaultKind::link_down:
      is_link_down_ = true;
      return false;
  }
  return false;
}

void FakeDevice::enqueue(const Work& work, bool hangs) {
  const Span span = clock_.launch(work.stream, hangs ? kNever : work.ns);
  if (is_tracing_ && traced_instruction_)
    traced_.push_back({.instruction = *traced_instruction_,
                       .name = work.name,
                       .stream = work.stream,
                       .start_ns = span.start_ns,
                       .end_ns = span.end_ns});
}

std::int64_t FakeDevice::launch(Work work) {
  const bool hangs =
      begin_call(std::max(clock_.now() + options_.launch_ns, clock_.end_of(work.stream)) + work.ns);
  clock_.advance(options_.launch_ns);
  if (is_capturing()) {
    captured_.emplace_back([this, work = std::move(work)] {
      work.run();
      enqueue(work, false);
    });
    return clock_.now();
  }
  work.run();
  enqueue(work, hangs);
  return clock_.end_of(work.stream);
}

void FakeDevice::fail_assertion() {
  error_ = {.at_ns = clock_.now(), .text = kAssertion};
  throw_device_error(kAssertion);
}

void FakeDevice::record(const EventPtr& event, StreamNumber stream) {
  if (options_.before_event) options_.before_event();
  const auto reach = [this, event, stream] {
    event->ns = std::max(clock_.now(), clock_.end_of(stream));
  };
  if (is_capturing())
    captured_.emplace_back(reach);
  else
    reach();
}

void FakeDevice::block(const EventPtr& event, StreamNumber stream) {
  const auto wait = [this, event, stream] { clock_.delay(stream, event->ns); };
  if (is_capturing())
    captured_.emplace_back(wait);
  else
    wait();
}

void FakeDevice::synchronize(std::int64_t until, const char* what) {
  if (is_capturing()) not_permitted(what);
  const bool hangs = begin_call(clock_.now());
  clock_.wait(hangs ? kNever : until);
  if (error_ && clock_.now() >= error_->at_ns) throw_device_error(error_->text);
}

void FakeDevice::begin_capture(StreamNumber stream) {
  TORCH_CHECK(stream != kComputeStream, "CUDA error: the default stream cannot be captured");
  recording_ = ++recordings_;
  is_capture_invalid_ = false;
  captured_.clear();
}

std::vector<std::function<void()>> FakeDevice::end_capture() {
  memory_->poison(std::exchange(recording_, 0));
  if (std::exchange(is_capture_invalid_, false))
    throw_device_error("CUDA error: operation failed due to a previous error during capture",
                       kInvalidated);
  return std::exchange(captured_, {});
}

void FakeDevice::abandon_capture() {
  recording_ = 0;
  is_capture_invalid_ = false;
  captured_.clear();
}

void FakeDevice::not_permitted(const char* what) {
  is_capture_invalid_ = true;
  throw_device_error(
      std::string("CUDA error: operation not permitted when stream is capturing: ") + what,
      kNotPermitted);
}

void FakeDevice::replay(const std::vector<std::function<void()>>& captured, StreamNumber stream) {
  is_replaying_ = true;
  bool hangs = false;
  try {
    hangs = begin_call(clock_.now() + options_.kernel_ns);
    check_link();
  } catch (const std::exception&) {
    is_replaying_ = false;
    throw;
  }
  is_replaying_ = false;
  const c10::InferenceMode no_autograd;
  clock_.advance(options_.launch_ns);
  clock_.delay(stream, clock_.end_of(stream_));
  for (const auto& work : captured) work();
  clock_.delay(stream_, hangs ? kNever : clock_.end_of(stream));
}

void FakeDevice::check_link() const {
  TORCH_CHECK_WITH(DistBackendError, !is_link_down_,
                   "NCCL error: remote process exited or there was a network error");
}

bool FakeDevice::start_trace() {
  is_tracing_ = ++traces_ <= options_.traced_steps;
  traced_.clear();
  return traces_ <= options_.tracers;
}

std::vector<runner::TracedKernel> FakeDevice::take_trace() {
  is_tracing_ = false;
  std::ranges::stable_sort(traced_, {}, &runner::TracedKernel::start_ns);
  return std::exchange(traced_, {});
}

}  // namespace jointer::test
