#pragma once

// torch's FLOP registry in a given version. The top of flops.cpp lists what each version added.

#include <string_view>

#include "core/base/torch_version.h"
#include "core/ops/flops.h"

namespace jointer {

bool is_in_torch_registry(std::string_view packet, TorchVersion torch);

Flops operator_flops(const OperatorCall& call, TorchVersion torch);

}  // namespace jointer
