#pragma once

// Exports a graph and its analysis. Each function returns the text of one file.

#include <string>

#include "core/graph/graph.h"
#include "core/schedule/analysis.h"

namespace jointer {

// CSV (RFC 4180) with one row per node in program order: index, name, target, phase, module, output
// bytes, live bytes after its allocations, FLOPs, start and duration in milliseconds.
std::string export_csv(const Graph& graph, const Analysis& analysis);

// A trace for ui.perfetto.dev and chrome://tracing: the host, the compute stream, one track per
// process group, flows from each collective to its wait, and memory as counters by category.
std::string export_perfetto(const Graph& graph, const Analysis& analysis);

// The graph for Graphviz, with one cluster per module, highlighted saved tensors, and bytes on the
// edges.
std::string export_dot(const Graph& graph, const Analysis& analysis);

// A report for an issue or a pull request: estimates, memory at the peak, exposed collectives.
std::string export_markdown(const Graph& graph, const Analysis& analysis);

// The graph as torch's GraphModule.print_readable prints it, with strides and devices; a pair has
// one class per half. Reading the text yields the same nodes and arguments.
std::string export_fx_text(const Graph& graph);
std::string export_fx_text(const Graph& graph, const Analysis& analysis);

}  // namespace jointer
