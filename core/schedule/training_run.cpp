// Simulates the allocations and frees of a training loop in order, with the model of torch's
// caching allocator (cuda_allocator.cpp).
//
// Phases of a training step, with the memory in addition to the graph's lifetimes (lifetimes.cpp):
//   setup      parameters, buffers and constants are allocated once, and the inputs in each step.
//   forward    the forward's lifetimes. cuBLAS allocates its workspace in the first step.
//   loss       the loss is computed from logits with F bytes in fp32. Its forward allocates the
//              fp32 copy and the log-softmax, which one kernel computes; under loss_parallel
//              (torch/distributed/tensor/parallel/loss.py), it also allocates the shifted logits
//              and their exponential, for the sum. Then the logits are freed (torchtitan's `del
//              pred`), and so are other results of the forward that the backward does not read. Its
//              backward allocates the gradients of the nll loss and of the log-softmax, while the
//              log-softmax is still saved (3 F bytes in total); under loss_parallel, it allocates
//              the gradient's zeros, the exponential, their sum, and its product with the incoming
//              gradient (with the log-softmax, at most 4 F bytes at a time). Then the tangent is
//              allocated in the type of the logits, and the rest is freed. Results with one value
//              per row are omitted, since they are smaller by a factor of the vocabulary's size.
//   backward   the backward's lifetimes. In the first step of a pair, cuBLAS allocates another
//              workspace, for autograd's thread. Gradients become those of the parameters without a
//              copy, since autograd takes ownership of gradients without other references. If
//              arguments are not boxed, saved tensors and tangents stay live until the end of the
//              backward.
//   optimizer  fused AdamW allocates two fp32 moments and a step count per parameter in the first
//              step. Gradients are freed at the beginning of the next step (zero_grad,
//              set_to_none).
//
// A flat training step contains its loss, so there is no loss phase. It runs on one thread. Its
// backward begins at the first backward call. Its results (the loss, and the gradients, which
// become those of the parameters) stay live until the next step begins, as in torchtitan's
// graph_trainer without gradient accumulation.
//
// The peaks of allocated and of reserved bytes cover all steps. Usually, the second and later steps
// determine them, because these allocate around the optimizer state. NCCL's buffers and the CUDA
// context, which are outside the allocator, and scratch memory of kernels other than cuBLAS's are
// omitted.
//
// Cost: O(s log s) per step, for s storages.

#include "core/schedule/training_run.h"

#include <algorithm>
#include <array>

#include "core/base/byte_units.h"
#include "core/base/checked.h"
#include "core/schedule/lifetimes.h"
#include "core/schedule/optimizer_states.h"

namespace jointer {
namespace {

// The lifetimes by the moment at which they begin or end in the loop.
struct Spans {
  std::vector<std::vector<std::size_t>> allocated, freed;  // indexed by step of the timeline
  std::vector<std::size_t> setup, inputs, results, tangents, gradients, saved;
};

class Loop {
 public:
  Loop(const Graph& graph, const MemoryTimeline& timeline, const TrainingLoop& loop)
      : graph_(graph),
        timeline_(timeline),
        loop_(loop),
        allocator_(loop.allocator),
        blocks_(timeline.lifetimes().size(), CudaAllocator::kNone) {}

  Result<TrainingRun> run() {
    find_boundary();
    JOINTER_CHECK(find_logits());
    sort_lifetimes();
    for (const std::size_t i : spans_.setup) allocate(i);
    for (int step = 1; step <= loop_.steps; ++step) {
      step_ = step;
      run_step();
    }
    run_.logits_fp32_bytes = logits_bytes_;
    // Only CUDA's allocator is modeled; on other devices, reserved bytes equal allocated bytes.
    run_.reserved_peak_bytes =
        device() == DeviceType::cuda ? allocator_.reserved() : run_.peak_bytes;
    return std::move(run_);
  }

 private:
  using Held = std::pair<CudaAllocator::BlockId, std::int64_t>;

  void find_boundary() {
    const auto steps = timeline_.steps();
    const auto first_backward = std::find_if(steps.begin(), steps.end(), [&](NodeId id) {
      const Node& n = graph_.node(id);
      return graph_.is_pair() ? graph_.part(n.part).kind == CaptureKind::backward
                              : n.phase == Phase::backward;
    });
    boundary_ = static_cast<std::size_t>(first_backward - steps.begin());
  }

  // Finds the size of the logits, which have as many elements as the largest tangent.
  Result<void> find_logits() {
    if (loop_.loss == LossModel::none) return {};
    std::int64_t elements = 0;
    for (const NodeId id : graph_.order()) {
      const Node& n = graph_.node(id);
      if (n.kind != NodeKind::placeholder || n.role != Role::tangent) continue;
      for (const Tensor& t : graph_.tensors(n)) elements = std::max(elements, graph_.numel(t));
    }
    if (elements == 0)
      return fail(Error::Kind::usage,
                  "the pair has no tangent, so there is no loss to compute; leave out --loss");
    logits_bytes_ = allocated_bytes(saturating_mul(elements, std::int64_t{4}), device());
    return {};
  }

  [[nodiscard]] DeviceType device() const { return timeline_.device(); }

  // By lifetime: the last step of a pair's backward that reads it, or the number of steps if the
  // backward returns it; -1 if the backward does neither.
  [[nodiscard]] std::vector<std::int32_t> uses_in_backward() const {
    std::vector<std::int32_t> last(timeline_.lifetimes().size(), -1);
    if (!graph_.is_pair()) return last;
    const auto use = [&](NodeId value, std::size_t step) {
      for (const Tensor& t : graph_.tensors(value))
        if (const auto i =
                t.storage ? timeline_.lifetime_of(counted_storage(graph_, t, false)) : std::nullopt)
          last[*i] = std::max(last[*i], static_cast<std::int32_t>(step));
    };
    const auto steps = timeline_.steps();
    for (std::size_t s = boundary_; s < steps.size(); ++s)
      for (const NodeId input : graph_.inputs(steps[s])) use(input, s);
    for (const OutputEntry& entry : graph_.part(kBackwardPart).outputs)
      if (entry.node) use(entry.node, steps.size());
    return last;
  }

  void sort_lifetimes() {
    const auto lifetimes = timeline_.lifetimes();
    const std::vector<std::int32_t> uses = uses_in_backward();
    const auto end = static_cast<std::int32_t>(timeline_.steps().size());
    const auto boundary = static_cast<std::int32_t>(boundary_);
    spans_.allocated.resize(timeline_.steps().size());
    spans_.freed.resize(timeline_.steps().size());
    for (std::size_t i = 0; i < lifetimes.size(); ++i) {
      const Lifetime& l = lifetimes[i];
      if (l.category == MemoryCategory::tangent) {
        spans_.tangents.push_back(i);
        if (loop_.boxed && l.last < end)
          spans_.freed[static_cast<std::size_t>(std::max(l.last, boundary))].push_back(i);
        else
          spans_.saved.push_back(i);
        continue;
      }
      if (l.first < 0) {
        (l.category == MemoryCategory::input ? spans_.inputs : spans_.setup).push_back(i);
        continue;
      }
      spans_.allocated[static_cast<std::size_t>(l.first)].push_back(i);
      const bool in_forward = l.first < boundary;
      // A result of the forward lives on only if the backward needs it.
      const bool is_result = l.last >= end && in_forward && graph_.is_pair();
      const std::int32_t last = is_result ? uses[i] : l.last;
      if (last < 0)
        spans_.results.push_back(i);
      else if (last >= end)
        spans_.gradients.push_back(i);
      else if (in_forward && last >= boundary && !loop_.boxed)
        spans_.saved.push_back(i);
      else
        spans_.freed[static_cast<std::size_t>(last)].push_back(i);
    }
  }

  void run_step() {
    phase_ = LoopPhase::setup;
    for (const std::size_t i : spans_.gradients) release(i);
    for (const std::size_t i : spans_.inputs) {
      release(i);
      allocate(i);
    }
    phase_ = LoopPhase::forward;
    if (step_ == 1) workspace();
    run_graph(0, boundary_);
    if (graph_.is_pair()) {
      phase_ = LoopPhase::loss;
      run_loss();
    }
    phase_ = LoopPhase::backward;
    if (step_ == 1 && graph_.is_pair()) workspace();
    run_graph(boundary_, timeline_.steps().size());
    for (const std::size_t i : spans_.saved) release(i);
    phase_ = LoopPhase::optimizer;
    if (step_ == 1 && loop_.optimizer == OptimizerState::adamw) add_moments();
  }

  void run_graph(std::size_t first, std::size_t last) {
    for (std::size_t s = first; s < last; ++s) {
      node_ = timeline_.steps()[s];
      for (const std::size_t i : spans_.allocated[s]) allocate(i);
      for (const std::size_t i : spans_.freed[s]) release(i);
    }
    node_ = {};
  }

  // Allocates and frees the memory of the loss. Also frees the results of the forward that the
  // backward does not need: the logits and any other values that it returns to the loop.
  void run_loss() {
    const std::int64_t f = logits_bytes_;
    Held saved{CudaAllocator::kNone, 0};
    if (loop_.loss != LossModel::none) {
      const Held copy = take(f);
      if (loop_.loss == LossModel::loss_parallel) {
        const Held shifted = take(f);
        give(take(f));  // the exponential
        saved = take(f);
        give(shifted);
      } else {
        saved = take(f);
      }
      give(copy);
    }
    for (const std::size_t i : spans_.results) release(i);
    if (loop_.loss == LossModel::none) {
      for (const std::size_t i : spans_.tangents) allocate(i);
      return;
    }
    const Held zeros = take(f);
    Held gradient{};
    if (loop_.loss == LossModel::loss_parallel) {
      const Held exponential = take(f);
      const Held sum = take(f);
      give(exponential);
      gradient = take(f);
      give(sum);
    } else {
      gradient = take(f);
    }
    give(zeros);
    give(saved);
    for (const std::size_t i : spans_.tangents) allocate(i);
    give(gradient);
  }

  void add_moments() {
    for (const ParameterState& state : optimizer_states(graph_, device()))
      for (const std::int64_t bytes :
           {state.bytes - 2 * state.moment_bytes, state.moment_bytes, state.moment_bytes})
        take(bytes, by_category_[static_cast<std::size_t>(MemoryCategory::optimizer_state)]);
  }

  void workspace() {
    if (loop_.workspace_bytes > 0) take(loop_.workspace_bytes, workspace_);
  }

  void allocate(std::size_t i) {
    const Lifetime& l = timeline_.lifetimes()[i];
    blocks_[i] = take(l.bytes, by_category_[static_cast<std::size_t>(l.category)]).first;
  }
  void release(std::size_t i) {
    if (blocks_[i] == CudaAllocator::kNone) return;
    const Lifetime& l = timeline_.lifetimes()[i];
    by_category_[static_cast<std::size_t>(l.category)] -= l.bytes;
    live_ -= l.bytes;
    allocator_.free(blocks_[i]);
    blocks_[i] = CudaAllocator::kNone;
  }

  Held take(std::int64_t bytes) { return take(bytes, loss_); }
  Held take(std::int64_t bytes, std::int64_t& of) {
    if (bytes == 0) return {CudaAllocator::kNone, 0};
    of += bytes;
    live_ += bytes;
    const CudaAllocator::BlockId block = allocator_.allocate(bytes);
    look();
    return {block, bytes};
  }
  void give(const Held& held) {
    if (held.first == CudaAllocator::kNone) return;
    loss_ -= held.second;
    live_ -= held.second;
    allocator_.free(held.first);
  }

  void look() {
    if (step_ == loop_.steps) {
      std::int64_t* peak = phase_ == LoopPhase::forward    ? &run_.forward_peak_bytes
                           : phase_ == LoopPhase::loss     ? &run_.loss_peak_bytes
                           : phase_ == LoopPhase::backward ? &run_.backward_peak_bytes
                                                           : nullptr;
      if (peak != nullptr) *peak = std::max(*peak, live_);
    }
    if (live_ <= run_.peak_bytes) return;
    run_.peak_bytes = live_;
    run_.peak_step = step_;
    run_.peak_phase = phase_;
    run_.peak_node = node_;
    run_.parts.clear();
    for (std::size_t c = 0; c < kMemoryCategories; ++c)
      if (by_category_[c] > 0)
        run_.parts.push_back(
            {std::string(to_string(static_cast<MemoryCategory>(c))), by_category_[c]});
    if (loss_ > 0) run_.parts.push_back({"loss", loss_});
    if (workspace_ > 0) run_.parts.push_back({"workspace", workspace_});
  }

  const Graph& graph_;
  const MemoryTimeline& timeline_;
  const TrainingLoop& loop_;
  CudaAllocator allocator_;
  std::vector<CudaAllocator::BlockId> blocks_;  // indexed by lifetime
  Spans spans_;
  std::size_t boundary_ = 0;  // index of the first backward step
  std::int64_t logits_bytes_ = 0;
  BytesByCategory by_category_{};
  std::int64_t live_ = 0, loss_ = 0, workspace_ = 0;
  int step_ = 0;
  LoopPhase phase_ = LoopPhase::setup;
  NodeId node_;
  TrainingRun run_;
};

// The remedy for a graph that a training loop cannot run, as the end of an error message.
std::string_view remedy(CaptureKind kind) {
  if (kind == CaptureKind::joint)
    return "; partition the joint graph first (`jointer sac FILE -o OUT`)";
  if (kind == CaptureKind::forward || kind == CaptureKind::backward)
    return "; give both halves (FORWARD --backward BACKWARD)";
  return "";
}

}  // namespace

std::string_view to_string(LoopPhase phase) {
  static constexpr std::array<std::string_view, 5> kNames{"setup", "forward", "loss", "backward",
                                                          "optimizer"};
  return kNames[static_cast<std::size_t>(phase)];
}

Result<TrainingRun> simulate_training(const Graph& graph, const TrainingLoop& loop) {
  if (!graph.is_pair()) {
    if (graph.part(PartId(0)).kind != CaptureKind::train_step)
      return fail(Error::Kind::usage,
                  "a training loop needs a forward and a backward, or a flat training step{}",
                  remedy(graph.part(PartId(0)).kind));
    if (loop.loss != LossModel::none)
      return fail(Error::Kind::usage, "a flat training step contains its loss; leave out --loss");
    if (!loop.boxed)
      return fail(Error::Kind::usage,
                  "a flat training step has no separate backward to pass arguments to; leave out "
                  "--unboxed");
  }
  const MemoryTimeline timeline(graph);
  return Loop(graph, timeline, loop).run();
}

std::int64_t cublas_workspace_bytes(std::string_view architecture) {
  // at::cuda::getChosenWorkspaceSize: 4096 KiB x 8 from compute capability 9, else 4096 KiB x 2 and
  // 16 KiB x 8.
  const bool is_recent = architecture == "hopper" || architecture == "blackwell";
  return is_recent ? 32 * kMiB : 8 * kMiB + 128 * 1024;
}

}  // namespace jointer
