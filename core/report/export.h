#pragma once

// Exports a graph and its analysis. Each function returns the text of one file.

#include <span>
#include <string>

#include "core/bench/measurement.h"
#include "core/graph/graph.h"
#include "core/schedule/analysis.h"

namespace jointer {

// CSV (RFC 4180) with one row per node, in program order. The columns are index, name, target,
// phase, module, output bytes, live bytes after the node's allocations (as in the row before if the
// node does not run), FLOPs, and start and duration in milliseconds.
std::string export_csv(const Graph& graph, const Analysis& analysis);

// A trace for ui.perfetto.dev and chrome://tracing, with tracks for the host and for each stream
// (compute, process groups, copies), a flow from each collective to its wait, and a memory counter
// by category.
std::string export_perfetto(const Graph& graph, const Analysis& analysis);
// The same, with a further process for each measurement of the graph. Each process has tracks for
// the measured calls, by stream as in the simulation, and for the kernels, by stream of the GPU,
// and a flow from each call to each of its kernels that starts during the call. A measurement
// without times of calls or kernels adds nothing.
std::string export_perfetto(const Graph& graph, const Analysis& analysis,
                            std::span<const Measurement> measured);

// The graph in Graphviz's DOT language, with one cluster per module, and bytes on the edges. Edges
// from calls of the forward to calls of the backward are highlighted.
std::string export_dot(const Graph& graph, const Analysis& analysis);

// A Markdown report for an issue or a pull request, with estimates, memory at the peak with the 15
// largest tensors, and the 15 collectives and copies that are exposed longest.
std::string export_markdown(const Graph& graph, const Analysis& analysis);

// The graph as torch's GraphModule.print_readable prints it, with strides and devices. A pair has
// one class per half. Reading the text yields the same nodes and arguments, except that opaque
// arguments keep at most their types.
std::string export_fx_text(const Graph& graph);
// The same, with the parameters of the other exports; the analysis is not used.
std::string export_fx_text(const Graph& graph, const Analysis& analysis);

}  // namespace jointer
