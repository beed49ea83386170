#pragma once

// Tokens a second, TFLOP/s and MFU, as torchtitan logs them.

#include <optional>
#include <string>
#include <vector>

#include "core/cost/device.h"
#include "core/graph/graph.h"

namespace jointer {

// What a capture's `info` says of the model, and what can be told from the graph where it is
// silent. Members of info that are read: parameters, active_parameters, embedding_parameters,
// layers, heads, head_size, seq_len, local_batch_size, non_data_parallel_degree, parallel ("TP=2 x
// FSDP=2").
struct ModelFacts {
  std::optional<double> parameters;  // that one token runs through
  std::optional<double> embedding_parameters;
  std::optional<double> layers, attention_width;  // heads times head size
  std::optional<double> sequence;
  std::optional<double> local_tokens;
  // Tensor, context and pipeline parallel. None where process groups say nothing of what they are
  // for, as in text captures.
  std::optional<double> non_data_parallel_degree;
  std::vector<std::string> derived;  // what was not in `info`, and where it is from

  // 6 x parameters without embeddings + 12 x layers x heads x head size x sequence.
  [[nodiscard]] std::optional<double> flops_per_token() const;
};
ModelFacts find_model_facts(const Graph& graph);

struct Throughput {
  std::optional<double> tokens_per_second;  // of one device
  std::optional<double> tflops;             // model TFLOP/s: recomputation does not count
  std::optional<double> mfu;                // fraction of the device's dense bf16 peak
  double hardware_tflops = 0;               // every FLOP of the graph
};
Throughput throughput(const ModelFacts& facts, std::int64_t graph_flops, std::int64_t step_ns,
                      const DeviceDescription& device);

}  // namespace jointer
