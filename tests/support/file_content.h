#pragma once

#include <fstream>
#include <sstream>
#include <string>

namespace jointer::test {

// The bytes of a file; empty if it cannot be read.
inline std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace jointer::test
