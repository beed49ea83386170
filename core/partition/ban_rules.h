#pragma once

// Which forward values the minimum cut may not make again. The rules are at the top of
// ban_rules.cpp.

#include <cstdint>
#include <span>
#include <vector>

#include "core/graph/graph.h"
#include "core/graph/users.h"
#include "core/partition/fusion_rules.h"
#include "core/partition/joint_parts.h"
#include "core/partition/recompute_tags.h"

namespace jointer {

// Which of torch's heuristics are on (MinCutOptions). All are, unless a budget asks for less.
struct BanOptions {
  bool used_far_apart = true;
  bool long_fusible_chains = true;
  bool materialized_in_backward = true;
  bool not_in_allowlist = true;
  bool reductions = true;
};

enum class BanReason : std::uint8_t {
  none,
  primal,       // it is an input: nothing makes it
  seed,         // of random numbers
  must_save,    // its tag
  not_allowed,  // its operator is not on the allowlist
  random,       // without the allowlist
  compute_intensive,
  materialized,  // the backward needs it in memory: `by` reads it and does not fuse
  reduction,     // far smaller than what it is made from
  far_apart,     // reads `by`, which is read much earlier as well
  long_chain,    // end of a long chain of fusible calls that starts at `by`
};

struct Ban {
  BanReason reason = BanReason::none;
  NodeId by;
};

// What the rules need to know of the graph; all of it must outlive the call.
struct BanContext {
  const Graph& graph;
  const JointParts& parts;
  const Users& users;
  const FusionRules& fusion;
  std::span<const std::int64_t> bytes;  // by node: as the cut counts them
  std::span<const TagSource> tags;      // by node: who tagged it; empty: all tags are the graph's
};

struct Bans {
  std::vector<Ban> by_node;
  std::vector<NodeId> banned;  // in the order in which they were
};

// `allowed`: nodes that no heuristic bans, by node; may be empty. Collectives are not spared.
Bans find_bans(const BanContext& context, const BanOptions& options,
               const std::vector<bool>& allowed);

}  // namespace jointer
