#pragma once

// NVIDIA's management library, which is loaded at run time because it may be missing on a machine
// or in a container. Functions are looked up by name, and a library may lack some of them; the
// values that these return are then not reported.

#include <dlfcn.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace jointer::runner {

inline constexpr const char* kNvmlLibrary = "libnvidia-ml.so.1";

class Nvml {
 public:
  using Device = void*;
  // Error codes of NVML (nvmlReturn_t).
  static constexpr int success = 0, insufficient_size = 7, function_not_found = 13;

  // Null if the library is missing or cannot be initialized, for example because there is no
  // driver.
  static std::shared_ptr<const Nvml> load(const std::string& library = kNvmlLibrary);
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  // The GPU with this PCI address, in CUDA's or NVML's notation; null if there is none.
  [[nodiscard]] Device find(const std::string& bus) const;

  // Calls a function of the library. The arguments must have exactly the types of its parameters.
  template <class... Arguments>
  int call(const char* name, Arguments... arguments) const {
    auto* function = reinterpret_cast<int (*)(Arguments...)>(::dlsym(file_, name));
    return function == nullptr ? function_not_found : function(arguments...);
  }

  // The number that a function writes to its last parameter, a `Number*`; std::nullopt if it fails.
  // `kinds`: the arguments between the device and the last one, which select the number.
  template <class Number = unsigned int, class... Kinds>
  [[nodiscard]] std::optional<std::int64_t> number(const char* name, Device device,
                                                   Kinds... kinds) const {
    Number value = 0;
    if (call(name, device, kinds..., &value) != success) return std::nullopt;
    return static_cast<std::int64_t>(value);
  }

 private:
  explicit Nvml(void* file) : file_(file) {}

  void* file_;
};

}  // namespace jointer::runner
