#pragma once

#include <cstdint>
#include <string>

#include "core/graph/graph.h"
#include "core/partition/last_writes.h"

namespace jointer {

// Determines which values can be copied to the host and back.
class Offloadable {
 public:
  // `graph` must outlive this object and keep its order.
  explicit Offloadable(const Graph& graph) : graph_(graph), writes_(graph) {}

  // The reason why `value` cannot be offloaded, in one sentence; empty if it can be.
  [[nodiscard]] std::string why_not(NodeId value) const;
  [[nodiscard]] bool can_offload(NodeId value) const { return obstacle(value) == Obstacle::none; }

 private:
  enum class Obstacle : std::uint8_t { none, not_a_result, unfinished, partial, written };
  [[nodiscard]] Obstacle obstacle(NodeId value) const;

  const Graph& graph_;
  LastWrites writes_;
};

}  // namespace jointer
