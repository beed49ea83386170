#pragma once

#include <cctype>
#include <string>
#include <vector>

namespace jointer::test {

// A file of the project, by its path from the root.
std::string source_path(const std::string& relative);

// Folder of shared captures and references, empty if it is not there.
std::string shared_directory();

// Every capture in the shared folder and its `executable` one, sorted; empty if it is not there.
std::vector<std::string> shared_captures();

// A test's name from its file: letters and digits, the folder left out.
template <class ParamInfo>
std::string parameter_name(const ParamInfo& parameter) {
  std::string name = parameter.param.substr(parameter.param.rfind('/') + 1);
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return name;
}

}  // namespace jointer::test

// Passes over a test that needs the shared captures where they are not, and says so.
#define JOINTER_NEEDS_SHARED()                     \
  if (::jointer::test::shared_directory().empty()) \
  GTEST_SKIP() << "the shared captures are not here; set JOINTER_SHARED when configuring"
