// Splits collectives into independent buckets.
//
// Terms. An end is a collective's start or wait. An end's ancestors are the ends that it depends
// on, directly or through other nodes.
//
// Steps. One walk over the half computes the ancestors of each node as a bit set. After members are
// merged, their starts and the ancestors of these are ancestors of all members' starts and of all
// ends that depend on one of these. Merges are applied to an end lazily, when its ancestors are
// queried. A member's level is the length of the longest chain of members that it depends on.
//
// Source: torch/_inductor/fx_passes/overlap_manual_scheduling.py (2.15), _BucketPlanReachability
// and _split_independent_collectives.
// Cost: edges times ends / 64 for the walk, and merges times ends / 64 for each end that is
// queried.

#include "passes/bucketing/bucket_levels.h"

#include <algorithm>

namespace jointer {
namespace {

bool has(const std::vector<std::uint64_t>& bits, std::size_t at) {
  return (bits[at / 64] >> (at % 64) & 1) != 0;
}
void add(std::vector<std::uint64_t>& bits, std::size_t at) {
  bits[at / 64] |= std::uint64_t{1} << (at % 64);
}
void add(std::vector<std::uint64_t>& bits, const std::vector<std::uint64_t>& other) {
  for (std::size_t i = 0; i < bits.size(); ++i) bits[i] |= other[i];
}
bool meet(const std::vector<std::uint64_t>& a, const std::vector<std::uint64_t>& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if ((a[i] & b[i]) != 0) return true;
  return false;
}

}  // namespace

BucketLevels::BucketLevels(const Graph& graph, PartId part,
                           std::span<const WaitedCollective> collectives)
    : applied_(2 * collectives.size(), 0) {
  const std::size_t words = (2 * collectives.size() + 63) / 64;
  ancestors_.assign(2 * collectives.size(), Bits(words, 0));
  constexpr std::uint32_t kNone = 0xffffffff;
  std::vector<std::uint32_t> end_of(graph.node_count(), kNone);
  for (std::uint32_t c = 0; c < collectives.size(); ++c) {
    end_of[collectives[c].start.index()] = 2 * c;
    end_of[collectives[c].wait.index()] = 2 * c + 1;
  }
  std::vector<std::uint64_t> reached(graph.node_count() * words, 0);
  const auto row = [&](NodeId id) { return std::span(reached).subspan(id.index() * words, words); };
  for (const NodeId id : graph.order()) {
    if (graph.node(id).part != part) continue;
    const auto own = row(id);
    for (const NodeId input : graph.inputs(id)) {
      const auto other = row(input);
      for (std::size_t i = 0; i < words; ++i) own[i] |= other[i];
    }
    const std::uint32_t end = end_of[id.index()];
    if (end == kNone) continue;
    std::copy(own.begin(), own.end(), ancestors_[end].begin());
    own[end / 64] |= std::uint64_t{1} << (end % 64);
  }
}

const BucketLevels::Bits& BucketLevels::ancestors(std::size_t end) {
  Bits& bits = ancestors_[end];
  for (std::size_t& m = applied_[end]; m < merges_.size(); ++m) {
    const auto& [members, before] = merges_[m];
    if (has(members, end) || meet(bits, members)) add(bits, before);
  }
  return bits;
}

std::vector<std::vector<std::uint32_t>> BucketLevels::split(
    std::span<const std::uint32_t> members) {
  // After a merge, an ancestor may come later in program order, so levels cannot be computed in
  // that order. Instead, count the members that each member still waits for.
  std::vector<std::vector<std::size_t>> readers(members.size());
  std::vector<std::size_t> open(members.size(), 0), level(members.size(), 0);
  for (std::size_t i = 0; i < members.size(); ++i) {
    const Bits& before = ancestors(2 * std::size_t{members[i]});
    for (std::size_t j = 0; j < members.size(); ++j) {
      if (!has(before, 2 * std::size_t{members[j]} + 1)) continue;
      readers[j].push_back(i);
      ++open[i];
    }
  }
  std::vector<std::size_t> ready;
  for (std::size_t i = 0; i < members.size(); ++i)
    if (open[i] == 0) ready.push_back(i);
  while (!ready.empty()) {
    const std::size_t at = ready.back();
    ready.pop_back();
    for (const std::size_t reader : readers[at]) {
      level[reader] = std::max(level[reader], level[at] + 1);
      if (--open[reader] == 0) ready.push_back(reader);
    }
  }
  std::vector<std::vector<std::uint32_t>> levels;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (levels.size() <= level[i]) levels.resize(level[i] + 1);
    levels[level[i]].push_back(members[i]);
  }
  return levels;
}

void BucketLevels::merge(std::span<const std::uint32_t> members) {
  if (members.size() < 2) return;
  Bits starts(ancestors_.front().size(), 0);
  for (const std::uint32_t member : members) add(starts, 2 * std::size_t{member});
  Bits before = starts;
  for (const std::uint32_t member : members) add(before, ancestors(2 * std::size_t{member}));
  merges_.emplace_back(std::move(starts), std::move(before));
}

}  // namespace jointer
