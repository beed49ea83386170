#pragma once

// Graphs for property tests: sound ones of every shape that captures have.

#include <cstdint>

#include "core/graph/graph.h"

namespace jointer::test {

struct RandomGraphOptions {
  std::size_t calls = 30;  // about so many nodes that run
  bool symbols = true;     // some sizes are symbolic
  bool pair = false;       // a forward and a backward joined by saved tensors
  // A joint graph returns results of its forward, then a gradient for each primal or none.
  bool gradients = false;
  bool writes = true;   // in place
  bool on_cpu = false;  // all of it, else most on cuda:0
  // Copies into inputs at the end of a joint graph, as torch leaves mutations: the forward's, then
  // the backward's.
  bool input_copies = false;
};

// The same seed gives the same graph. It has parameters, inputs and tangents; pointwise operators,
// matrix products, views of views, splits read by getitem, writes in place, random operators;
// collectives of up to three groups, some waited for at once, some late, some never, some twice;
// forward and backward, modules, recompute tags. `complete` has run.
Graph random_graph(std::uint64_t seed, const RandomGraphOptions& options = {});

}  // namespace jointer::test
