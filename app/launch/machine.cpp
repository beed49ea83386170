#include "app/launch/machine.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include "core/base/environment.h"
#include "core/cost/device.h"
#include "core/process/free_memory.h"

namespace jointer {
namespace {

bool is_number(const std::string& text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c); });
}

int device_files() {
  int count = 0;
  std::error_code status;
  namespace fs = std::filesystem;
  for (fs::directory_iterator it("/dev", status), last; !status && it != last;
       it.increment(status)) {
    const std::string name = it->path().filename().string();
    if (name.starts_with("nvidia") && is_number(name.substr(6))) ++count;
  }
  return count;
}

// The number of entries before the first one that CUDA does not recognize. CUDA ignores the rest.
int named_devices(const std::string& visible) {
  int count = 0;
  std::istringstream entries(visible);
  for (std::string entry; std::getline(entries, entry, ',');) {
    std::erase(entry, ' ');
    if (!is_number(entry) && !entry.starts_with("GPU-") && !entry.starts_with("MIG-")) break;
    ++count;
  }
  return count;
}

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

// The smallest memory among GPUs whose descriptions are built in.
std::int64_t smallest_memory(const std::vector<std::string>& names) {
  std::int64_t bytes = 0;
  for (const std::string& name : names) {
    const auto device = load_device(device_id_in(name));
    if (device && (bytes == 0 || device->memory_bytes < bytes)) bytes = device->memory_bytes;
  }
  return bytes;
}

}  // namespace

Machine this_machine() {
  Machine machine;
  machine.cores = usable_cores();
  machine.gpus = device_files();
  if (const char* visible = std::getenv("CUDA_VISIBLE_DEVICES"); visible != nullptr) {
    const int named = named_devices(visible);
    machine.gpus = machine.gpus > 0 ? named : 0;
  }
  machine.free_bytes = free_memory();
  if (machine.gpus == 0) return machine;
  machine.gpu_names = driver_names();
  machine.gpu_bytes = smallest_memory(machine.gpu_names);
  return machine;
}

}  // namespace jointer
