#pragma once

// Where the copies of values that spend the time between the halves on the host stand. The rules
// are at the top of offload_transfers.cpp.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/graph/graph.h"

namespace jointer {

// Where a copy begins and where it is waited for, in a half's calls. A number means: right before
// that call; the number of calls: behind the last one.
struct TransferPlaces {
  std::size_t start = 0, wait = 0;
};

class TransferPlanner {
 public:
  // Of each call of a half the layer that it belongs to, or -1.
  explicit TransferPlanner(std::span<const std::int32_t> layers);

  // `last_use`: the last call that uses the value's memory, or the one that makes it.
  [[nodiscard]] TransferPlaces offload(std::size_t last_use) const;
  // `first_use`: the first call that needs it; the number of calls if only an output does.
  [[nodiscard]] TransferPlaces reload(std::size_t first_use) const;

 private:
  std::vector<std::size_t> stretch_;  // by call
  std::vector<std::size_t> first_;    // of each stretch, and the number of calls
  bool has_layers_ = false;
};

// One call that copies or waits, in a half's calls.
struct TransferCall {
  enum class Kind : std::uint8_t { offload, offload_wait, reload, reload_wait };
  std::size_t before = 0;  // which of the half's calls it precedes
  Kind kind = Kind::offload;
  std::uint32_t value = 0;  // which of the values that are offloaded

  // How they stand in the half: of those before one call, copies first.
  friend auto operator<=>(const TransferCall&, const TransferCall&) = default;
};

// The copies of one half, in its order. `uses`: of each value its last use in the forward, or its
// first in the backward.
std::vector<TransferCall> offload_calls(const TransferPlanner& planner,
                                        std::span<const std::size_t> uses);
std::vector<TransferCall> reload_calls(const TransferPlanner& planner,
                                       std::span<const std::size_t> uses);

// Why a value of a forward cannot spend time on the host; one sentence, empty if it can.
std::string why_not_offloaded(const Graph& graph, NodeId value);

// 3 of a node within layers.3; -1 of one that is in no layer. By node id.
std::vector<std::int32_t> layers_by_node(const Graph& graph);

}  // namespace jointer
