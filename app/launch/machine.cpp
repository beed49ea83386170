#include "app/launch/machine.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <thread>

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

}  // namespace

Machine this_machine() {
  Machine machine;
  machine.cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  machine.gpus = device_files();
  if (const char* visible = std::getenv("CUDA_VISIBLE_DEVICES"); visible != nullptr) {
    const int named = named_devices(visible);
    machine.gpus = machine.gpus > 0 ? named : 0;
  }
  return machine;
}

}  // namespace jointer
