#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/process/python.h"

namespace jointer {

// The version of a torch whose package has no metadata.
inline constexpr std::string_view kUnknownTorch = "unknown";

// The version of torch that this Python has, such as "2.15.0+cu132", from the package's metadata:
// torch is not loaded, which would take seconds. kUnknownTorch if torch has no metadata. Error
// (run): there is no torch (the message says how to install it), or Python fails. Error
// (cancelled): `is_cancelled` returned true.
Result<std::string> installed_torch(const ProgramCommand& python,
                                    const std::function<bool()>& is_cancelled = {});

}  // namespace jointer
