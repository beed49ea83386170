#pragma once

// Memory of a training loop around a forward-backward pair or a flat training step: what the graph
// does not hold, the loss between a pair's halves, gradients until they are cleared, and optimizer
// state, over several steps through one allocator. What is added, and when, is described at the top
// of training_run.cpp.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/graph/graph.h"
#include "core/schedule/cuda_allocator.h"
#include "core/schedule/memory_timeline.h"

namespace jointer {

// Computed between the halves, op by op, in fp32.
enum class LossModel : std::uint8_t {
  none,           // whatever it takes is not known
  cross_entropy,  // torch.nn.functional.cross_entropy(logits.float(), labels)
  loss_parallel,  // the same under torch.distributed.tensor.parallel.loss_parallel()
};

struct TrainingLoop {
  int steps = 3;
  OptimizerState optimizer = OptimizerState::adamw;
  LossModel loss = LossModel::none;
  // Whether the compiled backward takes its arguments boxed, so that it can release them. Where it
  // is a plain GraphModule, as after torchtitan's graph passes without Inductor, AOTAutograd's list
  // of arguments keeps saved tensors and tangents until the backward is over.
  bool boxed = true;
  // That cuBLAS takes from the allocator on each of the two threads that call it: forward, and
  // autograd's. 0: none.
  std::int64_t workspace_bytes = 0;
  AllocatorOptions allocator;
};

enum class LoopPhase : std::uint8_t { setup, forward, loss, backward, optimizer };
std::string_view to_string(LoopPhase phase);

struct TrainingRun {
  // What is alive where the most is.
  struct Part {
    std::string what;  // a memory category, "loss" or "workspace"
    std::int64_t bytes = 0;
  };
  std::int64_t peak_bytes = 0;
  std::int64_t reserved_peak_bytes = 0;
  int peak_step = 0;  // from 1
  LoopPhase peak_phase = LoopPhase::setup;
  NodeId peak_node;                    // none outside of the graph
  std::vector<Part> parts;             // sum to the peak, without those of 0 bytes
  std::int64_t logits_fp32_bytes = 0;  // what the loss is computed of; 0 without a loss
  // Most bytes alive in each phase of the last step.
  std::int64_t forward_peak_bytes = 0, loss_peak_bytes = 0, backward_peak_bytes = 0;
};

// `graph`: a forward and a backward in one graph, or a training step. Error (usage): it is neither;
// a loss or arguments that are not boxed are asked for of a training step; the loss is asked for
// and the forward returns no floating-point tensor with a tangent.
Result<TrainingRun> simulate_training(const Graph& graph, const TrainingLoop& loop);

// The cuBLAS workspace of torch 2.11 on that architecture ("hopper", "blackwell", ...), in bytes.
std::int64_t cublas_workspace_bytes(std::string_view architecture);

}  // namespace jointer
