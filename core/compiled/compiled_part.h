#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/base/torch_version.h"
#include "core/compiled/regions.h"
#include "core/graph/graph.h"
#include "core/kernels/kernels.h"

namespace jointer {

// Why two kernels were not fused, in Inductor's words.
struct StatedRefusal {
  std::int32_t first = -1, second = -1;  // indices of kernels
  std::string reason;
};

// A unit that Inductor compiles (a graph, a half of a pair, or a region of a graph), and the
// kernels that it makes of it: predicted by the functions below, stated by the installed Inductor,
// or read from a compilation (core/capture/program_part.h). Nodes are those of the graph that
// contains the part.
struct CompiledPart {
  PartId part;
  TorchVersion torch;  // whose rules apply: the version that made the graph
  kernels::Ir ir;
  kernels::Kernels scheduled;
  std::vector<NodeId> calls = {};  // of a region, in order; empty for a whole part
  // If the installed Inductor stated the kernels: the pairs that it did not fuse. The part then has
  // one op for each kernel, no buffers but inputs, and no other refusals.
  std::vector<StatedRefusal> stated = {};
};

// Predicts the kernels. Cost: that of kernels::lower and kernels::schedule.
CompiledPart compile_part(const Graph& graph, PartId part);
// The same, but can be cancelled. Error (cancelled): `is_cancelled`, if set, returned true.
Result<CompiledPart> compile_part(const Graph& graph, PartId part,
                                  const std::function<bool()>& is_cancelled);
CompiledPart compile_region(const Graph& graph, const Region& region);
Result<CompiledPart> compile_region(const Graph& graph, const Region& region,
                                    const std::function<bool()>& is_cancelled);

}  // namespace jointer
