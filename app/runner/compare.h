#pragma once

#include <ATen/core/Tensor.h>

#include <span>
#include <string>
#include <vector>

#include "core/bench/event.h"

namespace jointer::runner {

// Copies on the host that a later run cannot change; their memory does not count.
std::vector<at::Tensor> keep(std::span<const at::Tensor> outputs);

// Outputs beside what they should be, by index; where either is undefined both must be. `bound`: by
// how much they may differ, relative to the output's largest magnitude; 0: not in one bit.
RankVerified compare_outputs(std::string against, std::span<const at::Tensor> outputs,
                             std::span<const at::Tensor> expected,
                             std::span<const std::string> names, double bound);

}  // namespace jointer::runner
