#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

namespace jointer {

// Called periodically on the worker thread with the progress of a long task: `fraction` ranges from
// 0 to 1, `what` names the current work. Return false to cancel; the task then soon returns
// Error::Kind::cancelled.
using Progress = std::function<bool(double fraction, std::string_view what)>;

inline constexpr std::size_t kNodesPerProgress = 1024;  // read between two calls

}  // namespace jointer
