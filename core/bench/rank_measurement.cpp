#include "core/bench/rank_measurement.h"

#include <fmt/core.h>

#include "core/graph/canonical.h"

namespace jointer {
namespace {

// The beginning of a hash, enough to tell graphs apart.
std::string_view short_hash(std::string_view hash) {
  return hash.substr(0, 8);
}

}  // namespace

bool ran_same_graph(const RankResult& rank, const RankResult& first) {
  return !rank.started || !first.started || rank.started->hash == first.started->hash;
}

std::string measurement_label(const BenchmarkResult& result, const RankResult& rank) {
  return fmt::format("rank {}, {}", rank.rank, to_string(result.request.backend));
}

Measurement measurement_of(const Graph& graph, const BenchmarkResult& result,
                           const RankResult& rank) {
  Measurement measurement =
      measurement_of(graph, *rank.measured, measurement_label(result, rank),
                     rank.started ? rank.started->device : std::string(),
                     rank.started ? rank.started->device_type : std::string("cpu"),
                     result.request.solo.has_value());
  if (rank.started) measurement.gpu = rank.started->gpu;
  return measurement;
}

Result<std::vector<Measurement>> profiled_ranks(const Graph& graph, const BenchmarkResult& result) {
  if (result.graph_hash.empty())
    return input_error(
        "the result does not contain the hash of the graph that ran; run the benchmark again");
  if (const std::string hash = graph_hash(graph); hash != result.graph_hash)
    return input_error(
        "this is a run of another graph: {} (hash {}), not {} (hash {}); open the graph that ran, "
        "with the same edits and passes",
        result.graph_name, short_hash(result.graph_hash), graph.title(), short_hash(hash));
  std::vector<Measurement> measurements;
  for (const RankResult& rank : result.ranks) {
    if (!rank.measured || !ran_same_graph(rank, result.ranks.front())) continue;
    Measurement measurement = measurement_of(graph, result, rank);
    if (measurement.nodes.empty() && measurement.blocks.empty()) continue;
    measurements.push_back(std::move(measurement));
  }
  if (measurements.empty())
    return input_error(
        "no rank was profiled, so there are no times of nodes and kernels; run `jointer bench "
        "--profile --json`");
  return measurements;
}

}  // namespace jointer
