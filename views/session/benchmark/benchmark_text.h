#pragma once

#include <QString>
#include <optional>

#include "core/bench/result.h"

namespace jointer::views {

// Text about benchmarks, shared by tables and detail views.

// "2026-11-21 13:20", in the time zone of the run.
QString when_text(const BenchmarkResult& result);
// "2", or "rank 3 only".
QString ranks_text(const BenchmarkResult& result);
// "bitwise equal", "equal within 0.0001 (largest difference 3e-05)", "differs by 0.5 in mm_3"; empty
// if nothing was compared.
QString verified_text(const std::optional<RankVerified>& verified);
// "done", or why it failed.
QString status_text(const BenchmarkResult& result);
// "rank 0, interpret".
std::string measurement_label(const BenchmarkResult& result, const RankResult& rank);

// True if the run failed or its outputs are wrong.
bool is_bad(const BenchmarkResult& result);
// The difference between the measured and the predicted value, relative to the predicted one, in
// parts per million. nullopt if either value is unknown; a prediction of 0 counts as unknown.
std::optional<std::int64_t> change_of(std::optional<std::int64_t> measured, std::int64_t predicted);

}  // namespace jointer::views
