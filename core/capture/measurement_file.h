#pragma once

// Reads measurements written by other tools: a trace of torch.profiler, or a CUDA memory snapshot.

#include <string>

#include "core/base/result.h"
#include "core/bench/measurement.h"
#include "core/graph/graph.h"

namespace jointer {

// True if the file is one of these, judging only by its name and first bytes, since a trace may be
// gigabytes long. False if it cannot be read.
bool is_measurement_file(const std::string& path);

// The measurement of the graph, labeled with the file's name. Error (input): the file cannot be
// read, is neither of the two, or has nothing that matches the graph.
Result<Measurement> read_measurement(const Graph& graph, const std::string& path);

}  // namespace jointer
