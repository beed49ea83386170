#pragma once

// Opens the shared object of a plugin. Only the plugin host does this, because opening runs code.

#include <memory>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/pass/pass.h"

namespace jointer {

class PluginLibrary {
 public:
  // Error (usage): the file is not a shared object, a symbol is missing, the version or the build
  // differs, or the entry point or make_passes fails; the message is one sentence.
  static Result<PluginLibrary> open(const std::string& path);

  // The passes use the code in the library, so they must not outlive this object.
  [[nodiscard]] const std::vector<Pass>& passes() const { return passes_; }

 private:
  struct Close {
    void operator()(void* handle) const;
  };
  std::unique_ptr<void, Close> handle_;
  std::vector<Pass> passes_;  // destroyed before `handle_`
};

}  // namespace jointer
