// A library in place of NVIDIA's, with the functions that app/runner/gpu calls. The machine has
// four GPUs: 0 and 1 are linked by NVLink, 2 is behind the same host bridge as 0, and 3 is on
// another NUMA node. The environment variable FAKE_NVML changes what it reports: names and numbers,
// such as `ecc=2,mig=1`.
//
//   init     the status of nvmlInit_v2
//   ecc      uncorrected errors
//   mig      the mode
//   own      0: the list of processes does not have this one, as in a container
//   others   the number of other processes, each with 1 GiB and, with MIG, in an instance in turn
//   draws    1: another process only draws, with 100 MiB
//   hidden   1: the memory of processes is not reported
//   links    the number of active NVLinks of 18
//   without  1: calls for ECC, power and affinity are not supported

#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

constexpr int kDone = 0, kInvalid = 2, kNotSupported = 3, kNotFound = 6, kTooSmall = 7;

struct FakeGpu {
  const char* bus;
  int index;
};
constexpr std::array<FakeGpu, 4> kGpus{
    {{"0A:00.0", 0}, {"0B:00.0", 1}, {"3A:00.0", 2}, {"8A:00.0", 3}}};

struct FakeProcess {
  unsigned int pid;
  unsigned long long memory;
  unsigned int gpu_instance, compute_instance;
};

int setting(std::string_view name, int usual) {
  const char* variable = std::getenv("FAKE_NVML");
  const std::string all = variable == nullptr ? std::string() : std::string(",") + variable;
  const std::size_t found = all.find(',' + std::string(name) + '=');
  return found == std::string::npos ? usual : std::atoi(all.c_str() + found + name.size() + 2);
}

int index_of(void* device) {
  return static_cast<const FakeGpu*>(device)->index;
}

bool is_poor() {
  return setting("without", 0) == 1;
}

// Writes the processes if there is room; as NVML, always writes their number.
template <std::size_t N>
int write_processes(const std::array<FakeProcess, N>& from, unsigned int used, unsigned int* count,
                    FakeProcess* to) {
  const bool fits = used <= *count;
  *count = used;
  if (!fits) return kTooSmall;
  for (unsigned int i = 0; i < used; ++i) to[i] = from[i];
  return kDone;
}

FakeProcess process(unsigned int pid, unsigned long long bytes, unsigned int instance) {
  constexpr unsigned int kNone = ~0U;
  return {pid, setting("hidden", 0) == 1 ? ~0ULL : bytes, setting("mig", 0) == 1 ? instance : kNone,
          kNone};
}

constexpr unsigned int kSomePid = 5'000'000;  // beyond any process number of Linux

}  // namespace

#define FAKE_NVML_FUNCTION extern "C" __attribute__((visibility("default"))) int

FAKE_NVML_FUNCTION nvmlInit_v2() {
  return setting("init", kDone);
}
FAKE_NVML_FUNCTION nvmlShutdown() {
  return kDone;
}
FAKE_NVML_FUNCTION nvmlSystemGetDriverVersion(char* text, unsigned int length) {
  constexpr std::string_view kVersion = "580.65.06";
  if (length <= kVersion.size()) return kTooSmall;
  text[kVersion.copy(text, kVersion.size())] = '\0';
  return kDone;
}
FAKE_NVML_FUNCTION nvmlDeviceGetHandleByPciBusId_v2(const char* bus, void** device) {
  for (const FakeGpu& gpu : kGpus)
    if (std::string_view(bus).ends_with(gpu.bus)) {
      *device = const_cast<FakeGpu*>(&gpu);
      return kDone;
    }
  return kNotFound;
}
FAKE_NVML_FUNCTION nvmlDeviceGetClockInfo(void*, int kind, unsigned int* mhz) {
  *mhz = kind == 1 ? 1410 : 2619;
  return kDone;
}
FAKE_NVML_FUNCTION nvmlDeviceGetMaxClockInfo(void*, int, unsigned int* mhz) {
  *mhz = 1980;
  return kDone;
}
FAKE_NVML_FUNCTION nvmlDeviceGetPowerUsage(void*, unsigned int* milliwatts) {
  if (is_poor()) return kNotSupported;
  *milliwatts = 512'000;
  return kDone;
}
FAKE_NVML_FUNCTION nvmlDeviceGetTemperature(void*, int, unsigned int* celsius) {
  *celsius = 54;
  return kDone;
}
FAKE_NVML_FUNCTION nvmlDeviceGetMemoryInfo(void*, unsigned long long* total_free_used) {
  constexpr unsigned long long kGiB = 1ULL << 30;
  total_free_used[0] = 80 * kGiB;
  total_free_used[1] = 60 * kGiB;
  total_free_used[2] = 20 * kGiB;
  return kDone;
}
FAKE_NVML_FUNCTION nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* reasons) {
  *reasons = 0x004;
  return kDone;
}
FAKE_NVML_FUNCTION nvmlDeviceGetTotalEccErrors(void*, int kind, int counter,
                                               unsigned long long* count) {
  if (is_poor()) return kNotSupported;
  if (kind != 1 || counter != 0) return kInvalid;  // uncorrected, since the driver was loaded
  *count = static_cast<unsigned long long>(setting("ecc", 0));
  return kDone;
}
FAKE_NVML_FUNCTION nvmlDeviceGetMigMode(void*, unsigned int* current, unsigned int* pending) {
  *current = *pending = static_cast<unsigned int>(setting("mig", 0));
  return kDone;
}
FAKE_NVML_FUNCTION nvmlDeviceGetComputeRunningProcesses_v3(void*, unsigned int* count,
                                                           FakeProcess* processes) {
  static std::array<FakeProcess, 1024> all;
  unsigned int used = 0;
  constexpr unsigned long long kGiB = 1ULL << 30;
  if (setting("own", 1) == 1)
    all[used++] = process(static_cast<unsigned int>(::getpid()), 19 * kGiB, 1);
  for (int i = 0; i < setting("others", 0); ++i)
    all[used++] = process(kSomePid + static_cast<unsigned int>(i), kGiB,
                          1 + static_cast<unsigned int>(i) % 2);
  return write_processes(all, used, count, processes);
}
FAKE_NVML_FUNCTION nvmlDeviceGetGraphicsRunningProcesses_v3(void*, unsigned int* count,
                                                            FakeProcess* processes) {
  std::array<FakeProcess, 1> all{process(kSomePid - 1, 100ULL << 20, 1)};
  return write_processes(all, setting("draws", 0) == 1 ? 1 : 0, count, processes);
}
FAKE_NVML_FUNCTION nvmlDeviceGetP2PStatus(void* one, void* other, int kind, int* status) {
  if (kind != 2) return kInvalid;  // NVLink
  *status = index_of(one) + index_of(other) == 1 ? 0 : 5;
  return kDone;
}
FAKE_NVML_FUNCTION nvmlDeviceGetTopologyCommonAncestor(void* one, void* other, int* level) {
  *level = index_of(one) == 3 || index_of(other) == 3 ? 50 : 30;
  return kDone;
}
FAKE_NVML_FUNCTION nvmlDeviceGetNvLinkState(void* device, unsigned int link, unsigned int* active) {
  if (index_of(device) > 1) return kNotSupported;
  *active = link < static_cast<unsigned int>(setting("links", 18)) ? 1 : 0;
  return kDone;
}
FAKE_NVML_FUNCTION nvmlDeviceGetCpuAffinity(void* device, unsigned int words, unsigned long* set) {
  if (is_poor()) return kNotSupported;
  for (unsigned int i = 0; i < words; ++i) set[i] = 0;
  set[0] = index_of(device) == 3 ? 0xcUL : 0x3UL;
  return kDone;
}
