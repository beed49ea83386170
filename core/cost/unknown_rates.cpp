#include "core/cost/unknown_rates.h"

#include <fmt/ranges.h>

#include <string_view>
#include <vector>

namespace jointer {
namespace {

// The members of a capture's `info` that are required to compute the FLOPs per token, but were
// neither found nor derived.
std::vector<std::string_view> missing_members(const Graph& graph, const ModelFacts& facts) {
  std::vector<std::string_view> names;
  if (!facts.parameters)
    names.emplace_back(is_mixture_of_experts(graph) ? "active_parameters" : "parameters");
  else if (!facts.embedding_parameters)
    names.emplace_back("embedding_parameters");
  if (!facts.layers) names.emplace_back("layers");
  if (!facts.attention_width) names.insert(names.end(), {"heads", "head_size"});
  if (!facts.sequence) names.emplace_back("seq_len");
  return names;
}

}  // namespace

std::optional<CaptureKind> part_of_step(const Graph& graph) {
  const CaptureKind kind = graph.part(PartId(0)).kind;
  const bool is_whole =
      graph.is_pair() || kind == CaptureKind::joint || kind == CaptureKind::train_step;
  return is_whole ? std::nullopt : std::optional(kind);
}

bool is_mixture_of_experts(const Graph& graph) {
  for (std::size_t i = 0; i < graph.operator_count(); ++i)
    if (graph.op(OperatorId(i)).name.find("grouped_mm") != std::string::npos) return true;
  return false;
}

UnknownRate unknown_tokens(const Graph& graph, const ModelFacts& facts, const Throughput& rates) {
  if (rates.tokens_per_second) return {};
  if (const auto part = part_of_step(graph))
    return {fmt::format("{} only", to_string(*part)),
            fmt::format("The graph is of kind {}, not a whole training step.", to_string(*part))};
  if (!facts.local_tokens)
    return {"no token count",
            "The capture's info lacks seq_len or local_batch_size, and the graph has no token ids "
            "as input."};
  if (!facts.non_data_parallel_degree)
    return {"no parallel degree",
            "The capture's info lacks non_data_parallel_degree and parallel, and the ranks of a "
            "process group are unknown."};
  return {"no time", "The step takes no time."};
}

UnknownRate unknown_mfu(const Graph& graph, const ModelFacts& facts, const Throughput& rates) {
  if (rates.mfu) return {};
  if (!rates.tokens_per_second) return unknown_tokens(graph, facts, rates);
  const auto names = missing_members(graph, facts);
  return {
      "model size unknown",
      fmt::format("MFU needs facts about the model that the capture's info lacks: {}. Pass them "
                  "as keyword arguments when you capture the graph (docs/capturing.md).",
                  fmt::join(names, ", "))};
}

}  // namespace jointer
