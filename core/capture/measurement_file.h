#pragma once

// Measurements that other tools wrote: a trace of torch.profiler, or a CUDA memory snapshot.

#include <string>

#include "core/base/result.h"
#include "core/bench/measurement.h"
#include "core/graph/graph.h"

namespace jointer {

// Whether the file is one of them, from its first bytes and its name; a file that cannot be read is
// none. Quick: a trace may have gigabytes.
bool is_measurement_file(const std::string& path);

// What it measured of the graph, labelled with the file's name. Error (input): unreadable, neither
// of the two, or nothing in it fits the graph.
Result<Measurement> read_measurement(const Graph& graph, const std::string& path);

}  // namespace jointer
