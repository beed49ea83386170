#pragma once

// What leaves the program for others to read. Each gives the whole text of one file.

#include <string>

#include "core/graph/graph.h"
#include "core/schedule/analysis.h"

namespace jointer {

// A row a node in program order: index, name, target, phase, module, output bytes, live bytes after
// its allocations, FLOPs, start and duration in milliseconds. RFC 4180.
std::string export_csv(const Graph& graph, const Analysis& analysis);

// A trace for ui.perfetto.dev and chrome://tracing: the host, the compute stream, a track a process
// group, flows from each collective to its wait, and memory as counters by category.
std::string export_perfetto(const Graph& graph, const Analysis& analysis);

// The graph for Graphviz: a cluster a module, saved tensors emphasised, bytes on the edges.
std::string export_dot(const Graph& graph, const Analysis& analysis);

// A report for an issue or a pull request: the figures, memory at the peak, exposed collectives.
std::string export_markdown(const Graph& graph, const Analysis& analysis);

// The graph as torch's GraphModule.print_readable prints it, with strides and devices; of a pair a
// class for each half. Reading it back gives the same nodes and arguments.
std::string export_fx_text(const Graph& graph);
std::string export_fx_text(const Graph& graph, const Analysis& analysis);

}  // namespace jointer
