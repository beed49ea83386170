#include "app/runner/support/torch_version.h"

#include <fmt/core.h>
#include <torch/headeronly/version.h>

#include "core/base/torch_version.h"

namespace jointer::runner {
namespace {

// The version without its build suffix.
std::string_view release(std::string_view torch) {
  return torch.substr(0, torch.find('+'));
}

}  // namespace

std::string_view torch_version() {
  return release(TORCH_VERSION);
}

bool matches_release(std::string_view torch) {
  return release(torch) == torch_version();
}

bool matches_minor(std::string_view torch) {
  const auto version = parse_torch_version(torch);
  return !version || version == parse_torch_version(torch_version());
}

std::string of_another_torch(std::string_view torch) {
  if (matches_minor(torch)) return {};
  return fmt::format(
      "; the capture was made with torch {0}, but this runner is built with torch {1}; build a "
      "runner with torch {0} (cmake -DJOINTER_PYTHON=...), or capture again",
      release(torch), torch_version());
}

}  // namespace jointer::runner
