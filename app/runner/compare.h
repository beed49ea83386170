#pragma once

#include <ATen/core/Tensor.h>

#include <span>
#include <string>
#include <vector>

#include "core/bench/event.h"

namespace jointer::runner {

// Copies outputs to the host, where later runs cannot change them. The copies do not count toward
// measured memory.
std::vector<at::Tensor> keep(std::span<const at::Tensor> outputs);

// Compares outputs with the expected ones, index by index. An output that is undefined or missing
// on only one side differs. `bound`: the allowed difference, relative to the largest finite
// magnitude of the expected output; with 0, all values must be equal.
RankVerified compare_outputs(std::string against, std::span<const at::Tensor> outputs,
                             std::span<const at::Tensor> expected,
                             std::span<const std::string> names, double bound);

// Returns the largest difference between the outputs of two runs of a graph, relative to the
// output's largest finite magnitude in the second run.
double spread(std::span<const at::Tensor> first, std::span<const at::Tensor> second);

}  // namespace jointer::runner
