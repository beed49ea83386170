#pragma once

#include <functional>
#include <span>
#include <string>

#include "app/cli/commands/options.h"
#include "passes/kernel_order/kernel_order.h"

namespace jointer::cli {

// The reports of passes on kernels. `name` names the kernel that contains an op; `nodes` lists the
// names of the nodes that it computes.
Json kernel_passes_json(std::span<const KernelPassReport> reports,
                        const std::function<std::string(kernels::OpId)>& name,
                        const std::function<Json(kernels::OpId)>& nodes);

// Prints the tables of an answer that has such reports.
void print_kernel_passes(const Json& reports);

}  // namespace jointer::cli
