#include "app/runner/gpu/gpu_surroundings.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <array>
#include <fstream>
#include <string>
#include <utility>

#include "app/runner/gpu/pinning.h"

namespace jointer::runner {
namespace {

// The version of the driver, such as "580.65.06"; empty if it is unknown. `nvml` may be null.
std::string driver_version(const Nvml* nvml, const std::string& root) {
  std::array<char, 80> text{};  // NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE
  if (nvml != nullptr && nvml->call("nvmlSystemGetDriverVersion", text.data(),
                                    static_cast<unsigned int>(text.size())) == Nvml::success)
    return text.data();
  std::ifstream file(root + "/sys/module/nvidia/version");
  std::string version;
  std::getline(file, version);
  return version;
}

}  // namespace

GpuSurroundings::GpuSurroundings(SurroundingsOptions options)
    : nvml_(Nvml::load(options.nvml)), monitor_(nvml_, options.gpu.bus) {
  if (const std::string driver = driver_version(nvml_.get(), options.root); !driver.empty())
    facts_.push_back("driver " + driver);
  const auto node = numa_node_of(options.gpu.bus, options.root);
  facts_.push_back(fmt::format("GPU {} at {}{}", options.gpu.number, options.gpu.bus,
                               node ? fmt::format(", NUMA node {}", *node) : std::string()));
  if (nvml_) {
    for (std::string& link : describe_links(*nvml_, options.gpu, options.others))
      facts_.push_back(std::move(link));
  } else {
    notes_.push_back(
        fmt::format("NVML ({}) is missing or does not work: the GPU's clocks, memory errors, other "
                    "processes and links are unknown",
                    options.nvml));
  }
  if (options.pins) pin(options);
}

std::vector<std::string> GpuSurroundings::facts() const {
  std::vector<std::string> facts = facts_;
  if (const auto unreported = monitor_.unreported(); nvml_ && !unreported.empty())
    facts.push_back(fmt::format("NVML does not report: {}", fmt::join(unreported, ", ")));
  return facts;
}

void GpuSurroundings::pin(const SurroundingsOptions& options) {
  PinningChoice choice = choose_pinning(cpus_near(options.gpu.bus, nvml_.get(), options.root),
                                        allowed_cpus(), online_cpus(options.root));
  if (!choice.fact.empty()) facts_.push_back(std::move(choice.fact));
  if (choice.cpus.empty()) return;
  if (restrict_threads(choice.cpus)) {
    pinned_cpus_ = static_cast<int>(choice.cpus.size());
    notes_.push_back(std::move(choice.note));
  } else {
    facts_.push_back(
        fmt::format("not pinned: the system does not allow it for CPUs {}", to_text(choice.cpus)));
  }
}

}  // namespace jointer::runner
