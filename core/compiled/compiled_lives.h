#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/compiled/compiled_calls.h"
#include "core/compiled/compiled_part.h"
#include "core/graph/graph.h"
#include "core/schedule/memory_timeline.h"

namespace jointer {

// The lifetimes of the buffers of a compiled graph, and of the memory that the kernels do not
// count: parameters, optimizer state, tangents. The rules are at the top of compiled_lives.cpp.
// `operators`: the memory in eager mode. `parts`: the graph, or the halves of a pair.
std::vector<Lifetime> compiled_lifetimes(const Graph& graph, const MemoryTimeline& operators,
                                         std::span<const CompiledPart> parts,
                                         const CompiledCalls& calls);

// The lifetimes of the memory of a graph whose regions are compiled. `operators`: the memory of
// running the calls one by one in the order `calls.order`.
std::vector<Lifetime> regional_lifetimes(const Graph& graph, const MemoryTimeline& operators,
                                         std::span<const CompiledPart> regions,
                                         const CompiledCalls& calls);

// The peak of one part: the maximum of compiled_lifetimes while it runs. It is the kernels' peak,
// without what Inductor counts several times, plus the memory that the kernels do not count.
std::int64_t compiled_peak(const Graph& graph, const MemoryTimeline& operators,
                           const CompiledPart& part);

}  // namespace jointer
