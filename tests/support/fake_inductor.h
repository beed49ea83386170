#pragma once

// The environment in which tests/support/fake_inductor.py stands in for Python with torch.

#include <cstdlib>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/paths.h"
#include "tests/support/temporary_folder.h"

namespace jointer::test {

// While it exists, this process asks the fake, and answers are cached in a folder that is
// removed with it.
class FakeInductor {
 public:
  FakeInductor() {
    set("JOINTER_PYTHON", source_path("tests/support/fake_inductor.py"));
    set("XDG_CACHE_HOME", folder_.path().string());
    set("FAKE_LOG", folder_.path().string());
  }
  FakeInductor(const FakeInductor&) = delete;
  FakeInductor& operator=(const FakeInductor&) = delete;
  ~FakeInductor() {
    // The oldest value is restored last.
    for (auto at = before_.rbegin(); at != before_.rend(); ++at) {
      const auto& [name, before] = *at;
      if (before.empty())
        ::unsetenv(name.c_str());
      else
        ::setenv(name.c_str(), before.c_str(), 1);
    }
  }

  // "answer", "sleep", "fail", "refuse" or "babble".
  void act(const std::string& action) { set("FAKE_INDUCTOR", action); }
  // The version of torch; empty: none is installed.
  void have_torch(const std::string& version) { set("FAKE_TORCH", version); }
  // A setting of Inductor, such as "TORCHINDUCTOR_MAX_FUSION_SIZE".
  void configure(const char* variable, const std::string& value) { set(variable, value); }
  // These calls, separated by commas, are one kernel.
  void fuse(const std::string& names) { set("FAKE_FUSE", names); }

  // One line per run of the worker: the ids of its processes.
  [[nodiscard]] std::vector<std::string> runs() const {
    std::vector<std::string> lines;
    std::ifstream file(folder_ / "runs");
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }
  [[nodiscard]] std::string cache() const { return folder_ / "jointer/kernels"; }

 private:
  void set(const char* name, const std::string& value) {
    const char* before = std::getenv(name);
    before_.emplace_back(name, before == nullptr ? "" : before);
    ::setenv(name, value.c_str(), 1);
  }

  TemporaryFolder folder_;
  std::vector<std::pair<std::string, std::string>> before_;
};

}  // namespace jointer::test
