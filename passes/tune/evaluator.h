#pragma once

// Estimates the results of pipelines on one graph. Pipelines with a common prefix share the work
// for that prefix, because the most recently used intermediate graphs are kept, up to a limit.

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "core/pass/pipeline_run.h"

namespace jointer {

// The pipeline step that failed, and the reason.
struct TuneFailure {
  std::string step;  // in the syntax of a pipeline's text
  std::string reason;
};

struct Evaluation {
  StepFigures figures;  // valid if the pipeline did not fail
  std::optional<TuneFailure> failure;
};

class Evaluator {
 public:
  struct Options {
    // Passed to the passes. `report` is not called; `is_cancelled` must be thread-safe.
    PassContext::Options context;
    std::size_t kept_graphs = 64;  // maximum number of intermediate graphs; 0: none
  };
  // `graph` and `registry` must outlive the evaluator. Errors: same as make_estimator.
  static Result<std::unique_ptr<Evaluator>> make(const Graph& graph, const PassRegistry& registry,
                                                 Options options);

  // Thread-safe. The same pipeline always gives the same result. Error (cancelled): the context's
  // is_cancelled returned true.
  Result<Evaluation> evaluate(const Pipeline& pipeline);
  // The graph after the pipeline. Error (run): a pass failed. Error (cancelled): same as
  // evaluate().
  Result<std::shared_ptr<const Graph>> graph_of(const Pipeline& pipeline);

 private:
  struct PrefixResult {                  // the result of a pipeline
    std::shared_ptr<const Graph> graph;  // null if it failed
    TuneFailure failure;
  };
  struct Kept {
    std::optional<PrefixResult> result;  // nullopt while a thread computes it
    std::uint64_t used = 0;              // time of last use, by `clock_`
  };

  Evaluator(const Graph& graph, const PassRegistry& registry, Options options);
  Result<PrefixResult> prefix_result(const Pipeline& pipeline, std::size_t steps);
  Result<PrefixResult> run_step(const Graph& before, const PipelineStep& step);
  [[nodiscard]] StepFigures figures_of(const Graph& graph) const;
  void forget_oldest();
  [[nodiscard]] bool is_cancelled() const {
    return options_.context.is_cancelled && options_.context.is_cancelled();
  }

  const PassRegistry& registry_;
  Options options_;
  std::shared_ptr<const Graph> graph_;  // not owned
  std::unique_ptr<Estimator> estimator_;
  std::mutex mutex_;
  std::condition_variable made_;
  std::map<std::string, Kept, std::less<>> kept_;  // by the pipeline's text
  std::map<std::string, Evaluation, std::less<>> evaluated_;
  std::uint64_t clock_ = 0;
};

}  // namespace jointer
