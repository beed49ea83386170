#include "core/base/environment.h"

#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

namespace jointer {

std::string environment_variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

namespace {

std::string folder_of(const char* variable, const char* in_home) {
  std::string base = environment_variable(variable);
  if (!base.starts_with('/')) base = environment_variable("HOME") + in_home;
  return base + "/jointer";
}

}  // namespace

std::string data_folder() {
  return folder_of("XDG_DATA_HOME", "/.local/share");
}

std::string state_folder() {
  return folder_of("XDG_STATE_HOME", "/.local/state");
}

std::string cache_folder() {
  return folder_of("XDG_CACHE_HOME", "/.cache");
}

std::string this_program() {
  std::error_code status;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", status);
  return status ? std::string() : self.string();
}

std::string sibling_program(std::string_view name) {
  const std::filesystem::path self = this_program();
  return self.empty() ? std::string() : (self.parent_path() / name).string();
}

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return {};
}

int usable_cores() {
  cpu_set_t cores;
  if (::sched_getaffinity(0, sizeof cores, &cores) == 0) return CPU_COUNT(&cores);
  // sched_getaffinity fails if the machine has more cores than the set can hold.
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace jointer
