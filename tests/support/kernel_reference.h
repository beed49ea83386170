#pragma once

// The Ir in a file of the reference kernels, which `inductor_oracle.py` makes: the ops as Inductor
// scheduled them, without Jointer's lowering.
//
// Derived, since the file does not state them: the readers of buffers (as
// `Scheduler.compute_dependencies` does), the result that a weak access orders (Access::mutating),
// and which reductions were split in two layers. The modes of writes are unknown.

#include <nlohmann/json.hpp>
#include <string>

#include "core/base/result.h"
#include "core/base/torch_version.h"
#include "core/kernels/ir.h"

namespace jointer::test {

struct KernelReference {
  nlohmann::json json;
  kernels::Ir ir;
  TorchVersion torch;

  // "op12". Ops that Inductor removed have no name in the file, but one here.
  [[nodiscard]] static std::string op_name(kernels::OpId id) { return "op" + std::to_string(id); }
};

Result<KernelReference> read_kernel_reference(const std::string& path);

// Parses Inductor's text of a position, such as "256*d0+(d1//2)+tmp0".
kernels::Index parse_kernel_index(std::string_view text);

}  // namespace jointer::test
