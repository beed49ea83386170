#pragma once

#include <QString>
#include <optional>

#include "core/bench/result.h"

namespace jointer::views {

// Text about benchmarks, shared by tables and detail views.

// When the run started, in the time zone of the machine that ran it: "2026-11-21 13:20".
QString when_text(const BenchmarkResult& result);
// The number of ranks, or the only rank that ran: "2", "rank 3 only".
QString ranks_text(const BenchmarkResult& result);
// "bitwise equal", "equal within 0.0001 (largest difference 3e-05)", "differs by 0.5 in mm_3";
// empty if nothing was compared.
QString verified_text(const std::optional<RankVerified>& verified);
// "done", or why the run failed.
QString status_text(const BenchmarkResult& result);

// True unless all ranks finished and their outputs, if they were compared, are equal within the
// bound.
bool is_failure(const BenchmarkResult& result);
// The difference between the measurement and the estimate, relative to the estimate, in parts per
// million. nullopt if either is unknown; an estimate of 0 counts as unknown.
std::optional<std::int64_t> change_of(std::optional<std::int64_t> measured, std::int64_t estimated);

}  // namespace jointer::views
