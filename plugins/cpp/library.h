#pragma once

// The shared object of a plugin, opened. Only its host does this: opening runs code.

#include <memory>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/pass/pass.h"

namespace jointer {

class PluginLibrary {
 public:
  // Error (usage), in one sentence: it is no shared object, a symbol is missing, it is of another
  // version, its declarations cannot be had.
  static Result<PluginLibrary> open(const std::string& path);

  // Code of the library: not to be called, or destroyed, after it.
  [[nodiscard]] const std::vector<Pass>& passes() const { return passes_; }

 private:
  struct Close {
    void operator()(void* handle) const;
  };
  std::unique_ptr<void, Close> handle_;
  std::vector<Pass> passes_;  // gone before the library is
};

}  // namespace jointer
