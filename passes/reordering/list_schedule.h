#pragma once

// What passes have in common that make a whole new order of the calls.

#include <cstdint>
#include <span>
#include <vector>

#include "core/pass/pass.h"
#include "passes/reordering/calls.h"

namespace jointer {

// Calls with their dependencies, and collectives in the order that they have: each start depends on
// the one before it in its stretch, whatever its process group, as torch 2.11's
// decide_global_ordering_of_comms has it. Copies to the host and back are a row of their own.
class OrderedCalls {
 public:
  explicit OrderedCalls(const Calls& calls);

  // The start before it and behind it in its row, where it does not depend on it anyway; else none.
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

struct Explained {
  bool starts = false, waits = false;
};
// A decision for every start or wait: how far it moved, and which call holds it where it is now.
void explain_places(const Graph& graph, const Calls& calls, std::span<const Call> order,
                    Explained explained, PassContext& context);

// Puts the calls into this order, unless the peak would be over the run's limit and was not, or
// would grow over it further: the order then stays, and a decision says so. Whether it was put.
bool keep_within_limit(Graph& graph, const Calls& calls, std::span<const Call> order,
                       PassContext& context);

}  // namespace jointer
