#pragma once

// A simulated device, for tests of a rank's control flow: torch's PrivateUse1 device, whose kernels
// are the CPU's. tests/runner/fake_device/platform.h makes it a Platform of the runner.
//
//   clock.h       virtual time: the host runs ahead, each stream has its queue, nothing sleeps
//   memory.h      the caching allocator: its model in core/schedule, over host memory
//   pinned.h      host memory that the device copies without the host
//   faults.h      what goes wrong, and when
//   device.h      calls: launches, waits, captures; errors that later calls report
//   operators.cpp runs a torch operator on the device's memory, or captures it
//   torch.cpp     registers the device with torch: streams, events, allocators, generator
//   group.h       collectives, on the communication stream
//   platform.h    the runner's interface to all of it
//
// A call computes its values immediately, and ends later in virtual time. Deviations from CUDA: one
// thread, one device, and freed memory keeps its values.

#include <c10/core/Stream.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/runner/gpu/gpu_surroundings.h"
#include "app/runner/kernel_tracer.h"
#include "tests/runner/fake_device/clock.h"
#include "tests/runner/fake_device/faults.h"
#include "tests/runner/fake_device/memory.h"
#include "tests/runner/fake_device/pinned.h"

namespace jointer::test {

struct DeviceOptions {
  std::int64_t memory_bytes = std::int64_t{1} << 30;
  int traced_steps = std::numeric_limits<int>::max();  // the traces of later steps are empty
  int tracers = std::numeric_limits<int>::max();       // later steps cannot be traced
  bool has_tf32 = true;
  // Not empty: the device is in exclusive compute mode, and this names it on this machine.
  std::string exclusive_name;
  std::string range_log;  // a file that lists the ranges for a profiler; empty for none
  std::function<void()> before_event;  // called before an event is recorded, if it is set
  std::function<void()> before_query;  // called before an event is queried, if it is set
  // Costs: of a launch on the host, and of work on the device.
  std::int64_t launch_ns = 500, kernel_ns = 2'000, bytes_per_us = 1'000'000;
  std::int64_t copied_bytes_per_us = 25'000;  // to the host and back
  std::int64_t collective_ns = 20'000;
  std::int64_t workspace_bytes = std::int64_t{8} << 20;  // of matrix products, per stream
  Faults faults;
  // The machine of the device; std::nullopt if nothing is known about it. The runner's option
  // decides whether ranks are pinned.
  std::optional<runner::SurroundingsOptions> surroundings;
};

// Work for a stream. `run` computes its values.
struct Work {
  std::string name;
  StreamNumber stream = 0;
  std::int64_t ns = 0;
  std::function<void()> run = [] {};
};

struct DeviceEvent {
  std::int64_t ns = 0;  // when the stream reached it
};
using EventPtr = std::shared_ptr<DeviceEvent>;

class FakeDevice {
 public:
  static constexpr StreamNumber kComputeStream = 0, kCommunicationStream = 1, kFirstOfPool = 2;

  // Torch has one device of this type in a process, so there is one here.
  static FakeDevice& instance();
  // Starts over, with no memory in use.
  void reset(DeviceOptions options = {});

  [[nodiscard]] const DeviceOptions& options() const { return options_; }
  [[nodiscard]] VirtualClock& clock() { return clock_; }
  [[nodiscard]] FakeMemory& memory() { return *memory_; }
  [[nodiscard]] PinnedMemory& pinned() { return pinned_; }

  [[nodiscard]] StreamNumber stream() const { return stream_; }
  StreamNumber exchange_stream(StreamNumber stream) { return std::exchange(stream_, stream); }
  StreamNumber new_stream() { return next_stream_++; }
  // In the pool of the current stream, or of the recording. Throws c10::OutOfMemoryError.
  void* allocate(std::int64_t bytes);
  // The workspace of matrix products on the current stream.
  void make_workspace();

  // These may throw c10::AcceleratorError for earlier work, or have a fault.
  //
  // Runs the work, or captures it. Returns its end; kNever if it hangs.
  std::int64_t launch(Work work);
  // An assertion of a kernel fails, and the host notices it at once.
  [[noreturn]] void fail_assertion();
  void record(const EventPtr& event, StreamNumber stream);
  void block(const EventPtr& event, StreamNumber stream);
  // Wait on the host; `what` is not permitted while a stream is captured.
  void synchronize(std::int64_t until, const char* what);
  void synchronize() { synchronize(clock_.end_of_all(), "synchronizing the device"); }

  // Between these, launches are captured instead of run. `end_capture` throws if an operation that
  // is not permitted has ended the capture.
  void begin_capture(StreamNumber stream);
  std::vector<std::function<void()>> end_capture();
  void abandon_capture();
  [[nodiscard]] bool is_capturing() const { return recording_ != 0; }
  [[nodiscard]] std::int64_t recording() const { return recording_; }
  // Runs what was captured on `stream`, after the work of the current stream.
  void replay(const std::vector<std::function<void()>>& captured, StreamNumber stream);

  // Throws c10::DistBackendError if the link is down.
  void check_link() const;
  [[nodiscard]] bool is_link_down() const { return is_link_down_; }

  // Kernels from here on, until they are taken. Returns false if they cannot be traced.
  bool start_trace();
  void trace_for(std::optional<std::size_t> instruction) { traced_instruction_ = instruction; }
  std::vector<runner::TracedKernel> take_trace();

 private:
  struct DeviceError {
    std::int64_t at_ns = 0;
    std::string text;
  };

  // True if the work of this call never ends. `end`: when its work would end.
  bool begin_call(std::int64_t end);
  void enqueue(const Work& work, bool hangs);
  [[noreturn]] void not_permitted(const char* what);

  DeviceOptions options_;
  VirtualClock clock_;
  std::unique_ptr<FakeMemory> memory_;
  PinnedMemory pinned_;
  StreamNumber stream_ = kComputeStream, next_stream_ = kFirstOfPool;
  std::map<StreamNumber, void*> workspaces_;
  std::optional<DeviceError> error_;
  bool is_link_down_ = false, is_replaying_ = false;
  std::int64_t recording_ = 0, recordings_ = 0;  // 0: not capturing
  bool is_capture_invalid_ = false;
  std::vector<std::function<void()>> captured_;
  bool is_tracing_ = false;
  int traces_ = 0;
  std::optional<std::size_t> traced_instruction_;
  std::vector<runner::TracedKernel> traced_;
};

}  // namespace jointer::test
