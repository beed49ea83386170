#pragma once

// Simulates the memory of a training loop around a forward/backward pair or a flat training step.
// In addition to the graph's memory, this includes the loss between a pair's halves, gradients
// until they are freed, optimizer state, and cuBLAS's workspaces. All steps use the same allocator.
// The additions are described at the top of training_run.cpp.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/graph/graph.h"
#include "core/schedule/cuda_allocator.h"
#include "core/schedule/memory_timeline.h"

namespace jointer {

// The loss that is computed between the halves, operator by operator, in fp32.
enum class LossModel : std::uint8_t {
  none,           // memory of the loss is unknown and omitted
  cross_entropy,  // torch.nn.functional.cross_entropy(logits.float(), labels)
  loss_parallel,  // the same under torch.distributed.tensor.parallel.loss_parallel()
};

struct TrainingLoop {
  int steps = 3;
  OptimizerState optimizer = OptimizerState::adamw;
  LossModel loss = LossModel::none;
  // True if the compiled backward receives its arguments boxed, so that it can release them. If it
  // is a plain GraphModule, as after torchtitan's graph passes without Inductor, AOTAutograd's list
  // of arguments keeps saved tensors and tangents alive until the backward is done.
  bool boxed = true;
  // The bytes that cuBLAS allocates for each thread that calls it: that of the forward and, in a
  // pair, that of autograd. 0 for none.
  std::int64_t workspace_bytes = 0;
  AllocatorOptions allocator;
};

enum class LoopPhase : std::uint8_t { setup, forward, loss, backward, optimizer };
std::string_view to_string(LoopPhase phase);

struct TrainingRun {
  // Part of the memory that is live at the peak.
  struct Part {
    std::string what;  // a memory category, "loss" or "workspace"
    std::int64_t bytes = 0;
  };
  std::int64_t peak_bytes = 0;
  std::int64_t reserved_peak_bytes = 0;
  int peak_step = 0;  // from 1; 0 if the peak is before the first step
  LoopPhase peak_phase = LoopPhase::setup;
  NodeId peak_node;                    // none if the peak is outside the graph
  std::vector<Part> parts;             // sum to the peak; without parts of 0 bytes
  std::int64_t logits_fp32_bytes = 0;  // the logits in fp32; 0 without a loss
  // The peak of live bytes in each phase of the last step; for a flat training step, the loss is
  // part of the other phases.
  std::int64_t forward_peak_bytes = 0, loss_peak_bytes = 0, backward_peak_bytes = 0;
};

// `graph`: a forward/backward pair or a flat training step. Error (usage): the graph is neither, a
// loss or unboxed arguments are requested for a flat training step, or a loss is requested but the
// pair has no tangent.
Result<TrainingRun> simulate_training(const Graph& graph, const TrainingLoop& loop);

// The size in bytes of the cuBLAS workspace in torch 2.11 on this architecture ("hopper",
// "blackwell", ...).
std::int64_t cublas_workspace_bytes(std::string_view architecture);

}  // namespace jointer
