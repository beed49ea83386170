#pragma once

// Creates the backend for one process group's collectives. Each kind of backend is in a separate
// file, since the headers are large.

#include <c10/util/intrusive_ptr.h>

#include <chrono>
#include <string>

namespace c10d {
class Backend;
class Store;
}  // namespace c10d

namespace jointer::runner {

class BackendFactory {
 public:
  virtual ~BackendFactory() = default;

  [[nodiscard]] virtual std::string name() const = 0;  // "gloo", "nccl"
  // Makes a rank's backend for a group. Throws c10::Error if the ranks cannot find each other.
  [[nodiscard]] virtual c10::intrusive_ptr<c10d::Backend> make(
      const c10::intrusive_ptr<c10d::Store>& store, int rank, int size,
      std::chrono::milliseconds timeout) const = 0;
};

// Gloo over TCP, for collectives of tensors in host memory.
const BackendFactory& gloo_collectives();

// Replaces collectives with local copies of the right sizes if no other ranks run. An all-gather
// repeats this rank's input, and a reduction treats this rank's input as the sum.
const BackendFactory& local_copies();

}  // namespace jointer::runner
