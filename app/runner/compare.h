#pragma once

#include <ATen/core/Tensor.h>

#include <span>
#include <string>
#include <vector>

#include "core/bench/event.h"

namespace jointer::runner {

// Copies outputs to the host, where a later run cannot change them. The copies do not count toward
// the measured memory.
std::vector<at::Tensor> keep(std::span<const at::Tensor> outputs);

// Compares outputs with the expected ones, by index; if one is undefined, the other must be, too.
// `bound`: the maximum difference relative to the output's largest magnitude; 0: bitwise equal.
RankVerified compare_outputs(std::string against, std::span<const at::Tensor> outputs,
                             std::span<const at::Tensor> expected,
                             std::span<const std::string> names, double bound);

}  // namespace jointer::runner
