#pragma once

#include <c10/util/intrusive_ptr.h>

#include <functional>

namespace c10d {
class Backend;
}  // namespace c10d

namespace jointer::runner {

// A backend that releases the tensors of a collective once the wait for it has returned. Gloo's
// worker holds the tensors of its last collective until the next one, so their memory would count
// even after the program has freed it. `settle` is called at the end of every wait; it waits until
// the library's threads have released finished collectives.
c10::intrusive_ptr<c10d::Backend> release_at_wait(c10::intrusive_ptr<c10d::Backend> backend,
                                                  std::function<void()> settle);

}  // namespace jointer::runner
