#include "tests/runner/fake_device/platform.h"

#include <ATen/Context.h>
#include <c10/util/Exception.h>

#include <fstream>
#include <string>
#include <utility>

#include "app/runner/device_claim.h"
#include "app/runner/device_platform.h"
#include "app/runner/kernels/attention.h"
#include "app/runner/support/recording_error.h"
#include "tests/runner/fake_device/device.h"
#include "tests/runner/fake_device/group.h"

namespace jointer::test {
namespace {

using runner::KernelTracer;
using runner::Marks;
using runner::MemoryFigures;
using runner::Platform;
using runner::Recording;

FakeDevice& the_device() {
  return FakeDevice::instance();
}

class EventMarks final : public Marks {
 public:
  explicit EventMarks(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) events_.push_back(std::make_shared<DeviceEvent>());
  }
  void mark(std::size_t index) override {
    the_device().record(events_[index], the_device().stream());
  }
  std::vector<std::int64_t> read() override {
    std::vector<std::int64_t> ns;
    for (const EventPtr& event : events_) {
      the_device().synchronize(event->ns, "reading a time");
      ns.push_back(event->ns - events_.front()->ns);
    }
    return ns;
  }

 private:
  std::vector<EventPtr> events_;
};

class Tracer final : public KernelTracer {
 public:
  ~Tracer() override { the_device().trace_for(std::nullopt); }
  void begin(std::size_t instruction) override { the_device().trace_for(instruction); }
  void end() override { the_device().trace_for(std::nullopt); }
  std::vector<runner::TracedKernel> stop() override {
    the_device().synchronize();
    return the_device().take_trace();
  }
};

// Writes a line for each call to a file.
class LoggedRanges final : public runner::ProfilerRanges {
 public:
  void start_recording() override { log("start recording"); }
  void stop_recording() override { log("stop recording"); }
  void push(const std::string& name) override { log("begin " + name); }
  void pop() override { log("end"); }

 private:
  void log(const std::string& line) { file_ << line << std::endl; }

  std::ofstream file_{the_device().options().range_log};
};

// Makes `stream` the current one.
class OnStream {
 public:
  explicit OnStream(StreamNumber stream) : before_(the_device().exchange_stream(stream)) {}
  ~OnStream() { the_device().exchange_stream(before_); }
  OnStream(const OnStream&) = delete;
  OnStream& operator=(const OnStream&) = delete;

 private:
  StreamNumber before_;
};

class CapturedStep final : public Recording {
 public:
  CapturedStep(std::vector<std::function<void()>> captured, std::int64_t recording,
               StreamNumber stream)
      : captured_(std::move(captured)), recording_(recording), stream_(stream) {}
  ~CapturedStep() override { the_device().memory().forget_recording(recording_); }
  void replay() override { the_device().replay(captured_, stream_); }

 private:
  std::vector<std::function<void()>> captured_;
  std::int64_t recording_;
  StreamNumber stream_;
};

class FakePlatform final : public runner::DevicePlatform {
 public:
  FakePlatform(std::unique_ptr<Platform> host, FileDescriptor claim, bool pins)
      : claim_(std::move(claim)),
        host_(std::move(host)),
        recording_stream_(the_device().new_stream()) {
    if (auto surroundings = the_device().options().surroundings) {
      surroundings->pins = pins;
      surroundings_.emplace(std::move(*surroundings));
    }
  }

  [[nodiscard]] at::Device device() const override { return {at::kPrivateUse1, 0}; }
  [[nodiscard]] std::string name() const override { return "Fake device"; }
  [[nodiscard]] bool is_exclusive() const override {
    return !the_device().options().exclusive_name.empty();
  }
  [[nodiscard]] std::chrono::steady_clock::time_point now() const override {
    return the_device().clock().real_time();
  }
  [[nodiscard]] std::vector<std::string> environment() const override {
    return surroundings_ ? surroundings_->facts() : std::vector<std::string>();
  }
  [[nodiscard]] std::vector<std::string> notes() const override {
    return surroundings_ ? surroundings_->notes() : std::vector<std::string>();
  }
  [[nodiscard]] std::optional<GpuState> state() const override {
    return surroundings_ ? surroundings_->monitor().read() : std::nullopt;
  }
  void keep_history(bool keeps) override { the_device().memory().keep_history(keeps); }
  [[nodiscard]] Result<std::string> memory_snapshot() const override {
    return the_device().memory().snapshot();
  }
  void release_cache() override { the_device().memory().release_cache(); }
  void reset_peaks() override {
    the_device().memory().reset_peaks();
    the_device().pinned().reset_peak();
  }
  void limit_memory(std::int64_t bytes) override {
    if (bytes > 0) the_device().memory().limit(bytes);
  }
  void synchronize() override { the_device().synchronize(); }
  [[nodiscard]] std::unique_ptr<Marks> marks(std::size_t count) const override {
    return std::make_unique<EventMarks>(count);
  }
  std::unique_ptr<KernelTracer> trace_kernels() override {
    return the_device().start_trace() ? std::make_unique<Tracer>() : nullptr;
  }
  [[nodiscard]] std::unique_ptr<runner::ProfilerRanges> profiler_ranges() override {
    if (the_device().options().range_log.empty()) return DevicePlatform::profiler_ranges();
    return std::make_unique<LoggedRanges>();
  }
  Result<std::unique_ptr<Recording>> record(const std::function<void()>& step,
                                            std::span<const at::Generator>) override {
    synchronize();
    release_cache();
    const OnStream on_stream(recording_stream_);
    std::int64_t recording = 0;
    try {
      the_device().begin_capture(recording_stream_);
      recording = the_device().recording();
      step();
      return std::make_unique<CapturedStep>(the_device().end_capture(), recording,
                                            recording_stream_);
    } catch (const c10::Error& error) {
      the_device().abandon_capture();
      if (recording != 0) the_device().memory().forget_recording(recording);
      return runner::recording_error(error);
    }
  }
  [[nodiscard]] const runner::BackendFactory& collectives() const override {
    return fake_collectives();
  }
  Result<void> choose_attention(AttentionKernel kernel) override {
    runner::use_attention(kernel);
    return {};
  }
  Result<void> choose_tf32(bool allows) override {
    if (!the_device().options().has_tf32) return DevicePlatform::choose_tf32(allows);
    at::globalContext().setAllowTF32CuBLAS(allows);
    return {};
  }

 protected:
  [[nodiscard]] MemoryFigures all_memory() const override {
    MemoryFigures figures = the_device().memory().figures();
    figures.reserved = the_device().memory().reserved();
    figures.peak_pinned = the_device().pinned().peak();
    return figures;
  }
  void run_on_recording_stream(const std::function<void()>& step) override {
    const OnStream on_stream(recording_stream_);
    step();
  }

 private:
  FileDescriptor claim_;
  std::unique_ptr<Platform> host_;  // its threads, and its count of host memory
  StreamNumber recording_stream_;
  std::optional<runner::GpuSurroundings> surroundings_;
};

}  // namespace

Result<std::unique_ptr<Platform>> make_fake_platform(const runner::PlatformOptions& options) {
  const std::string& name = the_device().options().exclusive_name;
  using runner::ComputeMode;
  JOINTER_TRY(
      FileDescriptor claim,
      runner::claim_device(name, name.empty() ? ComputeMode::shared : ComputeMode::exclusive));
  JOINTER_TRY(auto host, runner::make_cpu_platform(options));
  return std::make_unique<FakePlatform>(std::move(host), std::move(claim), options.pins);
}

}  // namespace jointer::test
