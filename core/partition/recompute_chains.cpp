// Computes the cost of the recompute chains of many values without listing every chain.
//
// Terms
//   chain(v)  v and all calls that v is computed from, back to available values.
//   base(v)   the input of v that is not available and has the longest path back. In a network with
//             a residual stream, chain(base(v)) is nearly all of chain(v). None if all inputs are
//             available.
//   local(v)  chain(v) without chain(base(v)).
//   owners    of a call c: the v with c in local(v).
//
// Steps
//   1. Find the members of all chains, from the values back.
//   2. The bases form a forest; number its nodes so that each subtree is an interval.
//   3. In program order: chain(v) costs as much as chain(base(v)) and local(v) together. Search
//      local(v) from v's other inputs back to calls in chain(base(v)); c is in chain(b) if and only
//      if b is in the subtree of one of c's owners.
//
// Cost: the total size of all local(v), times the number of owners visited. A list of complete
// chains would be quadratic in the calls if everything is recomputed.

#include "core/partition/recompute_chains.h"

#include <algorithm>

namespace jointer {
namespace {

constexpr Place kNoPlace = ~Place{0};

class Chains {
 public:
  Chains(const PairOrders& orders, const PlanTime& time, std::span<const std::uint8_t> is_there)
      : orders_(orders), time_(time), is_available_(is_there) {}

  std::vector<RecomputeChain> run(std::span<const Place> values) {
    find_members(values);
    number_forest();
    for (const Place p : members_) add_up(p);
    std::vector<RecomputeChain> found;
    found.reserve(values.size());
    for (const Place v : values) found.push_back(sums_[v]);
    return found;
  }

 private:
  struct Owner {
    Place owner;
    std::uint32_t next;
  };
  static constexpr std::uint32_t kEnd = ~std::uint32_t{0};

  void find_members(std::span<const Place> values) {
    std::vector<std::uint8_t> is_member(orders_.size(), 0);
    for (const Place v : values) is_member[v] = 1;
    base_.assign(orders_.size(), kNoPlace);
    for (Place p = static_cast<Place>(orders_.size()); p-- > 0;) {
      if (!is_member[p]) continue;
      members_.push_back(p);
      for (const Place input : orders_.inputs(p))
        if (!is_available_[input]) is_member[input] = 1;
    }
    std::reverse(members_.begin(), members_.end());
    std::vector<std::uint32_t> depth(orders_.size(), 0);
    for (const Place p : members_)
      for (const Place input : orders_.inputs(p)) {
        if (is_available_[input]) continue;
        depth[p] = std::max(depth[p], depth[input] + 1);
        if (base_[p] == kNoPlace || depth[input] >= depth[base_[p]]) base_[p] = input;
      }
  }

  void number_forest() {
    below_.assign(orders_.size(), 1);
    number_.assign(orders_.size(), 0);
    for (auto it = members_.rbegin(); it != members_.rend(); ++it)
      if (base_[*it] != kNoPlace) below_[base_[*it]] += below_[*it];
    std::vector<std::uint32_t> free(orders_.size(), 0);  // the next number in a subtree
    std::uint32_t next_root = 0;
    for (const Place p : members_) {
      std::uint32_t& next = base_[p] == kNoPlace ? next_root : free[base_[p]];
      number_[p] = next;
      next += below_[p];
      free[p] = number_[p] + 1;
    }
    owners_.assign(orders_.size(), kEnd);
    seen_.assign(orders_.size(), kNoPlace);
    sums_.resize(orders_.size());
  }

  [[nodiscard]] bool in_chain(Place call, Place of) const {
    for (std::uint32_t i = owners_[call]; i != kEnd; i = list_[i].next) {
      const Place owner = list_[i].owner;
      // Unsigned: a negative difference wraps around and is too large.
      if (number_[of] - number_[owner] < below_[owner]) return true;
    }
    return false;
  }

  void add_up(Place v) {
    RecomputeChain sum = base_[v] == kNoPlace ? RecomputeChain{} : sums_[base_[v]];
    stack_.assign(1, v);
    while (!stack_.empty()) {
      const Place p = stack_.back();
      stack_.pop_back();
      if (seen_[p] == v || (p != v && in_chain(p, base_[v]))) continue;
      seen_[p] = v;
      list_.push_back({v, owners_[p]});
      owners_[p] = static_cast<std::uint32_t>(list_.size() - 1);
      sum.ns += time_.ns(p);
      sum.flops += time_.flops(p);
      if (orders_.has(p, PairOrders::is_call)) ++sum.calls;
      for (const Place input : orders_.inputs(p))
        if (!is_available_[input] && input != base_[v]) stack_.push_back(input);
    }
    sums_[v] = sum;
  }

  const PairOrders& orders_;
  const PlanTime& time_;
  std::span<const std::uint8_t> is_available_;
  std::vector<Place> members_;                 // in program order
  std::vector<Place> base_;                    // by position
  std::vector<std::uint32_t> below_, number_;  // by position: size and first number of the subtree
  std::vector<std::uint32_t> owners_;          // by position: the first in list_
  std::vector<Owner> list_;
  std::vector<Place> seen_;  // by position: the last value whose local set contains it
  std::vector<RecomputeChain> sums_;
  std::vector<Place> stack_;
};

}  // namespace

std::vector<RecomputeChain> recompute_chains(const PairOrders& orders, const PlanTime& time,
                                             std::span<const std::uint8_t> is_there,
                                             std::span<const Place> values) {
  return Chains(orders, time, is_there).run(values);
}

}  // namespace jointer
