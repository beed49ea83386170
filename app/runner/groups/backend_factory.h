#pragma once

// Makes the collectives of one process group. Each kind lies in a file of its own: their headers
// are heavy.

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
  BackendFactory() = default;
  BackendFactory(const BackendFactory&) = delete;
  BackendFactory& operator=(const BackendFactory&) = delete;

  [[nodiscard]] virtual std::string name() const = 0;  // "gloo", "nccl"
  // Throws c10::Error if the ranks do not find each other.
  [[nodiscard]] virtual c10::intrusive_ptr<c10d::Backend> make(
      const c10::intrusive_ptr<c10d::Store>& store, int rank, int size,
      std::chrono::milliseconds timeout) const = 0;
};

// Gloo over TCP: collectives of tensors in the host's memory.
const BackendFactory& gloo_collectives();

// No other rank at all: collectives are local copies of the right sizes. An all-gather repeats what
// this rank gives, a reduction takes it as everybody's sum.
const BackendFactory& local_copies();

}  // namespace jointer::runner
