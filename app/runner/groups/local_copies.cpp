// A process group of which only one rank runs. Every collective copies this rank's tensors into an
// output of the size that the whole group would produce:
//   all-gather       the input, once for each rank
//   reduce-scatter   this rank's share of the input
//   all-reduce       the input
//   all-to-all       the input from the start, repeated if the output is larger
//   broadcast        the input
// Memory, shapes and compute are those of the real training step, and sizes that are sent through a
// collective (the token counts of an MoE) are such that later splits fit. Values differ from those
// of the real training step. Times are those of a copy and are never stored in the cost database.
//
// On a device with streams, copies run on a stream of their group, after the work that was in the
// current stream when they were started, and overlap with compute as the collectives would. The
// wait makes the current stream wait for them; until then, the tensors are held, since the current
// stream could reuse their memory.

#include <ATen/ops/cat.h>
#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>
#include <exception>
#include <functional>
#include <optional>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <utility>

#include "app/runner/groups/backend_factory.h"

namespace jointer::runner {
namespace {

using Tensors = std::vector<at::Tensor>;

class Copied final : public c10d::Work {
 public:
  // `over`: the end of the copies; std::nullopt if they are done.
  explicit Copied(Tensors outputs, std::optional<c10::Event> over = {}, Tensors inputs = {})
      : outputs_(std::move(outputs)), over_(std::move(over)), held_(std::move(inputs)) {}
  ~Copied() override {
    try {
      if (!held_.empty()) join();
    } catch (const std::exception&) {
      // The device has failed, which a destructor cannot report.
    }
  }
  bool wait(std::chrono::milliseconds) override {
    join();
    held_.clear();
    return true;
  }
  bool isCompleted() override { return !over_ || over_->query(); }
  std::vector<at::Tensor> result() override { return outputs_; }
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override {
    auto future =
        c10::make_intrusive<c10::ivalue::Future>(c10::ListType::create(c10::TensorType::get()));
    future->markCompleted(c10::IValue(outputs_));
    return future;
  }

 private:
  // Makes the current stream wait for the copies.
  void join() {
    if (!over_) return;
    const at::Device device = outputs_.front().device();
    over_->block(c10::impl::VirtualGuardImpl(device.type()).getStream(device));
  }

  Tensors outputs_;
  std::optional<c10::Event> over_;
  Tensors held_;
};

using WorkPtr = c10::intrusive_ptr<c10d::Work>;

WorkPtr done(Tensors outputs) {
  return c10::make_intrusive<Copied>(std::move(outputs));
}

// Fills `output` with the elements of `input`, repeated from the start as needed, or with zeros if
// `input` is empty.
void copy_round(at::Tensor output, const at::Tensor& input) {
  const at::Tensor to = output.view({-1});
  const at::Tensor from = input.contiguous().view({-1});
  if (from.numel() == 0) {
    to.zero_();
    return;
  }
  for (std::int64_t at = 0; at < to.numel(); at += from.numel()) {
    const std::int64_t count = std::min(from.numel(), to.numel() - at);
    to.narrow(0, at, count).copy_(from.narrow(0, 0, count));
  }
}

class LocalCopies final : public c10d::Backend {
 public:
  LocalCopies(int rank, int size) : Backend(rank, size) {}
  const std::string getBackendName() const override { return "jointer-local"; }
  bool supportsCoalescing() const override { return false; }

  WorkPtr broadcast(std::vector<at::Tensor>& tensors, const c10d::BroadcastOptions&) override {
    return done(tensors);
  }
  WorkPtr allreduce(std::vector<at::Tensor>& tensors, const c10d::AllreduceOptions&) override {
    return done(tensors);
  }
  WorkPtr allreduce_coalesced(std::vector<at::Tensor>& tensors,
                              const c10d::AllreduceCoalescedOptions&) override {
    return done(tensors);
  }
  WorkPtr _allgather_base(at::Tensor& output, at::Tensor& input,
                          const c10d::AllgatherOptions&) override {
    return copied({output}, {input}, [&] { gather(output, input); });
  }
  WorkPtr allgather_into_tensor_coalesced(std::vector<at::Tensor>& outputs,
                                          std::vector<at::Tensor>& inputs,
                                          const c10d::AllgatherOptions&) override {
    return copied(outputs, inputs, [&] {
      for (std::size_t i = 0; i < outputs.size(); ++i) gather(outputs[i], inputs[i]);
    });
  }
  WorkPtr _reduce_scatter_base(at::Tensor& output, at::Tensor& input,
                               const c10d::ReduceScatterOptions&) override {
    return copied({output}, {input}, [&] { scatter(output, input); });
  }
  WorkPtr reduce_scatter_tensor_coalesced(std::vector<at::Tensor>& outputs,
                                          std::vector<at::Tensor>& inputs,
                                          const c10d::ReduceScatterOptions&) override {
    return copied(outputs, inputs, [&] {
      for (std::size_t i = 0; i < outputs.size(); ++i) scatter(outputs[i], inputs[i]);
    });
  }
  WorkPtr alltoall_base(at::Tensor& output, at::Tensor& input, std::vector<std::int64_t>&,
                        std::vector<std::int64_t>&, const c10d::AllToAllOptions&) override {
    return copied({output}, {input}, [&] { copy_round(output, input); });
  }
  WorkPtr barrier(const c10d::BarrierOptions&) override { return done({}); }

 private:
  // Runs `copy`, on this group's stream if there are streams.
  WorkPtr copied(Tensors outputs, Tensors inputs, const std::function<void()>& copy) {
    if (outputs.empty() || outputs.front().device().is_cpu()) {
      copy();
      return done(std::move(outputs));
    }
    const at::Device device = outputs.front().device();
    const c10::impl::VirtualGuardImpl guard(device.type());
    if (!stream_) stream_ = guard.getStreamFromGlobalPool(device);
    c10::Event ready(device.type()), over(device.type());
    ready.record(guard.getStream(device));
    ready.block(*stream_);
    {
      const c10::StreamGuard on_copies(*stream_);
      copy();
    }
    over.record(*stream_);
    return c10::make_intrusive<Copied>(std::move(outputs), std::move(over), std::move(inputs));
  }

  // The input of an all-gather may be part of its output. In that case, this rank's part is already
  // in place.
  void gather(const at::Tensor& output, const at::Tensor& input) const {
    const at::Tensor parts = output.view({getSize(), -1});
    const at::Tensor own = input.contiguous().view({-1});
    for (std::int64_t rank = 0; rank < getSize(); ++rank)
      if (parts[rank].data_ptr() != own.data_ptr()) parts[rank].copy_(own);
  }
  void scatter(const at::Tensor& output, const at::Tensor& input) const {
    output.view({-1}).copy_(input.contiguous().view({getSize(), -1})[getRank()]);
  }

  std::optional<c10::Stream> stream_;
};

class LocalCopyFactory final : public BackendFactory {
 public:
  [[nodiscard]] std::string name() const override { return "local copies"; }
  [[nodiscard]] c10::intrusive_ptr<c10d::Backend> make(const c10::intrusive_ptr<c10d::Store>&,
                                                       int rank, int size,
                                                       std::chrono::milliseconds) const override {
    return c10::make_intrusive<LocalCopies>(rank, size);
  }
};

}  // namespace

const BackendFactory& local_copies() {
  static const LocalCopyFactory factory;
  return factory;
}

}  // namespace jointer::runner
