#pragma once

// Runs independent calls on several threads.

#include <cstddef>
#include <functional>

namespace jointer {

// Calls work(0), work(1), ... up to `count`, on one thread for each core that the process may use.
// One of them is the caller's thread. The others start once it has worked for a moment, so that
// short work does not pay for starting threads. Stops early once a call has returned true: no calls
// with higher indices are started. Returns the lowest index whose call returned true, or `count`;
// the calls before it have all returned, so the result does not depend on the number of threads.
// Rethrows any exception that a call throws. `work` runs on other threads and must not change what
// other calls read.
std::size_t first_true(std::size_t count, const std::function<bool(std::size_t)>& work);

}  // namespace jointer
