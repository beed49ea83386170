#pragma once

#include <cctype>
#include <string>
#include <vector>

namespace jointer::test {

// The absolute path of a file in the repository, given relative to its root.
std::string source_path(const std::string& relative);

// The captures in resources/samples, sorted.
std::vector<std::string> sample_captures();

// The folder of shared captures and references; empty if there is none.
std::string shared_directory();

// All captures in the folders `captures` and `captures/executable` of the shared folder, sorted;
// empty if there is no shared folder.
std::vector<std::string> shared_captures();

// A test's name for a file: the file's name without the folder, with underscores for all characters
// but letters and digits.
template <class ParamInfo>
std::string parameter_name(const ParamInfo& parameter) {
  std::string name = parameter.param.substr(parameter.param.rfind('/') + 1);
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return name;
}

}  // namespace jointer::test

// Skips a test that needs the shared captures if they are missing, with a message.
#define JOINTER_NEEDS_SHARED()                     \
  if (::jointer::test::shared_directory().empty()) \
  GTEST_SKIP() << "the shared captures are missing; set JOINTER_SHARED when configuring"
