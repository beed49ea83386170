#pragma once

// Code shared by the passes that compute a new order of all calls.

#include <cstdint>
#include <span>
#include <vector>

#include "core/pass/pass.h"
#include "passes/reordering/calls.h"

namespace jointer {

// Calls with their dependencies and additional dependencies that keep collectives in their current
// order. In each stretch, collectives form one row of starts, regardless of process groups, and
// copies to and from the host form another; each start depends on the previous start in its row, as
// in torch 2.11's decide_global_ordering_of_comms.
class OrderedCalls {
 public:
  explicit OrderedCalls(const Calls& calls);

  // The previous and next starts in the same row; kNoCall if there is no such start, if one of the
  // two starts directly depends on the other anyway, and for calls that are not starts.
  [[nodiscard]] Call previous(Call call) const { return previous_[call]; }
  [[nodiscard]] Call next(Call call) const { return next_[call]; }

  [[nodiscard]] std::uint32_t count_before(Call call) const {
    return static_cast<std::uint32_t>(calls_.before(call).size()) +
           (previous_[call] == kNoCall ? 0 : 1);
  }
  template <class Visit>
  void for_each_before(Call call, Visit visit) const {
    for (const Call before : calls_.before(call)) visit(before);
    if (previous_[call] != kNoCall) visit(previous_[call]);
  }
  template <class Visit>
  void for_each_after(Call call, Visit visit) const {
    for (const Call after : calls_.after(call)) visit(after);
    if (next_[call] != kNoCall) visit(next_[call]);
  }

 private:
  const Calls& calls_;
  std::vector<Call> previous_, next_;  // by call
};

// The kinds of calls to explain.
struct Explained {
  bool starts = false, waits = false;
};
// For every call of these kinds, adds a decision that says how far it moved and which call keeps it
// from moving further.
void explain_places(const Graph& graph, const Calls& calls, std::span<const Call> order,
                    Explained explained, PassContext& context);

// Puts the graph's calls into this order and returns true. If the peak would then exceed both the
// run's limit and the current peak, leaves the order unchanged, adds a decision and returns false.
bool keep_within_limit(Graph& graph, const Calls& calls, std::span<const Call> order,
                       PassContext& context);

}  // namespace jointer
