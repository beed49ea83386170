#pragma once

#include <filesystem>
#include <string>

#include "core/process/temporary_folder.h"

namespace jointer::test {

// A new temporary folder, removed with its contents by the destructor.
class TemporaryFolder {
 public:
  [[nodiscard]] std::string operator/(const std::string& name) const { return folder_.path(name); }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  jointer::TemporaryFolder folder_ = jointer::TemporaryFolder::make("jointer.").value();
  std::filesystem::path path_ = folder_.path();
};

}  // namespace jointer::test
