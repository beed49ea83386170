#pragma once

// The device on which a rank runs. The CPU platform is always available. The CUDA platform is in a
// separate binary (jointer-runner-cuda), so that jointer-runner starts without CUDA libraries.

#include <ATen/core/Generator.h>
#include <c10/core/Device.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/runner/groups/backend_factory.h"
#include "app/runner/kernel_tracer.h"
#include "app/runner/profiler_ranges.h"
#include "core/base/result.h"
#include "core/bench/event.h"
#include "core/bench/request.h"

namespace jointer::runner {

// Timestamps that the device takes when it reaches the marked points.
class Marks {
 public:
  virtual ~Marks() = default;

  // Records the time when the device reaches this point. The host does not wait.
  virtual void mark(std::size_t index) = 0;
  // Waits for the device. Returns one value per mark, in nanoseconds since mark 0. All marks must
  // have been recorded.
  virtual std::vector<std::int64_t> read() = 0;
};

// Memory in bytes. An allocator rounds requests up to the sizes of its blocks, which are parts of
// the memory that it reserves.
struct MemoryFigures {
  std::int64_t requested = 0, allocated = 0, reserved = 0;  // now
  std::int64_t peak_requested = 0, peak_allocated = 0, peak_reserved = 0;
  // Host memory that is pinned for copies to and from the device, as rounded up by the allocator of
  // pinned memory.
  std::int64_t peak_pinned = 0;
};

// A captured step that the host launches as a whole: a CUDA graph.
class Recording {
 public:
  virtual ~Recording() = default;
  virtual void replay() = 0;
};

class Platform {
 public:
  virtual ~Platform() = default;

  [[nodiscard]] virtual at::Device device() const = 0;
  [[nodiscard]] virtual std::string name() const = 0;  // "NVIDIA H200"
  // True if only one process at a time can use the device.
  [[nodiscard]] virtual bool is_exclusive() const { return false; }
  // The properties of the GPU; std::nullopt on the CPU.
  [[nodiscard]] virtual std::optional<GpuProperties> properties() const { return std::nullopt; }
  // Versions of the libraries, and user settings that affect their behavior.
  [[nodiscard]] virtual std::vector<std::string> environment() const { return {}; }
  // Notes for the user about how the rank uses the device and its machine.
  [[nodiscard]] virtual std::vector<std::string> notes() const { return {}; }
  // The device's state now; std::nullopt if it does not report one.
  [[nodiscard]] virtual std::optional<GpuState> state() const { return std::nullopt; }
  // The clock of the watchdog. May be called from any thread.
  [[nodiscard]] virtual std::chrono::steady_clock::time_point now() const {
    return std::chrono::steady_clock::now();
  }
  [[nodiscard]] virtual MemoryFigures memory() const = 0;
  // Stops counting the current allocations, such as the workspaces of libraries. Called before the
  // inputs are made. Returns the bytes of these allocations, or 0 on the CPU.
  virtual std::int64_t start_counting() = 0;
  // Runs `step` and then stops counting the memory that it left allocated: the workspaces that
  // libraries allocate when they are first used on a stream. `recorded`: run it on the stream that
  // record() captures. Returns the bytes of the workspaces, or 0 if `step` returns false; in that
  // case, the device may be unusable. The default implementation only runs `step`.
  virtual std::int64_t make_workspaces(const std::function<bool()>& step, bool recorded) {
    (void)recorded;
    step();
    return 0;
  }
  // Releases memory that is cached but not allocated.
  virtual void release_cache() {}
  // Resets the peaks to the bytes that are allocated now.
  virtual void reset_peaks() = 0;
  // Records changes of allocated bytes, with times since the start. stop_recording returns no
  // entries on devices that cannot do this.
  virtual void start_recording() {}
  virtual std::vector<MeasuredBytes> stop_recording() { return {}; }
  // Starts or stops recording a history of all allocations and releases, which slows down the host.
  // Stopping discards the history.
  virtual void keep_history(bool keeps) { (void)keeps; }
  // The state of the device's allocator and its history when memory last ran out, as a CUDA memory
  // snapshot (a pickle, as torch.cuda.memory._dump_snapshot writes it). Empty if memory has not run
  // out, if no history was kept then, or on the CPU. Error (run): no snapshot could be made.
  [[nodiscard]] virtual Result<std::string> memory_snapshot() const { return std::string(); }
  // Limits the total of allocated bytes: allocations that would exceed it fail. 0 means no limit.
  virtual void limit_memory(std::int64_t bytes) = 0;
  virtual void synchronize() = 0;
  [[nodiscard]] virtual std::unique_ptr<Marks> marks(std::size_t count) const = 0;
  // Null if kernels cannot be traced; use marks then. Not called on the CPU.
  virtual std::unique_ptr<KernelTracer> trace_kernels() { return nullptr; }
  // Ranges for the profiler under which this process runs, if there is one.
  [[nodiscard]] virtual std::unique_ptr<ProfilerRanges> profiler_ranges() {
    return std::make_unique<ProfilerRanges>();
  }
  // Runs `step` once and captures its kernels without executing them. `generators`: the generators,
  // other than the device's, from which the step draws. Memory that is cached but not allocated is
  // released first. Error (run): the device cannot capture kernels, or the program performs an
  // operation that cannot be captured.
  virtual Result<std::unique_ptr<Recording>> record(const std::function<void()>& step,
                                                    std::span<const at::Generator> generators) = 0;
  // Collectives of tensors in this device's memory.
  [[nodiscard]] virtual const BackendFactory& collectives() const = 0;
  // Sets the kernel for attention (use_attention). Error (run): the kernel does not exist on this
  // device.
  virtual Result<void> choose_attention(AttentionKernel kernel) = 0;
  // Allows or forbids TF32 in float32 matrix products and convolutions. Error (run): the device
  // does not support TF32.
  virtual Result<void> choose_tf32(bool allows) {
    (void)allows;
    return fail(Error::Kind::run, "{} does not support TF32; set TF32 (--tf32) to auto", name());
  }
};

struct PlatformOptions {
  int local_rank = 0, local_world_size = 1;
  int threads = 0;
  bool pins = true;  // to the CPUs nearest to the device (app/runner/gpu/pinning.h)
};

// Makes a platform. Error (run): the device does not exist or cannot be used.
using MakePlatform = Result<std::unique_ptr<Platform>> (*)(const PlatformOptions& options);

// Makes the platform that counts host memory. Call it before the first tensor is created.
Result<std::unique_ptr<Platform>> make_cpu_platform(const PlatformOptions& options);

}  // namespace jointer::runner
