#pragma once

// Which forward values are saved so that the saved bytes are fewest, as torch's
// min_cut_rematerialization_partition chooses them. How is at the top of min_cut.cpp.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/base/watcher.h"
#include "core/graph/graph.h"
#include "core/partition/ban_rules.h"
#include "core/partition/flow_network.h"
#include "core/partition/joint_parts.h"

namespace jointer {

// What the cut passes between, by node; see MinCut::explain.
struct CutSolution {
  std::vector<NodeId> saved;  // in program order, symbols among them
  Bans bans;
  std::int64_t capacity = 0;
  std::vector<bool> sink_in, sink_out;  // by node: its entry, its exit is on the backward's side
};

// The problem of one graph, which can be solved again under other rules. The graph and its parts
// must outlive it; the graph's tags are settled, `tags` is what settle_tags said of them.
class MinCut {
 public:
  MinCut(const Graph& joint, const JointParts& parts, std::vector<TagSource> tags = {});

  // `allowed`: by node, values that no heuristic keeps from being made again (torch's dont_ban);
  // empty for none. Error (cancelled): as `watcher` says. Error (usage): a value that the backward
  // needs can be neither saved nor made again; the sentence names the nodes on the way to it.
  [[nodiscard]] Result<CutSolution> solve(const BanOptions& options = {},
                                          const std::vector<bool>& allowed = {},
                                          const Watcher& watcher = {}) const;

  // Bytes that torch counts for saving a value: views in full, a symbol as one.
  [[nodiscard]] std::span<const std::int64_t> bytes() const { return bytes_; }
  // Edges from a forward value to the nearest reader in the backward; kFar where none leads there.
  [[nodiscard]] std::span<const std::uint32_t> distance_to_backward() const { return distance_; }
  static constexpr std::uint32_t kFar = 1'000'000'000;

  // The capacity of keeping a node's value: its bytes, more for those far from the backward and for
  // those that no kernel writes to memory anyway; FlowNetwork::kInfinite if it cannot be kept.
  [[nodiscard]] std::int64_t capacity(NodeId id) const;

  [[nodiscard]] const Users& users() const { return users_; }

 private:
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
