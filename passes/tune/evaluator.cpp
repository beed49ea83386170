// Evaluates pipelines on one graph.
//
// Steps of one evaluation
//   1. Look up the longest prefix of the pipeline for which the graph is kept. Run the remaining
//      pipeline steps, each on a copy of the graph, and keep their graphs as well. If a prefix
//      failed, every pipeline that begins with it fails.
//   2. Estimate the costs of the final graph, simulate it and compute its peak, as a pipeline run
//      does after each pipeline step.
// If another thread is computing the same prefix, this thread waits for it. A thread waits only for
// prefixes shorter than those it is computing, so no two threads wait for each other.
//
// The kept graphs affect only the duration of an evaluation, never its result, since passes are
// deterministic.
// Cost: running the pipeline steps whose graphs are not kept, plus estimates, which take 10 ms on
// Llama3-8B.

#include "passes/tune/evaluator.h"

#include <algorithm>
#include <chrono>

namespace jointer {

Result<std::unique_ptr<Evaluator>> Evaluator::make(const Graph& graph, const PassRegistry& registry,
                                                   Options options) {
  std::unique_ptr<Evaluator> made(new Evaluator(graph, registry, std::move(options)));
  JOINTER_TRY(made->estimator_, estimator_for(graph, made->options_.context.analysis));
  return made;
}

Evaluator::Evaluator(const Graph& graph, const PassRegistry& registry, Options options)
    : registry_(registry),
      options_(std::move(options)),
      graph_(std::shared_ptr<const Graph>(), &graph) {
  options_.context.report = {};
}

Result<Evaluation> Evaluator::evaluate(const Pipeline& pipeline) {
  const std::string text = to_text(pipeline);
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = evaluated_.find(text); known != evaluated_.end()) return known->second;
  }
  JOINTER_TRY(const PrefixResult last, prefix_result(pipeline, pipeline.size()));
  Evaluation evaluation;
  if (last.graph) {
    evaluation.figures = figures_of(*last.graph);
  } else {
    evaluation.failure = last.failure;
  }
  const std::lock_guard lock(mutex_);
  evaluated_.emplace(text, evaluation);
  return evaluation;
}

Result<std::shared_ptr<const Graph>> Evaluator::graph_of(const Pipeline& pipeline) {
  JOINTER_TRY(const PrefixResult last, prefix_result(pipeline, pipeline.size()));
  if (!last.graph) return fail(Error::Kind::run, "{}: {}", last.failure.step, last.failure.reason);
  return last.graph;
}

Result<Evaluator::PrefixResult> Evaluator::prefix_result(const Pipeline& pipeline,
                                                         std::size_t steps) {
  if (steps == 0) return PrefixResult{graph_, {}};
  const std::string text =
      to_text(Pipeline(pipeline.begin(), pipeline.begin() + static_cast<std::ptrdiff_t>(steps)));
  const auto make = [&]() -> Result<PrefixResult> {
    JOINTER_TRY(const PrefixResult before, prefix_result(pipeline, steps - 1));
    if (!before.graph) return before;
    return run_step(*before.graph, pipeline[steps - 1]);
  };
  if (options_.kept_graphs == 0) return make();
  {
    std::unique_lock lock(mutex_);
    for (;;) {
      const auto [found, is_new] = kept_.try_emplace(text);
      found->second.used = ++clock_;
      if (is_new) break;  // this thread computes it
      if (found->second.result) return *found->second.result;
      made_.wait_for(lock, std::chrono::milliseconds(20));
      if (is_cancelled()) return fail(Error::Kind::cancelled, "cancelled");
    }
  }
  const auto keep = [&](const PrefixResult* made) {
    {
      const std::lock_guard lock(mutex_);
      if (made != nullptr)
        kept_.find(text)->second.result = *made;
      else
        kept_.erase(text);  // waiting threads retry the prefix
      forget_oldest();
    }
    made_.notify_all();
  };
  try {
    auto made = make();
    keep(made ? &*made : nullptr);
    return made;
  } catch (...) {
    keep(nullptr);  // otherwise other threads would wait for the prefix forever
    throw;
  }
}

Result<Evaluator::PrefixResult> Evaluator::run_step(const Graph& before, const PipelineStep& step) {
  const auto failed = [&](const Error& error) -> Result<PrefixResult> {
    if (error.kind == Error::Kind::cancelled) return tl::unexpected(error);
    return PrefixResult{nullptr, {to_text(step), error.message}};
  };
  if (const auto fits = registry_.check({step}); !fits) return failed(fits.error());
  const Pass& pass = *registry_.find(step.pass);
  const auto arguments = Arguments::check(pass.info.parameters, step.given);
  if (is_cancelled()) return fail(Error::Kind::cancelled, "cancelled");
  auto graph = std::make_shared<Graph>(before);
  PassContext context(options_.context);
  if (const auto done = run_guarded(pass, *graph, *arguments, context); !done)
    return failed(done.error());
  return PrefixResult{std::move(graph), {}};
}

StepFigures Evaluator::figures_of(const Graph& graph) const {
  return step_figures(graph, *estimator_, options_.context.analysis);
}

// Searches linearly, since only a few graphs are kept.
void Evaluator::forget_oldest() {
  const auto graphs = [&] {
    return static_cast<std::size_t>(std::ranges::count_if(
        kept_, [](const auto& each) { return each.second.result && each.second.result->graph; }));
  };
  for (std::size_t count = graphs(); count > options_.kept_graphs; --count) {
    auto oldest = kept_.end();
    for (auto each = kept_.begin(); each != kept_.end(); ++each)
      if (each->second.result && each->second.result->graph &&
          (oldest == kept_.end() || each->second.used < oldest->second.used))
        oldest = each;
    kept_.erase(oldest);
  }
}

}  // namespace jointer
