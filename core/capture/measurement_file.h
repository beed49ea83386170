#pragma once

// Reads measurements written by other tools: torch.profiler traces and CUDA memory snapshots.

#include <string>

#include "core/base/result.h"
#include "core/bench/measurement.h"
#include "core/graph/graph.h"

namespace jointer {

// True if the file looks like a trace or a snapshot, judging only by its first 64 KiB, since a
// trace can be gigabytes long. Any pickle counts as a snapshot. False if the file cannot be read.
bool is_measurement_file(const std::string& path);

// Reads a measurement of the graph and labels it with the file name. Error (input): the file cannot
// be read, is damaged, is neither a trace nor a snapshot, is a snapshot that lacks a trace of
// allocations with times, or is a trace in which nothing matches the graph.
Result<Measurement> read_measurement(const Graph& graph, const std::string& path);

}  // namespace jointer
