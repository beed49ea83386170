#include "app/runner/gpu/gpu_links.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <climits>
#include <fstream>
#include <utility>

namespace jointer::runner {
namespace {

constexpr int kNvlinkStatus = 2;            // a kind of nvmlDeviceGetP2PStatus
constexpr int kStatusOk = 0;                // NVML_P2P_STATUS_OK
constexpr unsigned int kMaxNvlinks = 18;    // NVML_NVLINK_MAX_LINKS
constexpr unsigned int kMaxCpuWords = 128;  // room for the CPUs of any machine

// nvmlGpuTopologyLevel_t. Two GPUs at the internal level are on one board.
constexpr std::array<std::pair<int, const char*>, 6> kConnections{{
    {0, "on one board with"},
    {10, "PCIe through one switch to"},
    {20, "PCIe through several switches to"},
    {30, "PCIe through the host bridge to"},
    {40, "PCIe through the host bridges of one NUMA node to"},
    {50, "PCIe through the link between NUMA nodes to"},
}};
constexpr const char* kNvlink = "NVLink to";

// The beginning of a line that describes the connection; null if it is unknown.
const char* connection_of(const Nvml& nvml, Nvml::Device one, Nvml::Device other) {
  int status = -1;
  if (nvml.call("nvmlDeviceGetP2PStatus", one, other, kNvlinkStatus, &status) == Nvml::success &&
      status == kStatusOk)
    return kNvlink;
  int level = -1;
  if (nvml.call("nvmlDeviceGetTopologyCommonAncestor", one, other, &level) != Nvml::success)
    return nullptr;
  const auto* found = std::ranges::find(kConnections, level, &std::pair<int, const char*>::first);
  return found == kConnections.end() ? nullptr : found->second;
}

// "NVLink: 17 of 18 links are active", or empty if the GPU has none.
std::string nvlinks_text(const Nvml& nvml, Nvml::Device device) {
  int links = 0, active = 0;
  for (unsigned int link = 0; link < kMaxNvlinks; ++link) {
    const auto state = nvml.number("nvmlDeviceGetNvLinkState", device, link);
    if (!state) continue;
    ++links;
    active += *state != 0 ? 1 : 0;
  }
  return links == 0 ? std::string()
                    : fmt::format("NVLink: {} of {} links are active", active, links);
}

// "0000:3b:00.0", as Linux names a PCI device: NVML writes eight digits of the domain, and CUDA
// writes capital letters.
std::string linux_address(std::string bus) {
  constexpr std::size_t kDomainDigits = 4;
  const std::size_t colon = bus.find(':');
  if (colon != std::string::npos && colon > kDomainDigits) bus.erase(0, colon - kDomainDigits);
  for (char& c : bus)
    if (c >= 'A' && c <= 'F') c = static_cast<char>(c - 'A' + 'a');
  return bus;
}

std::string first_line_of(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// The CPUs whose bits are set in the words that NVML writes.
Cpus nvml_cpus(const Nvml& nvml, Nvml::Device device) {
  std::array<unsigned long, kMaxCpuWords> words{};
  if (nvml.call("nvmlDeviceGetCpuAffinity", device, kMaxCpuWords, words.data()) != Nvml::success)
    return {};
  constexpr std::size_t kBits = sizeof(unsigned long) * CHAR_BIT;
  Cpus cpus;
  for (std::size_t i = 0; i < words.size() * kBits; ++i)
    if ((words[i / kBits] >> (i % kBits) & 1UL) != 0) cpus.push_back(static_cast<int>(i));
  return cpus;
}

}  // namespace

std::vector<std::string> describe_links(const Nvml& nvml, const NumberedGpu& gpu,
                                        std::span<const NumberedGpu> others) {
  const Nvml::Device device = nvml.find(gpu.bus);
  if (device == nullptr) return {};
  std::vector<std::pair<const char*, std::vector<int>>> by_kind;
  for (const NumberedGpu& other : others) {
    const Nvml::Device peer = nvml.find(other.bus);
    const char* kind = peer == nullptr ? nullptr : connection_of(nvml, device, peer);
    if (kind == nullptr) continue;
    const auto found =
        std::ranges::find_if(by_kind, [&](const auto& s) { return s.first == kind; });
    std::vector<int>& numbers = found == by_kind.end()
                                    ? by_kind.emplace_back(kind, std::vector<int>{}).second
                                    : found->second;
    numbers.push_back(other.number);
  }
  std::vector<std::string> lines;
  for (const auto& [kind, numbers] : by_kind) {
    std::string line = fmt::format("{} GPU{}", kind, numbers.size() == 1 ? "" : "s");
    for (std::size_t i = 0; i < numbers.size(); ++i)
      line += fmt::format("{}{}", i == 0 ? " " : ", ", numbers[i]);
    lines.push_back(std::move(line));
  }
  if (std::string links = nvlinks_text(nvml, device); !links.empty())
    lines.push_back(std::move(links));
  return lines;
}

std::optional<int> numa_node_of(const std::string& bus, const std::string& root) {
  std::ifstream file(root + "/sys/bus/pci/devices/" + linux_address(bus) + "/numa_node");
  int node = -1;
  if (!(file >> node) || node < 0) return std::nullopt;
  return node;
}

Cpus cpus_near(const std::string& bus, const Nvml* nvml, const std::string& root) {
  if (const auto node = numa_node_of(bus, root))
    if (const auto cpus = parse_cpus(
            first_line_of(fmt::format("{}/sys/devices/system/node/node{}/cpulist", root, *node))))
      return *cpus;
  const Nvml::Device device = nvml == nullptr ? nullptr : nvml->find(bus);
  return device == nullptr ? Cpus{} : nvml_cpus(*nvml, device);
}

}  // namespace jointer::runner
