// The part of NVML's interface that is used here is declared as in nvml.h of CUDA 12 and 13, which is
// packaged separately from the toolkit.

#include "app/runner/cuda/nvml.h"

#include <dlfcn.h>

#include <array>
#include <utility>

namespace jointer::runner {
namespace {

using Device = void*;
constexpr int kSuccess = 0;
constexpr int kSmClock = 1, kMemoryClock = 2, kGpuSensor = 0;

struct MemoryInfo {
  unsigned long long total, free, used;
};

// NVML's reasons for reduced clocks, without idle clocks and limits set by an application.
constexpr std::array<std::pair<unsigned long long, const char*>, 5> kSlowdowns{{
    {0x004, "power limit"},
    {0x008, "hardware slowdown"},
    {0x020, "temperature"},
    {0x040, "temperature, by hardware"},
    {0x080, "power brake"},
}};

}  // namespace

struct GpuMonitor::Library {
  void* file = nullptr;
  Device device = nullptr;

  template <class... Arguments>
  bool call(const char* name, Arguments... arguments) const {
    auto* function = reinterpret_cast<int (*)(Arguments...)>(::dlsym(file, name));
    return function != nullptr && function(arguments...) == kSuccess;
  }
  // The number that an NVML function writes to its last argument; 0 if the call fails. The arguments
  // before it are the device and, for some functions, a kind.
  template <class... Kind>
  std::int64_t figure(const char* name, Kind... kind) const {
    unsigned int value = 0;
    return call(name, device, kind..., &value) ? value : 0;
  }
};

GpuMonitor::GpuMonitor(const std::string& bus) : library_(std::make_unique<Library>()) {
  library_->file = ::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library_->file == nullptr) return;
  if (!library_->call("nvmlInit_v2") ||
      !library_->call("nvmlDeviceGetHandleByPciBusId_v2", bus.c_str(), &library_->device))
    library_->device = nullptr;
}

GpuMonitor::~GpuMonitor() {
  if (library_->device != nullptr) library_->call("nvmlShutdown");
  if (library_->file != nullptr) ::dlclose(library_->file);
}

std::optional<GpuState> GpuMonitor::read() const {
  if (library_->device == nullptr) return std::nullopt;
  GpuState state;
  state.sm_mhz = library_->figure("nvmlDeviceGetClockInfo", kSmClock);
  state.max_sm_mhz = library_->figure("nvmlDeviceGetMaxClockInfo", kSmClock);
  state.memory_mhz = library_->figure("nvmlDeviceGetClockInfo", kMemoryClock);
  state.milliwatts = library_->figure("nvmlDeviceGetPowerUsage");
  state.celsius = library_->figure("nvmlDeviceGetTemperature", kGpuSensor);
  MemoryInfo memory{};
  if (library_->call("nvmlDeviceGetMemoryInfo", library_->device, &memory))
    state.used_bytes = static_cast<std::int64_t>(memory.used);
  unsigned long long reasons = 0;
  if (library_->call("nvmlDeviceGetCurrentClocksThrottleReasons", library_->device, &reasons))
    for (const auto& [bit, reason] : kSlowdowns)
      if ((reasons & bit) != 0) state.slowdowns.emplace_back(reason);
  return state;
}

}  // namespace jointer::runner
