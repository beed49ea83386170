// The wrapped backend gets views that do not own their memory. The work object holds the tensors
// until its wait returns or, if nothing waits for it, until its destructor, which waits.

#include "app/runner/groups/releasing_backend.h"

#include <ATen/ops/from_blob.h>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <utility>
#include <vector>

namespace jointer::runner {
namespace {

using WorkPtr = c10::intrusive_ptr<c10d::Work>;
using Tensors = std::vector<at::Tensor>;

at::Tensor borrowed(const at::Tensor& tensor) {
  return at::from_blob(tensor.data_ptr(), tensor.sizes(), tensor.strides(), tensor.options());
}

Tensors borrowed(const Tensors& tensors) {
  Tensors views;
  for (const at::Tensor& tensor : tensors) views.push_back(borrowed(tensor));
  return views;
}

class HoldingWork final : public c10d::Work {
 public:
  HoldingWork(WorkPtr inner, Tensors held, std::function<void()> settle)
      : inner_(std::move(inner)), held_(std::move(held)), settle_(std::move(settle)) {}
  ~HoldingWork() override {
    if (held_.empty()) return;
    try {
      inner_->wait();
    } catch (const std::exception&) {
      // The collective failed, which a destructor cannot report.
    }
  }

  bool isCompleted() override { return inner_->isCompleted(); }
  bool isSuccess() const override { return inner_->isSuccess(); }
  std::exception_ptr exception() const override { return inner_->exception(); }
  void synchronize() override { inner_->synchronize(); }
  Tensors result() override { return inner_->result(); }
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override { return inner_->getFuture(); }
  void abort() override { inner_->abort(); }
  bool wait(std::chrono::milliseconds timeout) override {
    const bool done = inner_->wait(timeout);
    held_.clear();
    settle_();
    return done;
  }

 private:
  WorkPtr inner_;
  Tensors held_;
  std::function<void()> settle_;
};

Tensors both(const Tensors& a, const Tensors& b) {
  Tensors all = a;
  all.insert(all.end(), b.begin(), b.end());
  return all;
}

class ReleasingBackend final : public c10d::Backend {
 public:
  ReleasingBackend(c10::intrusive_ptr<c10d::Backend> inner, std::function<void()> settle)
      : Backend(inner->getRank(), inner->getSize()),
        inner_(std::move(inner)),
        settle_(std::move(settle)) {}

  const std::string getBackendName() const override { return inner_->getBackendName(); }
  void setTimeout(std::chrono::milliseconds timeout) override { inner_->setTimeout(timeout); }
  void abort() override { inner_->abort(); }
  void shutdown() override { inner_->shutdown(); }

  WorkPtr broadcast(Tensors& tensors, const c10d::BroadcastOptions& options) override {
    Tensors views = borrowed(tensors);
    return hold(inner_->broadcast(views, options), tensors);
  }
  WorkPtr allreduce(Tensors& tensors, const c10d::AllreduceOptions& options) override {
    Tensors views = borrowed(tensors);
    return hold(inner_->allreduce(views, options), tensors);
  }
  WorkPtr allreduce_coalesced(Tensors& tensors,
                              const c10d::AllreduceCoalescedOptions& options) override {
    Tensors views = borrowed(tensors);
    return hold(inner_->allreduce_coalesced(views, options), tensors);
  }
  WorkPtr _allgather_base(at::Tensor& output, at::Tensor& input,
                          const c10d::AllgatherOptions& options) override {
    at::Tensor to = borrowed(output), from = borrowed(input);
    return hold(inner_->_allgather_base(to, from, options), {output, input});
  }
  WorkPtr allgather_into_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                          const c10d::AllgatherOptions& options) override {
    Tensors to = borrowed(outputs), from = borrowed(inputs);
    return hold(inner_->allgather_into_tensor_coalesced(to, from, options), both(outputs, inputs));
  }
  WorkPtr _reduce_scatter_base(at::Tensor& output, at::Tensor& input,
                               const c10d::ReduceScatterOptions& options) override {
    at::Tensor to = borrowed(output), from = borrowed(input);
    return hold(inner_->_reduce_scatter_base(to, from, options), {output, input});
  }
  WorkPtr reduce_scatter_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                          const c10d::ReduceScatterOptions& options) override {
    Tensors to = borrowed(outputs), from = borrowed(inputs);
    return hold(inner_->reduce_scatter_tensor_coalesced(to, from, options), both(outputs, inputs));
  }
  WorkPtr alltoall_base(at::Tensor& output, at::Tensor& input, std::vector<std::int64_t>& to_sizes,
                        std::vector<std::int64_t>& from_sizes,
                        const c10d::AllToAllOptions& options) override {
    at::Tensor to = borrowed(output), from = borrowed(input);
    return hold(inner_->alltoall_base(to, from, to_sizes, from_sizes, options), {output, input});
  }
  WorkPtr barrier(const c10d::BarrierOptions& options) override { return inner_->barrier(options); }

 private:
  [[nodiscard]] WorkPtr hold(WorkPtr inner, Tensors held) const {
    return c10::make_intrusive<HoldingWork>(std::move(inner), std::move(held), settle_);
  }

  c10::intrusive_ptr<c10d::Backend> inner_;
  std::function<void()> settle_;
};

}  // namespace

c10::intrusive_ptr<c10d::Backend> release_at_wait(c10::intrusive_ptr<c10d::Backend> backend,
                                                  std::function<void()> settle) {
  return c10::make_intrusive<ReleasingBackend>(std::move(backend), std::move(settle));
}

}  // namespace jointer::runner
