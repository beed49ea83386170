#pragma once

// What a run needs of the device it is on. The CPU's is always there; that of CUDA lies in a binary
// of its own (jointer-runner-cuda), so that jointer-runner starts where there is no such library.

#include <c10/core/Device.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/runner/groups/backend_factory.h"
#include "core/base/result.h"
#include "core/bench/request.h"

namespace jointer::runner {

// Moments on the device, in the order in which its work passes them.
class Marks {
 public:
  virtual ~Marks() = default;
  Marks() = default;
  Marks(const Marks&) = delete;
  Marks& operator=(const Marks&) = delete;

  // As the device comes by; costs the host no wait.
  virtual void mark(std::size_t index) = 0;
  // Waits for the device. Nanoseconds since mark 0, one a mark; marks must all have been made.
  virtual std::vector<std::int64_t> read() = 0;
};

struct MemoryFigures {
  std::int64_t allocated = 0;  // now
  std::int64_t peak_allocated = 0, peak_requested = 0, peak_reserved = 0;
};

// A program that runs again without its host: a CUDA graph.
class Recording {
 public:
  virtual ~Recording() = default;
  Recording() = default;
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  virtual void replay() = 0;
};

class Platform {
 public:
  virtual ~Platform() = default;
  Platform() = default;
  Platform(const Platform&) = delete;
  Platform& operator=(const Platform&) = delete;

  [[nodiscard]] virtual at::Device device() const = 0;
  [[nodiscard]] virtual std::string name() const = 0;  // "NVIDIA H200"
  [[nodiscard]] virtual MemoryFigures memory() const = 0;
  // What is allocated now no longer counts: a program's own constants, before its inputs.
  virtual void start_counting() = 0;
  // Peaks start anew at what is allocated now.
  virtual void reset_peaks() = 0;
  // Fails allocations that would take more than this many bytes in all; 0: leaves it at what the
  // device has.
  virtual void limit_memory(std::int64_t bytes) = 0;
  virtual void synchronize() = 0;
  [[nodiscard]] virtual std::unique_ptr<Marks> marks(std::size_t count) const = 0;
  // Runs `step` once while its kernels are recorded. Error (run): the device cannot, or the program
  // does something that a recording may not.
  virtual Result<std::unique_ptr<Recording>> record(const std::function<void()>& step) = 0;
  // Collectives on this device's memory.
  [[nodiscard]] virtual const BackendFactory& collectives() const = 0;
  // Which kernels attention may use, where operators leave it open.
  // Error (run): there is no such kernel here.
  virtual Result<void> choose_attention(AttentionKernel kernel) = 0;
};

struct PlatformOptions {
  int local_rank = 0, local_world_size = 1;
  int threads = 0;
};

// Error (run): the device cannot be found.
using MakePlatform = Result<std::unique_ptr<Platform>> (*)(const PlatformOptions& options);

// The host's memory is counted from here on: before the first tensor.
Result<std::unique_ptr<Platform>> make_cpu_platform(const PlatformOptions& options);

}  // namespace jointer::runner
