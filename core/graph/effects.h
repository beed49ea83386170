#pragma once

// The effects of calls other than returning values: the arguments that they write to, and other
// reasons to keep their order.

#include <cstdint>
#include <vector>

#include "core/graph/graph.h"

namespace jointer {

struct Effects {
  enum Flag : std::uint8_t {
    draws = 1 << 0,     // draws from a random generator, or sets its state
    acts = 1 << 1,      // changes something outside the graph
    checks = 1 << 2,    // checks a value, and may raise an error
    separates = 1 << 3  // nothing may move across it, such as a stream operator
  };
  std::uint8_t flags = 0;
  [[nodiscard]] bool has(Flag flag) const { return (flags & flag) != 0; }
  // True if two nodes with these effects must keep their order: both draw, both act or check, or
  // one of them separates.
  [[nodiscard]] bool conflict(Effects other) const {
    constexpr std::uint8_t kActs = acts | checks;
    return (has(draws) && other.has(draws)) ||
           ((flags & kActs) != 0 && (other.flags & kActs) != 0) || has(separates) ||
           other.has(separates);
  }
};

// Derives the effects from the operator and its schema or, without a schema, from the value that
// the node returns.
Effects effects_of(const Graph& graph, const Node& node);

// True if a call may write to an argument. If false, written_arguments appends nothing.
bool may_write(const OperatorInfo& op);

// Appends the nodes whose tensors a call writes to: the arguments that the schema marks as
// `Tensor(a!)`. If it marks none: every argument of a mutating Triton kernel, the first argument of
// an operator with an in-place name (`add_`), or, for an opaque operator, the arguments that the
// capture's schema_alias marks as written.
void written_arguments(const Graph& graph, const Node& node, std::vector<NodeId>& written);
inline std::vector<NodeId> written_arguments(const Graph& graph, const Node& node) {
  std::vector<NodeId> written;
  written_arguments(graph, node, written);
  return written;
}

}  // namespace jointer
