#pragma once

#include <QString>
#include <cstdint>
#include <optional>

#include "core/schedule/what_if.h"
#include "views/session/snapshot/snapshot.h"

namespace jointer::views {

// The metrics by which states of a graph are compared.
struct Metrics {
  std::int64_t peak_bytes = 0, reserved_bytes = 0;
  std::int64_t step_ns = 0, compute_ns = 0, communication_ns = 0, exposed_ns = 0;
  std::size_t hidden = 0, collectives = 0, nodes = 0;
  friend bool operator==(const Metrics&, const Metrics&) = default;
};

Metrics metrics_of(const Graph& graph, const Analysis& analysis);

// Returns true if both have the same execution and the same options of the estimator, the memory
// timeline and the simulation.
bool same_options(const AnalysisOptions& a, const AnalysisOptions& b);
// Returns true if the metrics of both can be compared: they have the same options and sizes.
bool same_estimates(const Snapshot& a, const Snapshot& b);

// The peak that a move to the best position may not exceed: that of the graph as opened. nullopt
// for a compiled step (see PlannedMoves::to_best_place).
std::optional<std::int64_t> move_limit(const Snapshot& now, const Snapshot& baseline);

inline Figures figures_of(const Metrics& metrics) {
  return {metrics.peak_bytes, metrics.step_ns, metrics.exposed_ns};
}

// "peak 31.2 GiB, reserved 33.0 GiB, step 412 ms". `reserved_bytes`: nullopt if not known.
QString plan_text(std::int64_t peak_bytes, std::optional<std::int64_t> reserved_bytes,
                  std::int64_t step_ns);
// "−2.30 GiB", "+1.20 ms"; "=" if nothing changed.
QString bytes_difference_text(std::int64_t from, std::int64_t to);
QString time_difference_text(std::int64_t from, std::int64_t to);
QString count_difference_text(std::int64_t from, std::int64_t to);
// "−5.3%"; empty if nothing changed or `from` is zero.
QString share_difference_text(std::int64_t from, std::int64_t to);
// "peak −2.30 GiB · exposed −12.0 ms · step −9.10 ms", or "no change".
QString figures_difference_text(const Figures& from, const Figures& to);

}  // namespace jointer::views
