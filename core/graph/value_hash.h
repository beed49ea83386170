#pragma once

// Hashes that identify equal parts of a graph. Valid only within one run of the program.

#include <cstdint>

#include "core/graph/graph.h"

namespace jointer {

// Mixes the bits of x (the finalizer of SplitMix64), so that sums of hashes rarely collide.
constexpr std::uint64_t mixed(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15ULL;
  x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27U)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31U);
}

// Combines two hashes; their order matters.
constexpr std::uint64_t joined(std::uint64_t a, std::uint64_t b) {
  return mixed(a ^ mixed(b));
}

// Combines the hash with the dtypes and sizes of all tensors that a node returns, but not with the
// node's identity.
inline std::uint64_t joined_with_value(std::uint64_t hash, const Graph& graph, const Node& node) {
  for (const Tensor& t : graph.tensors(node)) {
    hash = joined(hash, static_cast<std::uint64_t>(t.dtype));
    for (const Dim& size : graph.shape(t))
      hash = joined(hash, static_cast<std::uint64_t>(size.value));
  }
  return hash;
}

}  // namespace jointer
