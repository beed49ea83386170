#include "core/process/cpus.h"

#include <fmt/core.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "core/base/number_text.h"
#include "core/base/take_part.h"

namespace jointer {
namespace {

// More CPUs than any machine has. A plain cpu_set_t has room for 1,024.
constexpr int kMaxCpus = 8192;
constexpr std::size_t kSets = kMaxCpus / CPU_SETSIZE;
using CpuSet = std::array<cpu_set_t, kSets>;

bool set_affinity(pid_t thread, const CpuSet& set) {
  return ::sched_setaffinity(thread, sizeof set, set.data()) == 0;
}

}  // namespace

std::optional<Cpus> parse_cpus(std::string_view text) {
  Cpus cpus;
  while (!text.empty()) {
    const std::string_view part = take_part(text, ',');
    const std::size_t dash = part.find('-');
    const auto first = number_of<int>(part.substr(0, dash));
    const auto last =
        dash == std::string_view::npos ? first : number_of<int>(part.substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first || *last >= kMaxCpus) return std::nullopt;
    for (int cpu = *first; cpu <= *last; ++cpu) cpus.push_back(cpu);
  }
  if (cpus.empty()) return std::nullopt;
  std::ranges::sort(cpus);
  cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
  return cpus;
}

std::string to_text(const Cpus& cpus) {
  std::string text;
  for (std::size_t i = 0; i < cpus.size();) {
    std::size_t last = i;
    while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += last == i ? fmt::format("{}", cpus[i]) : fmt::format("{}-{}", cpus[i], cpus[last]);
    i = last + 1;
  }
  return text;
}

Cpus online_cpus(const std::string& root) {
  std::ifstream file(root + "/sys/devices/system/cpu/online");
  std::string line;
  std::getline(file, line);
  return parse_cpus(line).value_or(Cpus{});
}

Cpus allowed_cpus() {
  CpuSet set{};
  if (::sched_getaffinity(0, sizeof set, set.data()) != 0) return {};
  Cpus cpus;
  for (int cpu = 0; cpu < kMaxCpus; ++cpu)
    if (CPU_ISSET_S(static_cast<std::size_t>(cpu), sizeof set, set.data())) cpus.push_back(cpu);
  return cpus;
}

bool restrict_threads(const Cpus& cpus) {
  CpuSet set{};
  for (const int cpu : cpus)
    if (cpu >= 0 && cpu < kMaxCpus)
      CPU_SET_S(static_cast<std::size_t>(cpu), sizeof set, set.data());
  if (!set_affinity(0, set)) return false;
  bool all = true;
  std::error_code error;
  for (std::filesystem::directory_iterator it("/proc/self/task", error), last; !error && it != last;
       it.increment(error)) {
    const auto thread = number_of<pid_t>(it->path().filename().string());
    // A thread may end at any time.
    if (thread && !set_affinity(*thread, set) && std::filesystem::exists(it->path())) all = false;
  }
  return all && !error;
}

}  // namespace jointer
