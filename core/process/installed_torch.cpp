#include "core/process/installed_torch.h"

#include <utility>

#include "core/process/run_child.h"

namespace jointer {
namespace {

constexpr const char* kAskVersion = R"(
import importlib.metadata, importlib.util, sys
try:
    print("torch", importlib.metadata.version("torch"))
except importlib.metadata.PackageNotFoundError:
    print("torch", sys.argv[1] if importlib.util.find_spec("torch") else "")
)";

}  // namespace

Result<std::string> installed_torch(const ProgramCommand& python,
                                    const std::function<bool()>& is_cancelled) {
  const std::string& program = python.command.front();
  constexpr std::string_view kPrefix = "torch ";
  std::string version;
  bool is_known = false;
  ChildOptions child;
  child.command = {program, "-c", kAskVersion, std::string(kUnknownTorch)};
  child.environment = python.environment;
  child.on_line = [&](std::string_view line) {
    if (!line.starts_with(kPrefix)) return;  // printed by a site's own start-up code
    is_known = true;
    version = line.substr(kPrefix.size());
  };
  JOINTER_TRY(const FinishedChild ended, run_child(std::move(child), is_cancelled));
  if (!ended.end.succeeded())
    return fail(Error::Kind::run, "{}; set JOINTER_PYTHON to a Python with torch",
                failure_text(program, ended.end, ended.last_error));
  if (!is_known)
    return fail(Error::Kind::run,
                "{} did not print its version of torch, so it may not be Python; set "
                "JOINTER_PYTHON to a Python with torch",
                program);
  if (version.empty())
    return fail(Error::Kind::run,
                "torch is not installed for {}; install it with `{} -m pip install torch`, or set "
                "JOINTER_PYTHON to a Python that has it",
                program, program);
  return version;
}

}  // namespace jointer
