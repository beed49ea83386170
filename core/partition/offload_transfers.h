#pragma once

// Places the copies of offloaded values in the halves of a pair. The top of offload_transfers.cpp
// states the rules.

#include <cstdint>
#include <span>
#include <vector>

#include "core/graph/graph.h"

namespace jointer {

// The positions of a copy's start and wait, as indices into the calls of a half: each is right
// before the call with that index, or after the last call if the index is the number of calls.
struct TransferPlaces {
  std::size_t start = 0, wait = 0;
};

class TransferPlanner {
 public:
  // `layers`: for each call of a half, the number of its layer, or -1.
  explicit TransferPlanner(std::span<const std::int32_t> layers);

  // `last_use`: the index of the last call that uses the value's memory, which may be the call that
  // returns it.
  [[nodiscard]] TransferPlaces offload(std::size_t last_use) const;
  // `first_use`: the index of the first call that needs the value; the number of calls if only an
  // output does.
  [[nodiscard]] TransferPlaces reload(std::size_t first_use) const;

 private:
  std::vector<std::size_t> stretch_;  // by call
  std::vector<std::size_t> first_;    // by stretch: its first call; then the number of calls
  bool has_layers_ = false;
};

// A copy or its wait among the calls of a half.
struct TransferCall {
  enum class Kind : std::uint8_t { offload, offload_wait, reload, reload_wait };
  std::size_t before = 0;  // index of the call that it precedes, or the number of calls
  Kind kind = Kind::offload;
  std::uint32_t value = 0;  // index among the offloaded values

  // The order within the forward. Right before the same call, copies come before waits.
  friend auto operator<=>(const TransferCall&, const TransferCall&) = default;
};

// The copies and waits of one half, in the order in which they run. `uses`: for each value, the
// index of its last use in the forward or of its first use in the backward.
std::vector<TransferCall> offload_calls(const TransferPlanner& planner,
                                        std::span<const std::size_t> uses);
std::vector<TransferCall> reload_calls(const TransferPlanner& planner,
                                       std::span<const std::size_t> uses);

// Indexed by node id: the number of the node's layer, such as 3 for layers.3; -1 for a node outside
// any layer.
std::vector<std::int32_t> layers_by_node(const Graph& graph);

}  // namespace jointer
