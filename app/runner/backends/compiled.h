#pragma once

// Compiles graphs and regions with Inductor: a Python process makes AOTInductor packages of the
// edited graph (resources/python/jointer, `python -m jointer compile`), which this process loads
// and runs.

#include <string>
#include <vector>

#include "app/runner/program/program_builder.h"
#include "app/runner/support/reporter.h"
#include "core/base/result.h"
#include "core/bench/request.h"

namespace jointer::runner {

struct CompileOptions {
  ProgramFiles files;  // of this rank
  const BenchmarkRequest& request;
  int rank = 0;
  at::Device device = at::kCPU;
};

// With `inductor`, one region per part; with `regional`, the marked ones. Error (run): the
// compiler's error, in one line.
Result<std::vector<CompiledRegion>> compile_regions(const Graph& graph,
                                                    const CompileOptions& options,
                                                    Reporter& reporter);

}  // namespace jointer::runner
