#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>

#include "core/graph/graph.h"

namespace jointer {

// True if two arguments in the same graph are equal. Floating-point numbers are equal if their bits
// are. `equal_index(a, b)` compares two arguments of the same kind that stand for a node, a symbol,
// a text or the like.
template <class EqualIndex>
bool equal_arguments(const Graph& graph, const Argument& a, const Argument& b,
                     const EqualIndex& equal_index) {
  using Kind = Argument::Kind;
  if (a.kind != b.kind || a.count != b.count) return false;
  if (a.has_children())
    return equal_arguments(graph, graph.children(a), graph.children(b), equal_index);
  switch (a.kind) {
    case Kind::none:
      return true;
    case Kind::boolean:
    case Kind::integer:
      return a.integer == b.integer;
    case Kind::real:
      return std::bit_cast<std::uint64_t>(a.real) == std::bit_cast<std::uint64_t>(b.real);
    default:
      return equal_index(a, b);
  }
}
template <class EqualIndex>
bool equal_arguments(const Graph& graph, std::span<const Argument> a, std::span<const Argument> b,
                     const EqualIndex& equal_index) {
  return std::ranges::equal(a, b, [&](const Argument& x, const Argument& y) {
    return equal_arguments(graph, x, y, equal_index);
  });
}

}  // namespace jointer
