#pragma once

// Graphs and regions compiled by Inductor: a Python process makes AOTInductor packages of the
// edited graph (resources/python/jointer, `python -m jointer compile`), this process loads and runs
// them.

#include <string>
#include <vector>

#include "app/runner/program_builder.h"
#include "app/runner/reporter.h"
#include "core/base/result.h"
#include "core/bench/request.h"

namespace jointer::runner {

struct CompileOptions {
  ProgramFiles files;  // of this rank
  const BenchmarkRequest& request;
  int rank = 0;
  at::Device device = at::kCPU;
};

// Under `inductor` a region a part, under `regional` the marked ones. Error (run): the compiler's,
// in one line.
Result<std::vector<CompiledRegion>> compile_regions(const Graph& graph,
                                                    const CompileOptions& options,
                                                    Reporter& reporter);

}  // namespace jointer::runner
