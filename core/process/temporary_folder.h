#pragma once

#include <string>
#include <utility>

#include "core/base/result.h"

namespace jointer {

// A new folder that nobody else may read, removed with all that is in it when this object goes.
class TemporaryFolder {
 public:
  // In TMPDIR, else /tmp; its name begins with `prefix`. Error (run): it cannot be made.
  static Result<TemporaryFolder> make(const std::string& prefix);

  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TemporaryFolder& operator=(TemporaryFolder&& other) noexcept {
    std::swap(path_, other.path_);
    return *this;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();

  [[nodiscard]] const std::string& path() const { return path_; }
  // Of something in it.
  [[nodiscard]] std::string path(const std::string& name) const { return path_ + '/' + name; }

 private:
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace jointer
