#pragma once

// Computes tokens per second, TFLOP/s and MFU as torchtitan logs them.

#include <optional>
#include <string>
#include <vector>

#include "core/cost/device.h"
#include "core/graph/graph.h"

namespace jointer {

// Facts about the model, from members of the capture's `info` or, where these are missing, derived
// from the graph. Members used: parameters, active_parameters, embedding_parameters, layers, heads,
// head_size, seq_len, local_batch_size, non_data_parallel_degree, parallel ("TP=2 x FSDP=2").
struct ModelFacts {
  std::optional<double> parameters;  // number of parameters active for one token
  std::optional<double> embedding_parameters;
  std::optional<double> layers;
  std::optional<double> attention_width;  // number of heads times head size
  std::optional<double> sequence;
  std::optional<double> local_tokens;  // per training step; empty for a part of a step
  // The product of the tensor, context and pipeline parallel degrees. Empty if neither `info` nor
  // the process groups give it, because the ranks of a group are guessed, as in text captures.
  std::optional<double> non_data_parallel_degree;
  std::vector<std::string> derived;  // facts that are not in `info`, with their source

  // 6 x (parameters without embeddings) + 12 x layers x heads x head size x sequence length.
  [[nodiscard]] std::optional<double> flops_per_token() const;
};
ModelFacts find_model_facts(const Graph& graph);

struct Throughput {
  std::optional<double> tokens_per_second;  // per device
  std::optional<double> tflops;             // model TFLOP/s, without recomputation
  std::optional<double> mfu;                // fraction of the device's dense bf16 peak
  double hardware_tflops = 0;               // all FLOPs of the graph; 0 if the step takes no time
};
Throughput throughput(const ModelFacts& facts, std::int64_t graph_flops, std::int64_t step_ns,
                      const DeviceDescription& device);

}  // namespace jointer
