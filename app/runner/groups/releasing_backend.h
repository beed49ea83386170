#pragma once

#include <c10/util/intrusive_ptr.h>

#include <functional>

namespace c10d {
class Backend;
}  // namespace c10d

namespace jointer::runner {

// A backend whose tensors are let go of when a collective has been waited for. Gloo's worker keeps
// those of its last collective until the next one comes: its memory would be counted where the
// program has long freed it. `settle` is called at the end of every wait: it returns when the
// library's own threads hold nothing of collectives that are over.
c10::intrusive_ptr<c10d::Backend> release_at_wait(c10::intrusive_ptr<c10d::Backend> backend,
                                                  std::function<void()> settle);

}  // namespace jointer::runner
