#include "core/process/python.h"

#include "core/base/environment.h"
#include "core/base/resources.h"
#include "core/process/spawn.h"

namespace jointer {

std::string python_path() {
  const std::string package = find_resource("python");
  const std::string before = environment_variable("PYTHONPATH");
  return package.empty() || before.empty() ? package : package + ':' + before;
}

Result<ProgramCommand> python_program() {
  std::string python = environment_variable("JOINTER_PYTHON");
  if (python.empty() && can_run(JOINTER_PYTHON_DEFAULT)) python = JOINTER_PYTHON_DEFAULT;
  if (python.empty()) python = "python3";
  const std::string found = find_program(python);
  if (!can_run(found))
    return fail(Error::Kind::run,
                "Python `{}` was not found or is not executable; set JOINTER_PYTHON to a Python "
                "with torch",
                python);
  const std::string path = python_path();
  if (path.empty())
    return fail(Error::Kind::run,
                "Jointer's Python package is missing from its resources; reinstall Jointer");
  return ProgramCommand{{found, "-m", "jointer"},
                        {{"PYTHONPATH", path}, {"PYTHONUNBUFFERED", "1"}}};
}

}  // namespace jointer
