#include "app/runner/gpu/nvml.h"

namespace jointer::runner {

std::shared_ptr<const Nvml> Nvml::load(const std::string& library) {
  void* file = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (file == nullptr) return nullptr;
  using Initialize = int (*)();
  auto* initialize = reinterpret_cast<Initialize>(::dlsym(file, "nvmlInit_v2"));
  if (initialize == nullptr || initialize() != success) {
    ::dlclose(file);
    return nullptr;
  }
  return std::shared_ptr<const Nvml>(new Nvml(file));
}

Nvml::~Nvml() {
  call("nvmlShutdown");
  ::dlclose(file_);
}

Nvml::Device Nvml::find(const std::string& bus) const {
  Device device = nullptr;
  return call("nvmlDeviceGetHandleByPciBusId_v2", bus.c_str(), &device) == success ? device
                                                                                   : nullptr;
}

}  // namespace jointer::runner
