#include "app/launch/fit.h"

#include <algorithm>
#include <numeric>

#include "app/launch/nsys.h"
#include "core/base/counted.h"
#include "core/graph/title_in_text.h"

namespace jointer {
namespace {

bool has_collectives(const Graph& graph) {
  return std::ranges::any_of(graph.order(),
                             [&](NodeId id) { return graph.is_collective_start(graph.node(id)); });
}

// True if the capture defines at least one group. Otherwise, only the sizes of groups are known,
// not their ranks.
bool knows_its_groups(const Graph& graph) {
  for (std::uint32_t i = 0; i < graph.group_count(); ++i)
    if (!graph.group(GroupId(i)).derived) return true;
  return false;
}

Result<void> check_rank_count(const Graph& graph, const BenchmarkRequest& request, int world,
                              const RunHints& hints) {
  if (request.ranks == world || !has_collectives(graph) || !knows_its_groups(graph)) return {};
  return fail(Error::Kind::usage, "the collectives of {} need {}, not {}; {}", title_in_text(graph),
              counted(static_cast<std::size_t>(world), "rank"), request.ranks, hints.alone);
}

Result<void> check_room(const BenchmarkRequest& request, const Machine& machine,
                        const RunHints& hints) {
  if (request.ranks > kMaxRanks)
    return fail(Error::Kind::usage, "{} ranks are too many for one machine (at most {}); {}",
                request.ranks, kMaxRanks, hints.alone);
  if (request.on != RunOn::cpu && machine.gpus > 0 && request.ranks > machine.gpus)
    return fail(Error::Kind::usage, "{} ranks need {} GPUs, but this machine has {}; {}; {}",
                request.ranks, request.ranks, machine.gpus, hints.alone, hints.on_cpu);
  return {};
}

}  // namespace

int world_size(const Graph& graph) {
  if (!has_collectives(graph)) return 1;
  std::int64_t world = 1;
  for (std::uint32_t i = 0; i < graph.part_count(); ++i)
    world = std::max(world, graph.part(PartId(i)).world_size.value_or(1));
  for (std::uint32_t i = 0; i < graph.group_count(); ++i)
    for (const std::int32_t rank : graph.group(GroupId(i)).ranks)
      world = std::max<std::int64_t>(world, std::int64_t{rank} + 1);
  return static_cast<int>(std::min<std::int64_t>(world, 1 << 30));
}

std::vector<int> rank_numbers(const BenchmarkRequest& request) {
  if (request.solo) return {*request.solo};
  std::vector<int> ranks(static_cast<std::size_t>(std::max(1, request.ranks)));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

int threads_per_rank(const BenchmarkRequest& request, const Machine& machine) {
  if (request.threads > 0) return request.threads;
  const int ranks = request.solo ? 1 : std::max(1, request.ranks);
  return std::max(1, machine.cores / ranks);
}

Result<FittedRequest> fit_to_machine(const Graph& graph, BenchmarkRequest request,
                                     const Machine& machine, RunHints hints) {
  const int world = world_size(graph);
  if (request.solo) {
    if (request.ranks > 1)
      return fail(Error::Kind::usage, "rank {} cannot run both alone and as one of {} ranks; {}",
                  *request.solo, request.ranks, hints.all_or_one);
    if (*request.solo >= world && has_collectives(graph) && knows_its_groups(graph))
      return fail(Error::Kind::usage, "there is no rank {}: {} has {}, {}", *request.solo,
                  title_in_text(graph), counted(static_cast<std::size_t>(world), "rank"),
                  world == 1 ? "numbered 0" : fmt::format("numbered 0 to {}", world - 1));
    request.ranks = 0;
    JOINTER_CHECK(check_nsys(request, machine));
    return FittedRequest{std::move(request), {}, std::move(hints)};
  }
  if (request.ranks == 0) request.ranks = world;
  JOINTER_CHECK(check_rank_count(graph, request, world, hints));
  JOINTER_CHECK(check_room(request, machine, hints));
  JOINTER_CHECK(check_nsys(request, machine));
  return FittedRequest{std::move(request), {}, std::move(hints)};
}

}  // namespace jointer
