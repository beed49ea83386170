#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include "app/runner/groups/backend_factory.h"
#include "app/runner/groups/releasing_backend.h"

namespace jointer::runner {
namespace {

// Uses the network interface that the user set in torch's environment variable. If none is set,
// uses loopback if the ranks meet at a local address, and otherwise torch's default, the interface
// to which the host name resolves.
std::shared_ptr<gloo::transport::Device> make_device() {
  if (const char* interface = std::getenv("GLOO_SOCKET_IFNAME"); interface != nullptr)
    return c10d::ProcessGroupGloo::createDeviceForInterface(interface);
  const char* master = std::getenv("MASTER_ADDR");
  const std::string_view address = master != nullptr ? master : "127.0.0.1";
  if (address == "127.0.0.1" || address == "localhost")
    return c10d::ProcessGroupGloo::createDeviceForHostname("127.0.0.1");
  return c10d::ProcessGroupGloo::createDefaultDevice();
}

// Gloo, extended by a wait for the release of finished collectives. A worker reports a collective
// as done shortly before it releases the collective and its buffers.
class SettlingGloo final : public c10d::ProcessGroupGloo {
 public:
  using ProcessGroupGloo::ProcessGroupGloo;

  // Waits until no worker holds a finished collective, but only for a limited time, in case a
  // worker is stuck.
  void settle() {
    constexpr std::chrono::milliseconds kPatience(200);
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (holds_what_is_over() && std::chrono::steady_clock::now() < end)
      std::this_thread::yield();
  }

 private:
  bool holds_what_is_over() {
    const std::scoped_lock lock(workMutex_);
    return std::ranges::any_of(workInProgress_,
                               [](const auto& work) { return work && work->isCompleted(); });
  }
};

class Gloo final : public BackendFactory {
 public:
  [[nodiscard]] std::string name() const override { return "gloo"; }

  [[nodiscard]] c10::intrusive_ptr<c10d::Backend> make(
      const c10::intrusive_ptr<c10d::Store>& store, int rank, int size,
      std::chrono::milliseconds timeout) const override {
    auto options = c10d::ProcessGroupGloo::Options::create(timeout);
    options->devices.push_back(make_device());
    // Use one worker, so that the collectives of a group run one after another, as on a device's
    // stream.
    options->threads = 1;
    auto gloo = c10::make_intrusive<SettlingGloo>(store, rank, size, options);
    return release_at_wait(gloo, [gloo] { gloo->settle(); });
  }
};

}  // namespace

const BackendFactory& gloo_collectives() {
  static const Gloo factory;
  return factory;
}

}  // namespace jointer::runner
