#include "core/process/run_child.h"

#include <chrono>
#include <utility>

namespace jointer {
namespace {

constexpr std::chrono::milliseconds kCheckInterval{50};

}  // namespace

Result<FinishedChild> run_child(ChildOptions options, const std::function<bool()>& is_cancelled) {
  JOINTER_TRY(Child child, Child::start(std::move(options)));
  bool was_cancelled = false;
  Child* const self = &child;
  while (!child.end()) {
    if (!was_cancelled && is_cancelled && is_cancelled()) {
      was_cancelled = true;
      child.kill();
    }
    Child::pump({&self, 1}, kCheckInterval);
  }
  if (was_cancelled) return fail(Error::Kind::cancelled, "cancelled");
  return FinishedChild{*child.end(), child.last_error()};
}

}  // namespace jointer
