#include <cstdlib>
#include <string_view>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include "app/runner/groups/backend_factory.h"
#include "app/runner/groups/releasing_backend.h"

namespace jointer::runner {
namespace {

// The interface that a person names, as torch reads it too; loopback where all ranks are on this
// machine; else the one that the host's name resolves to.
std::shared_ptr<gloo::transport::Device> make_device() {
  if (const char* interface = std::getenv("GLOO_SOCKET_IFNAME"); interface != nullptr)
    return c10d::ProcessGroupGloo::createDeviceForInterface(interface);
  const char* master = std::getenv("MASTER_ADDR");
  const std::string_view address = master != nullptr ? master : "127.0.0.1";
  if (address == "127.0.0.1" || address == "localhost")
    return c10d::ProcessGroupGloo::createDeviceForHostname("127.0.0.1");
  return c10d::ProcessGroupGloo::createDefaultDevice();
}

class Gloo final : public BackendFactory {
 public:
  [[nodiscard]] std::string name() const override { return "gloo"; }

  [[nodiscard]] c10::intrusive_ptr<c10d::Backend> make(
      const c10::intrusive_ptr<c10d::Store>& store, int rank, int size,
      std::chrono::milliseconds timeout) const override {
    auto options = c10d::ProcessGroupGloo::Options::create(timeout);
    options->devices.push_back(make_device());
    // One worker: collectives of a group run one after another, as on a device's stream.
    options->threads = 1;
    return release_at_wait(c10::make_intrusive<c10d::ProcessGroupGloo>(store, rank, size, options));
  }
};

}  // namespace

const BackendFactory& gloo_collectives() {
  static const Gloo factory;
  return factory;
}

}  // namespace jointer::runner
