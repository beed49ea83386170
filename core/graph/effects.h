#pragma once

// What calls do beside returning values: what they write to, and what else fixes their order.

#include <cstdint>
#include <vector>

#include "core/graph/graph.h"

namespace jointer {

struct Effects {
  enum Flag : std::uint8_t {
    draws = 1 << 0,     // from a random generator, or sets its state
    acts = 1 << 1,      // on something outside the graph
    checks = 1 << 2,    // a value, and raises an error
    separates = 1 << 3  // everything before it from everything after it: stream operators
  };
  std::uint8_t flags = 0;
  [[nodiscard]] bool has(Flag flag) const { return (flags & flag) != 0; }
  // Both draw, both act or check, or one separates: two nodes with them keep their order.
  [[nodiscard]] bool conflict(Effects other) const {
    constexpr std::uint8_t kActs = acts | checks;
    return (has(draws) && other.has(draws)) ||
           ((flags & kActs) != 0 && (other.flags & kActs) != 0) || has(separates) ||
           other.has(separates);
  }
};

// By operator, and for those without a schema by what the node returns.
Effects effects_of(const Graph& graph, const Node& node);

// Whether a call of it may write to an argument; if not, written_arguments finds none.
bool may_write(const OperatorInfo& op);

// Adds the nodes whose tensors a call writes to: `Tensor(a!)` of its schema; without a schema, the
// arguments that the capture's schema_alias says are written, the first one of an operator named in
// place (`add_`), every one of a Triton kernel that mutates.
void written_arguments(const Graph& graph, const Node& node, std::vector<NodeId>& written);

}  // namespace jointer
