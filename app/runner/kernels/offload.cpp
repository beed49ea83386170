// Copies to the host and back that run concurrently with the compute stream. torch registers these
// operators from Python (torch/_functorch/_activation_offloading), with additional parameters in
// each version:
//
//   ao.offload      a copy in pinned host memory
//   ao.reload       a copy on the device, in the given layout or, if none is given, that of the
//                   host copy
//   ao.wait_tensor  makes the current stream wait for that copy
//
// A host copy has the layout of its source if this layout has neither gaps nor repeats. torch's
// copy is contiguous, and torch's graphs pass the layout to restore to `reload`. Tensors that are
// passed to a wait to keep them alive (`keepalive`, `last_use_of_storage`) are released at their
// last use in the program.
//
// On a device with streams, copies run on one separate stream per device, after the work that was
// in the current stream when they were started. The source of a copy must live until the wait; both
// the graph (`keepalive`) and the program ensure this. On the CPU, a copy is done when its call
// returns.

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_strided.h>
#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <torch/library.h>

#include <map>
#include <mutex>
#include <optional>
#include <unordered_map>

namespace jointer::runner {
namespace {

// Copies in flight, and the streams on which they run.
class Transfers {
 public:
  at::Tensor copy(const at::Tensor& from, at::Device to, at::Device device,
                  at::IntArrayRef strides) {
    const bool to_host = to.is_cpu() && !device.is_cpu();
    at::Tensor result =
        at::empty_strided(from.sizes(), strides, from.options().device(to).pinned_memory(to_host));
    if (device.is_cpu()) {
      result.copy_(from);
      return result;
    }
    const c10::impl::VirtualGuardImpl guard(device.type());
    const c10::Stream stream = stream_of(device);
    c10::Event ready(device.type());
    ready.record(guard.getStream(device));
    ready.block(stream);
    {
      const c10::StreamGuard on_copies(stream);
      result.copy_(from, /*non_blocking=*/true);
    }
    c10::Event over(device.type());
    over.record(stream);
    const std::lock_guard lock(mutex_);
    running_.insert_or_assign(result.storage().data(), Running{std::move(over), device});
    return result;
  }

  void wait(const at::Tensor& tensor) {
    std::optional<Running> running;
    {
      const std::lock_guard lock(mutex_);
      const auto found = running_.find(tensor.storage().data());
      if (found == running_.end()) return;
      running.emplace(std::move(found->second));
      running_.erase(found);
    }
    const c10::impl::VirtualGuardImpl guard(running->device.type());
    running->over.block(guard.getStream(running->device));
  }

 private:
  struct Running {
    c10::Event over;
    at::Device device;
  };

  c10::Stream stream_of(at::Device device) {
    const std::lock_guard lock(mutex_);
    const auto known = streams_.find(device.index());
    if (known != streams_.end()) return known->second;
    const c10::impl::VirtualGuardImpl guard(device.type());
    return streams_.emplace(device.index(), guard.getStreamFromGlobalPool(device)).first->second;
  }

  std::mutex mutex_;
  std::map<c10::DeviceIndex, c10::Stream> streams_;
  std::unordered_map<const void*, Running> running_;  // by the copy's memory
};

// There is one per process, as in torch.
Transfers& transfers() {
  static Transfers all;
  return all;
}

at::Tensor offload(const at::Tensor& tensor) {
  if (tensor.is_non_overlapping_and_dense())
    return transfers().copy(tensor, at::kCPU, tensor.device(), tensor.strides());
  const at::Tensor contiguous = at::empty(tensor.sizes(), tensor.options().device(at::kMeta));
  return transfers().copy(tensor, at::kCPU, tensor.device(), contiguous.strides());
}

at::Tensor reload(const at::Tensor& tensor, at::Device device, at::OptionalIntArrayRef size,
                  at::OptionalIntArrayRef stride) {
  const at::Tensor shaped = size ? tensor.view(*size) : tensor;
  return transfers().copy(shaped, device, device, stride ? *stride : shaped.strides());
}

at::Tensor wait_tensor(const at::Tensor& tensor, const std::optional<at::Tensor>& /*keepalive*/,
                       const std::optional<at::Tensor>& /*last_use_of_storage*/) {
  transfers().wait(tensor);
  return tensor;
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(ao, m) {
  constexpr auto kAny = c10::DispatchKey::CompositeExplicitAutograd;
  m.def("offload(Tensor tensor) -> Tensor", torch::dispatch(kAny, TORCH_FN(offload)));
  m.def(
      "reload(Tensor tensor, Device device, SymInt[]? original_size=None, SymInt[]? "
      "original_stride=None) -> Tensor",
      torch::dispatch(kAny, TORCH_FN(reload)));
  m.def(
      "wait_tensor(Tensor(a) tensor, Tensor? keepalive=None, Tensor? last_use_of_storage=None) -> "
      "Tensor(a)",
      torch::dispatch(kAny, TORCH_FN(wait_tensor)));
}

}  // namespace jointer::runner
