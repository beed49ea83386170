// The part of NVML's interface that is used here is declared as in nvml.h of CUDA 12 and 13, which
// is packaged separately from the toolkit.

#include "app/runner/gpu/gpu_monitor.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

namespace jointer::runner {
namespace {

constexpr int kSmClock = 1, kMemoryClock = 2, kGpuSensor = 0;
constexpr int kUncorrected = 1, kVolatile = 0;  // kinds of errors, and of their counters

// nvmlMemory_t
struct MemoryInfo {
  unsigned long long total, free, used;
};

// nvmlProcessInfo_t. The memory is kUnknownMemory if the driver does not report it; without MIG,
// the instance is kNoInstance.
struct ProcessInfo {
  unsigned int pid;
  unsigned long long memory;
  unsigned int gpu_instance, compute_instance;
};
constexpr unsigned long long kUnknownMemory = ~0ULL;
constexpr unsigned int kNoInstance = ~0U;

// NVML's reasons for reduced clocks, without idle clocks, sync boost, and clocks set by an
// application or for a display.
constexpr std::array<std::pair<unsigned long long, const char*>, 5> kSlowdowns{{
    {0x004, "power limit"},
    {0x008, "hardware slowdown"},
    {0x020, "temperature"},
    {0x040, "temperature, by hardware"},
    {0x080, "power brake"},
}};

// The processes that a function of NVML lists; std::nullopt if it does not list them.
std::optional<std::vector<ProcessInfo>> processes_of(const Nvml& nvml, Nvml::Device device,
                                                     const char* function) {
  std::vector<ProcessInfo> processes(64);
  for (;;) {
    auto count = static_cast<unsigned int>(processes.size());
    const int status = nvml.call(function, device, &count, processes.data());
    constexpr std::size_t kMax = 1 << 16;
    if (status == Nvml::insufficient_size && processes.size() < kMax) {
      processes.resize(2 * processes.size());
      continue;
    }
    if (status != Nvml::success) return std::nullopt;
    processes.resize(std::min<std::size_t>(count, processes.size()));
    return processes;
  }
}

// Adds this process's memory, and the other processes on this GPU or, if it is divided, on this
// process's instance. Returns
// false if the driver does not list the processes, does not list this one, as in a container that
// has its own process numbers, or does not report their memory.
bool add_processes(const Nvml& nvml, Nvml::Device device, GpuState& state) {
  const auto computing = processes_of(nvml, device, "nvmlDeviceGetComputeRunningProcesses_v3");
  if (!computing) return false;
  const auto own_pid = static_cast<unsigned int>(::getpid());
  const auto own = std::ranges::find(*computing, own_pid, &ProcessInfo::pid);
  if (own == computing->end()) return false;
  if (own->memory != kUnknownMemory) state.own_bytes = static_cast<std::int64_t>(own->memory);
  const unsigned int instance = own->gpu_instance;
  std::vector<ProcessInfo> others;
  const auto add = [&](const ProcessInfo& process) {
    // A process that both computes and draws is in both lists.
    const bool is_known = std::ranges::find(others, process.pid, &ProcessInfo::pid) != others.end();
    const bool is_here = instance == kNoInstance || process.gpu_instance == instance;
    if (process.pid == own_pid || is_known || !is_here) return false;
    others.push_back(process);
    return true;
  };
  for (const ProcessInfo& process : *computing)
    if (add(process)) ++state.other_processes;
  for (const ProcessInfo& process :
       processes_of(nvml, device, "nvmlDeviceGetGraphicsRunningProcesses_v3")
           .value_or(std::vector<ProcessInfo>{}))
    add(process);
  std::int64_t bytes = 0;
  for (const ProcessInfo& process : others) {
    if (process.memory == kUnknownMemory) return false;
    bytes += static_cast<std::int64_t>(process.memory);
  }
  state.other_bytes = bytes;
  return true;
}

}  // namespace

GpuMonitor::GpuMonitor(std::shared_ptr<const Nvml> nvml, const std::string& bus)
    : nvml_(std::move(nvml)), device_(nvml_ ? nvml_->find(bus) : nullptr) {}

std::optional<GpuState> GpuMonitor::read() const {
  if (device_ == nullptr) return std::nullopt;
  return read_all().state;
}

std::vector<std::string> GpuMonitor::unreported() const {
  if (device_ == nullptr) return {};
  return read_all().unreported;
}

GpuMonitor::Reading GpuMonitor::read_all() const {
  Reading reading;
  GpuState& state = reading.state;
  const auto take = [&](const char* what, std::int64_t& value,
                        const std::optional<std::int64_t>& reported) {
    if (reported)
      value = *reported;
    else
      reading.unreported.emplace_back(what);
  };
  take("clocks", state.sm_mhz, nvml_->number("nvmlDeviceGetClockInfo", device_, kSmClock));
  state.max_sm_mhz = nvml_->number("nvmlDeviceGetMaxClockInfo", device_, kSmClock).value_or(0);
  state.memory_mhz = nvml_->number("nvmlDeviceGetClockInfo", device_, kMemoryClock).value_or(0);
  take("power", state.milliwatts, nvml_->number("nvmlDeviceGetPowerUsage", device_));
  take("temperature", state.celsius,
       nvml_->number("nvmlDeviceGetTemperature", device_, kGpuSensor));
  MemoryInfo memory{};
  if (nvml_->call("nvmlDeviceGetMemoryInfo", device_, &memory) == Nvml::success)
    state.used_bytes = static_cast<std::int64_t>(memory.used);
  else
    reading.unreported.emplace_back("memory in use");
  unsigned long long reasons = 0;
  if (nvml_->call("nvmlDeviceGetCurrentClocksThrottleReasons", device_, &reasons) == Nvml::success)
    for (const auto& [bit, reason] : kSlowdowns)
      if ((reasons & bit) != 0) state.slowdowns.emplace_back(reason);
  take("memory errors (ECC)", state.uncorrected_ecc_errors,
       nvml_->number<unsigned long long>("nvmlDeviceGetTotalEccErrors", device_, kUncorrected,
                                         kVolatile));
  // GPUs without MIG do not report a mode.
  unsigned int mode = 0, pending = 0;
  state.mig =
      nvml_->call("nvmlDeviceGetMigMode", device_, &mode, &pending) == Nvml::success && mode != 0;
  if (!add_processes(*nvml_, device_, state))
    reading.unreported.emplace_back("memory of other processes");
  return reading;
}

}  // namespace jointer::runner
