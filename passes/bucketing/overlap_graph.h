#pragma once

// One half of a graph, prepared for scheduling: nodes numbered by position, dependencies in flat
// arrays, and collectives with their waits.

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/lists.h"
#include "core/cost/estimator.h"
#include "core/graph/dependencies.h"
#include "core/graph/graph.h"
#include "passes/bucketing/bucket_key.h"

namespace jointer {

// A node's index in the original order of its half.
using Place = std::uint32_t;
inline constexpr Place kNoPlace = std::numeric_limits<Place>::max();
inline constexpr std::uint32_t kNever = std::numeric_limits<std::uint32_t>::max();

using PlaceLists = Lists<Place>;  // for each position

// A start and its only wait, which the scheduler may separate. Besides the wait, only outputs may
// read the start: a forward may save a start for its backward, which waits for it again. If buckets
// count as collectives, a start may also return several tensors, each with its own wait; `wait` is
// then the first wait.
struct OverlapCollective {
  Place start = kNoPlace, wait = kNoPlace;
  std::uint32_t group = 0;  // process groups, numbered in order of appearance
  // The number of the collective's bucket_key; keys are numbered in order of appearance. kNever if
  // the collective does not fit in any bucket, or if an output reads its start, which bucketing
  // would remove.
  std::uint32_t key = 0;
  std::uint32_t schedule_key = 0;  // the same, but also set if an output reads the start
  // Like `schedule_key`, but for torch's own bucket_key, which may be the same for a reduce-scatter
  // and an all-reduce.
  std::uint32_t torch_key = 0;
  std::int64_t bytes = 0;  // held while it runs: inputs and result; for an all-reduce, half
  std::int64_t ns = 0;
};

struct OverlapGraph {
  // `part` is the half of the graph. `costs` is indexed by node id.
  OverlapGraph(const Graph& graph, PartId part, const Dependencies& dependencies,
               std::span<const NodeCost> costs, const BucketRules& rules);

  [[nodiscard]] std::size_t size() const { return nodes.size(); }
  [[nodiscard]] std::string_view name(Place place) const { return graph->name(nodes[place]); }

  const Graph* graph;
  std::vector<NodeId> nodes;    // by position
  std::vector<Place> place_of;  // by node id; kNoPlace if in the other half
  PlaceLists inputs;            // by position: all nodes that must run before it
  PlaceLists users;             // the reverse
  std::size_t leading = 0;      // number of placeholders and constants before the first call
  std::vector<bool> is_compute, is_cheap, is_communication;  // by position
  std::vector<std::int64_t> ns;        // by position; 0 if it does not compute
  std::vector<std::int32_t> start_of;  // by position: the collective that it starts, or -1
  std::vector<std::int32_t> wait_of;   // by position: the collective that it waits for, or -1
  std::vector<OverlapCollective> collectives;  // in the order of their waits
  std::vector<std::string> groups;             // labels, by number
  // Indexed by group: true if its first all-gather, in the order of the waits, is computed from a
  // single placeholder, like FSDP's all-gather of a parameter. Torch 2.15 treats such a group as
  // spanning machines.
  std::vector<bool> gathers_parameters;
  std::vector<Place> compute;  // compute nodes, in order
  // For each position, the index in `compute` of the node, if it is a compute node, otherwise of
  // the first compute node that depends on it; kNever if there is none.
  std::vector<std::uint32_t> first_compute;
  std::vector<bool> feeds_reduce_scatter;  // by position; also true for the reduce-scatter itself

 private:
  void find_edges(const Dependencies& dependencies);
  void add_wall_edges(std::vector<std::pair<Place, Place>>& edges) const;
  void find_collectives(std::span<const NodeCost> costs, const BucketRules& rules);
  [[nodiscard]] bool is_output(Place place) const;
  [[nodiscard]] bool is_for_one_wait(Place start) const;
  [[nodiscard]] Place start_waited_for(Place wait, const BucketRules& rules) const;
  void find_uses();
};

}  // namespace jointer
