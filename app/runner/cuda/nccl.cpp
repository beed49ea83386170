#include "app/runner/cuda/nccl.h"

#include <nccl.h>

#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

namespace jointer::runner {
namespace {

class Nccl final : public BackendFactory {
 public:
  [[nodiscard]] std::string name() const override { return "nccl"; }

  [[nodiscard]] c10::intrusive_ptr<c10d::Backend> make(
      const c10::intrusive_ptr<c10d::Store>& store, int rank, int size,
      std::chrono::milliseconds timeout) const override {
    auto options = c10d::ProcessGroupNCCL::Options::create();
    // When NCCL's timeout expires, the process ends. The rank's timeout, whose message names the
    // node, must expire first.
    options->timeout = 2 * timeout;
    return c10::make_intrusive<c10d::ProcessGroupNCCL>(store, rank, size, options);
  }
};

}  // namespace

std::string nccl_version() {
  int version = 0;
  if (ncclGetVersion(&version) != ncclSuccess) return "unknown";
  return std::to_string(version / 10000) + '.' + std::to_string(version / 100 % 100) + '.' +
         std::to_string(version % 100);
}

const BackendFactory& nccl_collectives() {
  static const Nccl factory;
  return factory;
}

}  // namespace jointer::runner
