#pragma once

// Runs independent calls on several threads.

#include <cstddef>
#include <functional>

namespace jointer {

// Calls work(i) for each i in [0, count), on up to one thread per core (usable_cores). The caller's
// thread starts alone; the others join it after a moment, so that short work does not pay for
// starting threads. Once a call has returned true, no thread goes on to a call with a higher index.
// Returns the lowest index whose call returned true, or `count` if there is none. All calls with
// lower indices have then returned, so the result does not depend on the number of threads. If
// calls throw, rethrows one of the exceptions. Calls run concurrently: none may change what another
// reads.
std::size_t first_true(std::size_t count, const std::function<bool(std::size_t)>& work);

// Calls both functions, at the same time if there is more than one core, and returns once both have
// returned. For work of more than a millisecond, as it starts a thread at once. If a call throws,
// rethrows one of the exceptions.
void run_both(const std::function<void()>& first, const std::function<void()>& second);

}  // namespace jointer
