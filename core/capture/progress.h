#pragma once

#include <functional>
#include <string_view>

namespace jointer {

// Called periodically on the working thread with the progress of a long task: `fraction` is 0 to 1,
// `what` names the current work. Return false to stop; the task then soon ends with
// Error::Kind::cancelled.
using Progress = std::function<bool(double fraction, std::string_view what)>;

}  // namespace jointer
