#pragma once

// Sound graphs for property tests, with most of what occurs in captures.

#include <cstdint>

#include "core/graph/graph.h"

namespace jointer::test {

struct RandomGraphOptions {
  std::size_t calls = 30;  // approximate number of calls
  bool symbols = true;     // some sizes are symbolic
  bool pair = false;       // a forward and a backward joined by saved tensors
  // A joint graph returns results of its forward, then a gradient or None for each primal.
  bool gradients = false;
  bool writes = true;   // in place
  bool on_cpu = false;  // everything; otherwise most tensors are on cuda:0
  // Copies into inputs at the end of a joint graph, as torch leaves mutations: the forward's, then
  // the backward's.
  bool input_copies = false;
};

// The same seed gives the same graph. It has parameters, inputs and tangents; pointwise operators,
// matrix products, views of views, splits read by getitem, in-place writes, random operators;
// collectives on up to three groups, whose waits come immediately, late, never or twice; forward
// and backward, modules, policy tags. `complete` has run.
Graph random_graph(std::uint64_t seed, const RandomGraphOptions& options = {});

}  // namespace jointer::test
