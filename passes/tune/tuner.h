#pragma once

// Searches pipelines for one graph: step time against peak memory, under a limit on the peak. How
// is described at the top of tuner.cpp.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/pass/pipeline_run.h"

namespace jointer {

struct TuneOptions {
  // The estimator and the rules; `peak_limit` is the budget where no other is given. `report` and
  // `is_cancelled` are called from the thread that searches alone.
  PassContext::Options context;
  std::size_t evaluations = 200;  // candidates at most
  std::optional<double> seconds;  // and no longer than that
  std::uint64_t seed = 0;
  std::size_t threads = 1;                 // from 1; whoever searches is one of them
  std::optional<std::int64_t> budget;      // bytes of peak; none: the graph's own peak
  bool twin_groups = true;                 // whether reassign_to_pg may be used
  std::optional<std::size_t> kept_graphs;  // see Evaluator; none: as many as fit into memory
};

// A pipeline with what it comes to.
struct TunePoint {
  std::string name;  // a preset's; empty of others
  Pipeline pipeline;
  StepFigures figures;
  std::size_t evaluation = 0;  // the how many-th; 0: the graph as it is
};

// A step of the winner, and what it is good for.
struct TuneStep {
  PipelineStep step;
  // Without it, and with all others: by how much the step takes longer, and the peak is higher.
  // None where that fails, or was not looked at in the time there was.
  std::optional<std::int64_t> ns_more, bytes_more;
};

struct TuneResult {
  enum class End : std::uint8_t { evaluations, time, cancelled };

  TunePoint unedited;
  std::optional<std::int64_t> budget;
  // Every point that no other is better than in both, by growing peak; the unedited graph is among
  // what they are chosen from, where it could run as it is.
  std::vector<TunePoint> frontier;
  std::vector<TunePoint> presets;  // those that the graph takes, in their order
  // The shortest step within the budget; none if nothing is within it.
  std::optional<TunePoint> winner;
  std::vector<TuneStep> steps;      // of the winner
  std::optional<TunePoint> lowest;  // the lowest peak, where there is no winner

  std::size_t evaluated = 0;    // candidates, failed ones too
  std::size_t taken_apart = 0;  // evaluations on top, to see what each step of the best gains
  std::size_t over_budget = 0;
  struct Failures {
    std::size_t count = 0;
    Pipeline first;  // of those candidates
  };
  std::map<std::string, Failures> failures;  // by why candidates came to nothing
  End end = End::evaluations;
  std::string out_of_reach;  // what was not searched on this graph, in a sentence
};

// Told what there is so far, on the thread that searches.
struct TuneProgress {
  const TunePoint& point;  // what was just evaluated
  const TuneResult& so_far;
};
using TuneWatcher = std::function<void(const TuneProgress&)>;

// The same graph, options and number of evaluations give the same result, whatever the number of
// threads; more evaluations never give a worse winner. A time that runs out, or who cancels, ends
// the search with what there is. Error (usage): the estimator does not exist; (cancelled): before
// anything was evaluated.
Result<TuneResult> tune(const Graph& graph, const PassRegistry& registry,
                        const TuneOptions& options, const TuneWatcher& watcher = {});

}  // namespace jointer
