#pragma once

#include <functional>
#include <string_view>

namespace jointer {

// Told now and then how far a long piece of work is. Returning false asks it to stop; the work then
// ends soon with Error::Kind::cancelled. Called on the working thread.
using Progress = std::function<bool(double fraction, std::string_view what)>;

}  // namespace jointer
