#pragma once

#include <sys/types.h>

#include <chrono>
#include <fstream>
#include <string>
#include <thread>

namespace jointer::test {

// Returns true if the process still runs: a zombie that its new parent has yet to reap does not.
inline bool is_alive(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text);
  const std::size_t name_end = text.rfind(')');
  return name_end != std::string::npos && text.size() > name_end + 2 && text[name_end + 2] != 'Z' &&
         text[name_end + 2] != 'X';
}

// True if the process ends within two seconds; waits for that.
inline bool dies_soon(pid_t pid) {
  for (int i = 0; i < 200 && is_alive(pid); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return !is_alive(pid);
}

}  // namespace jointer::test
