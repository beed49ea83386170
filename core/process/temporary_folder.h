#pragma once

#include <string>
#include <utility>

#include "core/base/result.h"

namespace jointer {

// A new folder that only this user can access. The destructor removes the folder and its contents.
class TemporaryFolder {
 public:
  // Creates the folder in $TMPDIR, or in /tmp if that is unset or empty, under a name that begins
  // with `prefix`. Error (run): the folder cannot be created.
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
  // The path of an entry in the folder.
  [[nodiscard]] std::string path(const std::string& name) const { return path_ + '/' + name; }

 private:
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace jointer
