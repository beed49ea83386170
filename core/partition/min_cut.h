#pragma once

// Chooses the forward values to save so that their weighted bytes are minimal, as torch's
// min_cut_rematerialization_partition does. The top of min_cut.cpp describes the algorithm.

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/result.h"
#include "core/base/watcher.h"
#include "core/graph/graph.h"
#include "core/partition/ban_rules.h"
#include "core/partition/flow_network.h"
#include "core/partition/joint_parts.h"

namespace jointer {

// A minimum cut, and the bans under which it was found.
struct CutSolution {
  std::vector<NodeId> saved;  // in program order, symbols included
  Bans bans;
  std::int64_t capacity = 0;
};

// The cut problem of one graph, which can be solved under different rules. `joint` and `parts` must
// outlive this object. The graph's tags must be settled; `tags` is the result of settle_tags. If it
// is empty, all tags count as the graph's.
class MinCut {
 public:
  MinCut(const Graph& joint, const JointParts& parts, std::vector<TagSource> tags = {});

  // `allowed`: see find_bans (torch's dont_ban). Error (cancelled): `watcher` reports that the user
  // has cancelled. Error (usage): the backward needs a value that can be neither saved nor
  // recomputed (the message names both ends of the path that no cut can break), or the tensors are
  // too large to add up.
  [[nodiscard]] Result<CutSolution> solve(const BanOptions& options = {},
                                          const std::vector<bool>& allowed = {},
                                          const Watcher& watcher = {}) const;

  // Indexed by node id: the bytes that torch counts for saving the node's value; a view counts in
  // full, a symbol as one byte.
  [[nodiscard]] std::span<const std::int64_t> bytes() const { return bytes_; }
  // Indexed by node id: the number of edges from a forward value to the nearest node outside the
  // forward that depends on it; kFar if there is none. 0 for nodes outside the forward, except the
  // output, which has kFar.
  [[nodiscard]] std::span<const std::uint32_t> distance_to_backward() const { return distance_; }
  static constexpr std::uint32_t kFar = 1'000'000'000;

  [[nodiscard]] const Users& users() const { return users_; }

 private:
  // The cost of saving a node's value, as the top of min_cut.cpp defines it; FlowNetwork::kInfinite
  // if it cannot be saved.
  [[nodiscard]] std::int64_t capacity(NodeId id) const;
  [[nodiscard]] FlowNetwork network(const Bans& bans) const;
  [[nodiscard]] Error conflict(const FlowNetwork& network) const;

  const Graph& joint_;
  const JointParts& parts_;
  std::vector<TagSource> tags_;
  Users users_;
  FusionRules fusion_;
  std::vector<std::int64_t> bytes_;      // by node
  std::vector<std::uint32_t> distance_;  // by node
};

}  // namespace jointer
