#include "tests/runner/fake_device/group.h"

#include <ATen/Context.h>
#include <c10/util/Exception.h>

#include <string_view>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <utility>
#include <vector>

#include "tests/runner/fake_device/device.h"
#include "tests/runner/fake_device/operators.h"

namespace jointer::test {
namespace {

using WorkPtr = c10::intrusive_ptr<c10d::Work>;
using Tensors = std::vector<at::Tensor>;

class DeviceWork final : public c10d::Work {
 public:
  DeviceWork(EventPtr over, bool blocks_host) : over_(std::move(over)), blocks_host_(blocks_host) {}
  bool isCompleted() override { return over_->ns <= FakeDevice::instance().clock().now(); }
  bool wait(std::chrono::milliseconds) override {
    FakeDevice& device = FakeDevice::instance();
    device.check_link();
    if (blocks_host_)
      device.synchronize(over_->ns, "a barrier");
    else
      device.block(over_, device.stream());
    return true;
  }

 private:
  EventPtr over_;
  bool blocks_host_;
};

Tensors all_on_host(const Tensors& tensors) {
  Tensors host;
  for (const at::Tensor& tensor : tensors) host.push_back(on_host(tensor));
  return host;
}

class DeviceBackend final : public c10d::Backend {
 public:
  DeviceBackend(int rank, int size)
      : Backend(rank, size), copies_(runner::local_copies().make({}, rank, size, {})) {}
  const std::string getBackendName() const override { return "fake"; }
  bool supportsCoalescing() const override { return false; }
  // As NCCL's, waits for collectives, which do not end once the link is down.
  void shutdown() override {
    FakeDevice& device = FakeDevice::instance();
    if (device.is_link_down()) device.clock().wait(kNever);
  }

  WorkPtr broadcast(Tensors&, const c10d::BroadcastOptions&) override {
    return launch("broadcast", [] {});
  }
  WorkPtr allreduce(Tensors&, const c10d::AllreduceOptions&) override {
    return launch("all_reduce", [] {});
  }
  WorkPtr allreduce_coalesced(Tensors&, const c10d::AllreduceCoalescedOptions&) override {
    return launch("all_reduce", [] {});
  }
  WorkPtr _allgather_base(at::Tensor& output, at::Tensor& input,
                          const c10d::AllgatherOptions& options) override {
    return launch("all_gather",
                  [copies = copies_, to = on_host(output), from = on_host(input),
                   options]() mutable { copies->_allgather_base(to, from, options); });
  }
  WorkPtr allgather_into_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                          const c10d::AllgatherOptions& options) override {
    return launch("all_gather", [copies = copies_, to = all_on_host(outputs),
                                 from = all_on_host(inputs), options]() mutable {
      copies->allgather_into_tensor_coalesced(to, from, options);
    });
  }
  WorkPtr _reduce_scatter_base(at::Tensor& output, at::Tensor& input,
                               const c10d::ReduceScatterOptions& options) override {
    return launch("reduce_scatter",
                  [copies = copies_, to = on_host(output), from = on_host(input),
                   options]() mutable { copies->_reduce_scatter_base(to, from, options); });
  }
  WorkPtr reduce_scatter_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                          const c10d::ReduceScatterOptions& options) override {
    return launch("reduce_scatter", [copies = copies_, to = all_on_host(outputs),
                                     from = all_on_host(inputs), options]() mutable {
      copies->reduce_scatter_tensor_coalesced(to, from, options);
    });
  }
  WorkPtr barrier(const c10d::BarrierOptions&) override {
    return launch(
        "barrier", [] {}, true);
  }

 private:
  static WorkPtr launch(const char* name, std::function<void()> compute, bool blocks_host = false) {
    FakeDevice& device = FakeDevice::instance();
    device.check_link();
    const auto ready = std::make_shared<DeviceEvent>();
    device.record(ready, device.stream());
    device.block(ready, FakeDevice::kCommunicationStream);
    try {
      device.launch({.name = name,
                     .stream = FakeDevice::kCommunicationStream,
                     .ns = device.options().collective_ns,
                     .run = std::move(compute)});
    } catch (const c10::AcceleratorError& error) {
      // As NCCL does, which has CUDA's text without "CUDA error: ".
      const std::string_view text = error.what_without_backtrace();
      TORCH_CHECK_WITH(DistBackendError, false,
                       "NCCL error: unhandled cuda error\nncclUnhandledCudaError: Call to CUDA "
                       "function failed.\nLast error:\nCuda failure ",
                       error.get_error_code(), " '", text.substr(text.find(": ") + 2), "'");
    }
    device.check_link();
    const auto over = std::make_shared<DeviceEvent>();
    device.record(over, FakeDevice::kCommunicationStream);
    return c10::make_intrusive<DeviceWork>(over, blocks_host);
  }

  c10::intrusive_ptr<c10d::Backend> copies_;
};

class FakeCollectives final : public runner::BackendFactory {
 public:
  [[nodiscard]] std::string name() const override { return "fake"; }
  [[nodiscard]] c10::intrusive_ptr<c10d::Backend> make(const c10::intrusive_ptr<c10d::Store>&,
                                                       int rank, int size,
                                                       std::chrono::milliseconds) const override {
    // ProcessGroupNCCL would disable NVLink SHARP for the whole process.
    TORCH_CHECK(!at::globalContext().deterministicAlgorithms(),
                "a group is made under deterministic algorithms");
    return c10::make_intrusive<DeviceBackend>(rank, size);
  }
};

}  // namespace

const runner::BackendFactory& fake_collectives() {
  static const FakeCollectives factory;
  return factory;
}

}  // namespace jointer::test
