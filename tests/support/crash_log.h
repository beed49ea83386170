#pragma once

// The lines of the programs that tests/workspace/test_crash.py kills.

#include <fmt/format.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <array>
#include <ctime>
#include <nlohmann/json.hpp>
#include <string>

#include "core/workspace/workspace.h"

namespace jointer::test {

inline std::string digest(const History& history) {
  OrderedJson json = OrderedJson::object();
  history_to_json(json, history);
  const std::string text = write_json(json);
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
  unsigned size = 0;
  EVP_Digest(text.data(), text.size(), bytes.data(), &size, EVP_sha256(), nullptr);
  return fmt::format("{:02x}", fmt::join(bytes.begin(), bytes.begin() + 16, ""));
}

// The system's monotonic clock.
inline std::int64_t milliseconds() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

// A single write, so that a killed program leaves no partial line.
inline void say(const std::string& line) {
  const std::string whole = line + '\n';
  if (::write(STDOUT_FILENO, whole.data(), whole.size()) < 0) ::_exit(1);
}

}  // namespace jointer::test
