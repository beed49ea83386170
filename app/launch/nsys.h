#pragma once

// Benchmarks whose ranks run under Nsight Systems (core/bench/nsys.h): where that is possible, and
// the reports.

#include "app/launch/machine.h"
#include "core/base/result.h"
#include "core/bench/request.h"
#include "core/bench/result.h"

namespace jointer {

// Checks that Nsight Systems can record the ranks, if the request names a folder for its reports.
// Error (usage): the ranks would run on the CPU.
Result<void> check_nsys(const BenchmarkRequest& request, const Machine& machine);

// Creates the folder for reports, and removes earlier reports of the same ranks, so that a report
// of one of these ranks is from this run. Error (run): the folder cannot be written.
Result<void> prepare_reports(const BenchmarkRequest& request);

// Adds notes that say where the reports of the ranks are, and which ranks are done but have none.
void note_reports(BenchmarkResult& result);

}  // namespace jointer
