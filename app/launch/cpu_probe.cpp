#include "app/launch/cpu_probe.h"

#include <algorithm>

#include "app/launch/benchmark.h"
#include "core/base/environment.h"
#include "core/bench/cpu_probe_graph.h"
#include "core/bench/rank_measurement.h"
#include "core/graph/literal.h"

namespace jointer {
namespace {

Result<ProbedRank> probe_ranks(int ranks, int threads, std::int64_t last_cache,
                               const std::function<bool()>& is_cancelled) {
  JOINTER_TRY(const Graph graph, parse_literal(cpu_probe_text(ranks > 1, last_cache)));
  const FittedRequest fitted{.request = {.ranks = ranks,
                                         .on = RunOn::cpu,
                                         .iterations = 1,
                                         .warmup = 0,
                                         .threads = threads,
                                         .profile = true},
                             .notes = {}};
  LaunchOptions options;
  options.is_cancelled = is_cancelled;
  options.compares_ranks = false;
  // The estimate of the run is not used; any device will do.
  JOINTER_TRY(
      const BenchmarkOutcome outcome,
      run_benchmark(graph, fitted, {.device = "cpu{cores=1}"}, options, ProgramSource::graph));
  const BenchmarkResult& result = outcome.result;
  if (is_cancelled && is_cancelled()) return fail(Error::Kind::cancelled, "interrupted");
  if (!result.succeeded())
    return fail(Error::Kind::run, "the CPU probe failed: {}", result.failure());
  const RankResult& rank = result.ranks.front();
  if (!rank.measured)
    return fail(Error::Kind::run, "the CPU probe returned no measurements; try again");
  return probed_rank(graph, measurement_of(graph, result, rank), threads);
}

}  // namespace

Result<CpuProbe> probe_cpu(const std::function<bool()>& is_cancelled) {
  CpuProbe probe{.processor = processor_name(),
                 .cores = usable_cores(),
                 .cache_bytes = cache_sizes(),
                 .ranks = {}};
  const std::int64_t last =
      probe.cache_bytes.empty() ? 0 : *std::ranges::max_element(probe.cache_bytes);
  JOINTER_TRY(ProbedRank alone, probe_ranks(1, probe.cores, last, is_cancelled));
  probe.ranks.push_back(std::move(alone));
  if (probe.cores < 2) return probe;
  JOINTER_TRY(ProbedRank shared, probe_ranks(2, probe.cores / 2, last, is_cancelled));
  probe.ranks.push_back(std::move(shared));
  return probe;
}

}  // namespace jointer
