#pragma once

// Which calls of a forward may run again in the backward and give the same: as part of what another
// is made from, or where it is asked of the call itself. The rules are at the top of
// recomputable.cpp.

#include <cstdint>
#include <string>
#include <vector>

#include "core/partition/pair_order.h"

namespace jointer {

class Recomputable {
 public:
  explicit Recomputable(const PairOrders& orders);

  [[nodiscard]] bool operator()(Place call) const { return why_not_[call] == Why::none; }
  // The same where a tag or a plan asks it of the call, or of what is taken from it.
  [[nodiscard]] bool if_asked(Place call) const {
    return (*this)(call) || why_not_[source(call)] == Why::draws;
  }
  // Of a value that is taken from a tuple the call that returns it.
  [[nodiscard]] Place source(Place call) const;
  // One sentence; empty if it may.
  [[nodiscard]] std::string why_not(Place call) const;

 private:
  enum class Why : std::uint8_t { none, draws, draws_unseen, writes, acts, overwritten, part };

  [[nodiscard]] Why find_why(Place call) const;
  void find_overwritten();

  const PairOrders& orders_;
  std::vector<Why> why_not_;  // by place
};

}  // namespace jointer
