#pragma once

// Stores the answers from Inductor's scheduler between runs of Jointer, each in a file.

#include <optional>
#include <string>

#include "core/base/result.h"

namespace jointer {

class AnswerCache {
 public:
  // Maximum number of answers; the oldest files are removed first.
  static constexpr std::size_t kMaxAnswers = 64;

  // Stores files in `folder`, which need not exist.
  explicit AnswerCache(std::string folder) : folder_(std::move(folder)) {}
  // $XDG_CACHE_HOME/jointer/kernels, or ~/.cache/jointer/kernels.
  static std::string default_folder();

  // Returns the answer under this key; nullopt if there is none, or if it cannot be read.
  [[nodiscard]] std::optional<std::string> find(const std::string& key) const;
  // Error (run): the folder cannot be created, or the file cannot be written.
  Result<void> save(const std::string& key, const std::string& answer) const;

 private:
  [[nodiscard]] std::string path_of(const std::string& key) const;

  std::string folder_;
};

}  // namespace jointer
