#pragma once

// Determines which forward calls give the same result if they run again in the backward, as part of
// another value's chain or because a tag or a decision requires it. The top of recomputable.cpp
// states the rules.

#include <cstdint>
#include <string>
#include <vector>

#include "core/partition/pair_order.h"

namespace jointer {

class Recomputable {
 public:
  explicit Recomputable(const PairOrders& orders);

  // True if the call may be recomputed as part of another value's chain.
  [[nodiscard]] bool operator()(Place call) const { return why_not_[call] == Why::none; }
  // True if the call may be recomputed if a tag or a plan requires it, directly or through an
  // element of its result.
  [[nodiscard]] bool if_asked(Place call) const {
    return (*this)(call) || why_not_[source(call)] == Why::draws;
  }
  // The call that returns the tuple that `call` reads an element of; for any other call, the call
  // itself.
  [[nodiscard]] Place source(Place call) const;
  // The reason why operator() is false, in one sentence; empty if it is true.
  [[nodiscard]] std::string why_not(Place call) const;

 private:
  enum class Why : std::uint8_t {
    none,
    draws,
    draws_unseen,
    in_one_half,
    writes,
    acts,
    overwritten,
    part,
    read_outside,
  };

  [[nodiscard]] Why find_why(Place call) const;
  void find_overwritten();

  const PairOrders& orders_;
  std::vector<Why> why_not_;  // by position
};

}  // namespace jointer
