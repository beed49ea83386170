#pragma once

// Searches for the best pipelines for one graph: the shortest step time for each peak, and the
// shortest within a limit on the peak. tuner.cpp describes the search.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/pass/pipeline_run.h"

namespace jointer {

struct TuneOptions {
  // The options of the analysis, and callbacks. Only the thread that calls tune() calls `report`
  // and `is_cancelled`.
  PassContext::Options context;
  // Maximum number of candidates; evaluations for the gain of pipeline steps are additional.
  std::size_t evaluations = 200;
  std::optional<double> seconds;  // time limit; nullopt: no limit
  std::uint64_t seed = 0;
  std::size_t threads = 1;  // at least 1, including the calling thread
  // Maximum peak in bytes; nullopt: `context.peak_limit` or, without one, the graph's own peak.
  std::optional<std::int64_t> budget;
  bool twin_groups = true;                 // allows reassign_to_pg
  std::optional<std::size_t> kept_graphs;  // see Evaluator; nullopt: depends on the graph's size
};

// A pipeline and its estimates.
struct TunePoint {
  std::string name;  // the name of a preset, or empty
  Pipeline pipeline;
  StepFigures figures;
  // Number of the candidate, from 1; the winner may be that candidate without some of its pipeline
  // steps. 0: the unedited graph.
  std::size_t evaluation = 0;
};

// A pipeline step of the winner, and its gain.
struct TuneStep {
  PipelineStep step;
  // The increase in step time and in peak if only this pipeline step is left out. nullopt if the
  // pipeline without it failed, would lack its partitioner, or was not evaluated in time.
  std::optional<std::int64_t> ns_more, bytes_more;
};

struct TuneResult {
  // evaluations: the maximum was reached, or nothing was left to try.
  enum class End : std::uint8_t { evaluations, time, cancelled };

  TunePoint unedited;
  std::optional<std::int64_t> budget;
  // The evaluated points that are Pareto-optimal in step time and peak, by ascending peak. The
  // unedited graph counts as a point if it can run as it is.
  std::vector<TunePoint> frontier;
  std::vector<TunePoint> presets;  // evaluated without failure, in the order of pipeline_presets()
  // The evaluated point with the shortest step time within the budget; nullopt if none is within
  // the budget.
  std::optional<TunePoint> winner;
  std::vector<TuneStep> steps;      // the pipeline steps of the winner
  std::optional<TunePoint> lowest;  // the point with the lowest peak, if there is no winner

  std::size_t evaluated = 0;    // candidates, including failed ones
  std::size_t taken_apart = 0;  // additional evaluations, for the gain of each pipeline step
  std::size_t over_budget = 0;  // evaluations with a peak above the budget
  struct Failures {
    std::size_t count = 0;
    Pipeline first;  // the first candidate that failed for this reason
  };
  std::map<std::string, Failures> failures;  // by reason
  End end = End::evaluations;
  std::string out_of_reach;  // a sentence about what was not searched on this graph
};

// Passed to the watcher after each candidate that did not fail, on the thread that calls tune().
struct TuneProgress {
  const TunePoint& point;  // the latest candidate, without its name
  const TuneResult& so_far;
};
using TuneWatcher = std::function<void(const TuneProgress&)>;

// For the same graph, options and number of evaluations, returns the same result with any number of
// threads; more evaluations never give a worse winner. If time runs out or the search is cancelled,
// returns the results so far. Errors: same as make_estimator. Error (cancelled): the search was
// cancelled before anything was evaluated.
Result<TuneResult> tune(const Graph& graph, const PassRegistry& registry,
                        const TuneOptions& options, const TuneWatcher& watcher = {});

}  // namespace jointer
