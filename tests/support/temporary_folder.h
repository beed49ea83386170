#pragma once

#include <filesystem>
#include <string>

#include "core/process/temporary_folder.h"

namespace jointer::test {

// A new temporary folder, removed with its contents by the destructor.
class TemporaryFolder {
 public:
  TemporaryFolder()
      : folder_(jointer::TemporaryFolder::make("jointer.").value()), path_(folder_.path()) {}
  [[nodiscard]] std::string operator/(const std::string& name) const { return folder_.path(name); }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  jointer::TemporaryFolder folder_;
  std::filesystem::path path_;
};

}  // namespace jointer::test
