#include "app/launch/programs.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "core/base/resources.h"
#include "core/process/spawn.h"

namespace jointer {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

bool can_run(const std::string& path) {
  std::error_code status;
  return std::filesystem::is_regular_file(path, status) && ::access(path.c_str(), X_OK) == 0;
}

std::string beside_this_program(const char* name) {
  std::error_code status;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", status);
  return status ? std::string() : (self.parent_path() / name).string();
}

}  // namespace

Result<ProgramCommand> runner_program() {
  constexpr const char* kName = "jointer-runner";
  if (const std::string named = variable("JOINTER_RUNNER"); !named.empty()) {
    const std::string found = find_program(named);
    if (!can_run(found))
      return fail(Error::Kind::run, "JOINTER_RUNNER is `{}`, which is no program", named);
    return ProgramCommand{{found}, {}};
  }
  if (const std::string beside = beside_this_program(kName); can_run(beside))
    return ProgramCommand{{beside}, {}};
  if (const std::string found = find_program(kName); !found.empty())
    return ProgramCommand{{found}, {}};
  return fail(Error::Kind::run,
              "{} is neither beside this program nor on the path: build it where LibTorch is, name "
              "it in JOINTER_RUNNER, or use --backend python",
              kName);
}

Result<ProgramCommand> python_program() {
  std::string python = variable("JOINTER_PYTHON");
  if (python.empty() && can_run(JOINTER_PYTHON_DEFAULT)) python = JOINTER_PYTHON_DEFAULT;
  if (python.empty()) python = "python3";
  const std::string found = find_program(python);
  if (!can_run(found))
    return fail(Error::Kind::run,
                "there is no Python `{}`: name one that has torch in JOINTER_PYTHON", python);
  const std::string package = find_resource("python");
  if (package.empty())
    return fail(Error::Kind::run,
                "the Python package is not where it was installed with this program");
  const std::string before = variable("PYTHONPATH");
  return ProgramCommand{{found, "-m", "jointer"},
                        {{"PYTHONPATH", before.empty() ? package : package + ':' + before},
                         {"PYTHONUNBUFFERED", "1"}}};
}

}  // namespace jointer
