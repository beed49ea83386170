#pragma once

// Compiles graphs and regions with Inductor. A Python process builds AOTInductor packages from the
// edited graph (resources/python/jointer, `python -m jointer compile`), and this process loads and
// runs them.

#include <vector>

#include "app/runner/program/program_builder.h"
#include "app/runner/support/reporter.h"
#include "core/base/result.h"
#include "core/bench/request.h"

namespace jointer::runner {

struct CompileOptions {
  ProgramFiles files;  // the files of this rank
  const BenchmarkRequest& request;
  int rank = 0;
  at::Device device = at::kCPU;
};

// `inductor` compiles one region per part; `regional` compiles the marked regions. Error (run):
// `request.graph_index` is set, the compiler fails (run_compiler), or a package cannot be loaded or
// does not fit the graph.
Result<std::vector<CompiledRegion>> compile_regions(const Graph& graph,
                                                    const CompileOptions& options,
                                                    Reporter& reporter);

}  // namespace jointer::runner
