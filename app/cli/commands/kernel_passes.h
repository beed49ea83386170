#pragma once

#include <functional>
#include <span>
#include <string>

#include "app/cli/commands/options.h"
#include "passes/kernel_order/kernel_passes.h"

namespace jointer::cli {

// The reports of passes on kernels. `name` returns the name of the kernel that contains an op, and
// `nodes` the names of the nodes that this kernel computes.
Json kernel_passes_json(std::span<const KernelPassReport> reports,
                        const std::function<std::string(kernels::OpId)>& name,
                        const std::function<Json(kernels::OpId)>& nodes);

// Prints the peaks before and after each pass, and a table of the kernels in its report, whether
// they moved or not.
void print_kernel_passes(const Json& reports);

}  // namespace jointer::cli
