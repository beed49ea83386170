#pragma once

#include <c10/util/intrusive_ptr.h>

#include <functional>

namespace c10d {
class Backend;
}  // namespace c10d

namespace jointer::runner {

// A backend that releases tensors when their collective has been waited for. Gloo's worker keeps
// those of its last collective until the next one, so their memory would be counted after the
// program has freed it. `settle` is called at the end of every wait and returns when the library's
// own threads hold nothing of finished collectives.
c10::intrusive_ptr<c10d::Backend> release_at_wait(c10::intrusive_ptr<c10d::Backend> backend,
                                                  std::function<void()> settle);

}  // namespace jointer::runner
