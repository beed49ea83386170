#include "app/launch/machine.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "core/base/environment.h"
#include "core/cost/device.h"
#include "core/process/free_memory.h"
#include "core/process/gpus.h"
#include "core/schedule/device_capacity.h"

namespace jointer {
namespace {

// GPU names, as NVIDIA's driver reports them in /proc.
std::vector<std::string> driver_names() {
  std::vector<std::string> names;
  std::error_code status;
  namespace fs = std::filesystem;
  for (fs::directory_iterator it("/proc/driver/nvidia/gpus", status), last; !status && it != last;
       it.increment(status)) {
    std::ifstream file(it->path() / "information");
    for (std::string line; std::getline(file, line);) {
      const auto name = line.find_first_not_of(" \t", std::string_view("Model:").size());
      if (line.starts_with("Model:") && name != std::string::npos)
        names.push_back(line.substr(name));
    }
  }
  std::ranges::sort(names);
  return names;
}

// Returns the memory that a process can allocate on the smallest of the GPUs that have a built-in
// description; 0 if none has one.
std::int64_t smallest_memory(const std::vector<std::string>& names) {
  std::int64_t bytes = 0;
  for (const std::string& name : names) {
    const auto device = load_device(device_id_in(name));
    const std::int64_t found = device ? capacity_bytes(*device).value_or(0) : 0;
    if (found > 0 && (bytes == 0 || found < bytes)) bytes = found;
  }
  return bytes;
}

}  // namespace

Machine this_machine() {
  Machine machine;
  machine.cores = usable_cores();
  machine.gpus = visible_gpus();
  machine.free_bytes = free_memory();
  if (machine.gpus == 0) return machine;
  machine.gpu_names = driver_names();
  machine.gpu_bytes = smallest_memory(machine.gpu_names);
  return machine;
}

}  // namespace jointer
