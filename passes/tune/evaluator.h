#pragma once

// What pipelines come to on one graph. Pipelines that begin alike share what they begin with: the
// graph behind each step is kept, the ones that were asked for last, as far as memory goes.

#include <atomic>
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

// Why a pipeline came to nothing.
struct TuneFailure {
  std::string step;  // as the pipeline writes it
  std::string reason;
};

struct Evaluation {
  StepFigures figures;  // where it did not fail
  std::optional<TuneFailure> failure;
};

class Evaluator {
 public:
  struct Options {
    PassContext::Options context;  // what passes are run with; `report` is not called
    std::size_t kept_graphs = 64;  // behind steps; 0: none
    bool keeps_figures = true;     // of every pipeline that was evaluated
  };
  // All must outlive it. Error (usage): the estimator does not exist.
  static Result<std::unique_ptr<Evaluator>> make(const Graph& graph, const PassRegistry& registry,
                                                 Options options);

  // May be called from several threads at once: the same pipeline gives the same, whoever else
  // asks. Error (cancelled): the context's is_cancelled says so, or whoever another thread waits
  // for was.
  Result<Evaluation> evaluate(const Pipeline& pipeline);
  // The graph behind the pipeline, or why there is none.
  Result<std::shared_ptr<const Graph>> graph_of(const Pipeline& pipeline);
  [[nodiscard]] std::size_t passes_run() const { return passes_run_; }

 private:
  struct Behind {                        // a pipeline
    std::shared_ptr<const Graph> graph;  // null where it failed
    TuneFailure failure;
  };
  struct Kept {
    std::optional<Behind> behind;  // none while a thread makes it
    std::uint64_t used = 0;        // when it was last asked for
  };

  Evaluator(const Graph& graph, const PassRegistry& registry, Options options);
  Result<Behind> behind(const Pipeline& pipeline, std::size_t steps);
  Result<Behind> run_step(const Graph& before, const PipelineStep& step);
  [[nodiscard]] StepFigures figures_of(const Graph& graph) const;
  void forget_oldest();
  [[nodiscard]] bool is_cancelled() const {
    return options_.context.is_cancelled && options_.context.is_cancelled();
  }

  const PassRegistry& registry_;
  Options options_;
  std::shared_ptr<const Graph> graph_;  // without owning it
  std::unique_ptr<Estimator> estimator_;
  std::mutex mutex_;
  std::condition_variable made_;
  std::map<std::string, Kept, std::less<>> kept_;  // by pipeline
  std::map<std::string, Evaluation, std::less<>> evaluated_;
  std::uint64_t clock_ = 0;
  std::atomic<std::size_t> passes_run_ = 0;
};

}  // namespace jointer
