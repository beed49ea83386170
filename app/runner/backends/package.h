#pragma once

#include <string>
#include <vector>

#include "app/runner/program/program.h"
#include "core/base/result.h"

namespace jointer::runner {

// The calling convention of a package: which inputs and outputs are numbers. Numbers are passed as
// 0-dimensional tensors.
struct PackageCall {
  std::vector<bool> input_is_number, output_is_number;
};

// Loads an AOTInductor package into this process. Error (run): torch cannot load the file, for
// example because it is not a package or was compiled for another device.
Result<Compiled> load_package(const std::string& path, at::Device device, PackageCall call);

}  // namespace jointer::runner
