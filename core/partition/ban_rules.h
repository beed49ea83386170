#pragma once

// Finds the forward values that the minimum cut may not recompute. The top of ban_rules.cpp states
// the rules.

#include <cstdint>
#include <span>
#include <vector>

#include "core/graph/graph.h"
#include "core/graph/users.h"
#include "core/partition/fusion_rules.h"
#include "core/partition/joint_parts.h"
#include "core/partition/recompute_tags.h"

namespace jointer {

// The heuristics that a budget may disable, as in torch's MinCutOptions.
struct BanOptions {
  bool used_far_apart = true;
  bool long_fusible_chains = true;
  bool materialized_in_backward = true;
  bool not_in_allowlist = true;
};

enum class BanReason : std::uint8_t {
  none,
  primal,             // an input, which nothing computes
  seed,               // a seed of random numbers
  must_save,          // tagged
  not_allowed,        // its operator is not on the allowlist
  random,             // draws random numbers; only without the allowlist
  compute_intensive,  // only without the allowlist
  materialized,  // in memory anyway: `by`, which is outside the forward, reads it or a view of it,
                 // without fusing
  reduction,     // less than a quarter of the bytes of its inputs
  far_apart,     // reads `by`, too late to fuse with the calls that read `by` earlier
  long_chain,    // the end of a long chain of fusible calls that starts at `by`
};

struct Ban {
  BanReason reason = BanReason::none;
  NodeId by;
};

// The data that the rules use.
struct BanContext {
  const Graph& graph;
  const JointParts& parts;
  const Users& users;
  const FusionRules& fusion;
  std::span<const std::int64_t> bytes;  // by node, as the cut counts them
  std::span<const TagSource> tags;      // by node: source of its tag; if empty, all are the graph's
};

struct Bans {
  std::vector<Ban> by_node;
  std::vector<NodeId> banned;  // in the order of the decisions
};

// `allowed`: indexed by node id, true if no rule may ban the node, not even for its tag; ignored
// for collectives. May be empty, which allows nothing.
Bans find_bans(const BanContext& context, const BanOptions& options,
               const std::vector<bool>& allowed);

}  // namespace jointer
