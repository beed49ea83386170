#pragma once

#include <string>
#include <vector>

#include "app/runner/program.h"
#include "core/base/result.h"

namespace jointer::runner {

// How a package is called: which of its inputs and outputs are numbers of the program, handed over
// as tensors without dimensions.
struct PackageCall {
  std::vector<bool> input_is_number, output_is_number;
};

// Loads an AOTInductor package into this process. Error (run): it is none, or was made for another
// torch, device or processor.
Result<Compiled> load_package(const std::string& path, at::Device device, PackageCall call);

}  // namespace jointer::runner
