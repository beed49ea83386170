// Searches pipelines for the shortest step time within a memory budget. The search may end after
// any number of evaluations.
//
// Terms
//   candidate  a pipeline in sections (candidate.h). Its step time and peak form its point.
//   better     of two candidates within the budget, the one with the shorter step time, then the
//              lower peak, then fewer pipeline steps, then the smaller text.
//   elite      the best candidates with distinct estimates, and those on the frontier.
//
// Steps
//   1. If no budget is given, the budget is the peak limit of the run or, without one, the peak of
//      the unedited graph. Passes run with the budget as their limit. A result above the budget can
//      be on the frontier, but cannot be the winner.
//   2. Candidates come in batches of eight: first the starting points (search_space.h), then
//      variations of the elite: one pipeline step added, removed or moved, a different parameter
//      value, different policies, buckets or partitioner, or a combination of sections from two
//      candidates; more changes at once if these have all been tried. No candidate is tried twice,
//      and the search ends if it finds no new one.
//   3. The threads evaluate a batch in parallel; the results are added in the order of the batch. A
//      new best candidate is taken apart immediately: it is evaluated without each of its pipeline
//      steps in turn, and the best result that is not worse replaces it, until every remaining
//      pipeline step gains something. These gains explain the winner.
//
// The seed and the results of earlier batches determine the candidates of a batch before it is
// evaluated. The result therefore depends on the seed and on the number of evaluated candidates,
// not on threads or time. If time runs out within a batch, its candidates count up to the first
// unfinished one. The first N candidates of a longer search, including those that are taken apart,
// are the candidates of a search with N evaluations, so more evaluations never give a worse winner.
//
// Cost: an evaluation runs the passes of the candidate that follow its longest kept prefix, and
// takes another 10 ms for estimates on Llama3-8B; tests/benchmarks/tune_benchmark.cpp measures
// candidates per second.
//
// Source: Jointer's own.

#include "passes/tune/tuner.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <set>
#include <thread>
#include <tuple>

#include "core/pass/pipeline_rules.h"
#include "passes/tune/evaluator.h"
#include "passes/tune/search_space.h"

namespace jointer {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kBatch = 8, kElite = 6;

// Decides whether passes must stop. Only the searching thread may call the caller's `is_cancelled`.
class Stop {
 public:
  Stop(const TuneOptions& options)
      : options_(options), searcher_(std::this_thread::get_id()), begin_(Clock::now()) {}

  [[nodiscard]] bool is_set() {
    if (std::this_thread::get_id() == searcher_) poll();
    return end_.load(std::memory_order_relaxed) != kGoesOn;
  }
  void poll() {
    if (end_ != kGoesOn) return;
    if (options_.context.is_cancelled && options_.context.is_cancelled()) end_ = kCancelled;
    if (options_.seconds && seconds() >= *options_.seconds) end_ = kTime;
  }
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(Clock::now() - begin_).count();
  }
  [[nodiscard]] TuneResult::End end() const {
    return end_ == kTime        ? TuneResult::End::time
           : end_ == kCancelled ? TuneResult::End::cancelled
                                : TuneResult::End::evaluations;
  }

 private:
  enum Ending : int { kGoesOn, kTime, kCancelled };
  const TuneOptions& options_;
  std::thread::id searcher_;
  Clock::time_point begin_;
  std::atomic<int> end_ = kGoesOn;
};

struct Entry {
  Candidate candidate;
  TunePoint point;
  std::string text;  // of the pipeline
};

auto key(const Entry& e) {
  return std::tuple(e.point.figures.figures.step_ns, e.point.figures.figures.peak_bytes,
                    e.point.pipeline.size(), std::string_view(e.text));
}

class Search {
 public:
  Search(const Graph& graph, const PassRegistry& registry, const TuneOptions& options,
         const TuneWatcher& watcher)
      : graph_(graph),
        registry_(registry),
        options_(options),
        watcher_(watcher),
        stop_(options),
        space_(graph, registry, {.twin_groups = options.twin_groups}),
        chance_(options.seed) {}

  Result<TuneResult> run() {
    JOINTER_TRY(result_.unedited.figures, step_figures(graph_, options_.context.analysis));
    result_.out_of_reach = space_.out_of_reach();
    result_.budget = options_.budget               ? options_.budget
                     : options_.context.peak_limit ? options_.context.peak_limit
                                                   : result_.unedited.figures.figures.peak_bytes;
    JOINTER_CHECK(make_evaluator());
    std::vector<NamedCandidate> starts = space_.starts();
    std::size_t next_start = 0;
    while (result_.evaluated < options_.evaluations && !stop_.is_set()) {
      const std::size_t size = std::min(kBatch, options_.evaluations - result_.evaluated);
      std::vector<NamedCandidate> batch;
      while (batch.size() < size && next_start < starts.size()) {
        seen_.insert(to_text(starts[next_start].candidate.pipeline()));
        batch.push_back(std::move(starts[next_start++]));
      }
      while (batch.size() < size && next_start == starts.size()) {
        auto candidate = unseen();
        if (!candidate) break;
        batch.push_back({{}, std::move(*candidate)});
      }
      if (batch.empty()) break;  // no candidate left that has not been tried
      run_batch(batch);
    }
    result_.end = stop_.end();
    if (result_.evaluated == 0 && result_.end == TuneResult::End::cancelled)
      return fail(Error::Kind::cancelled, "cancelled before any candidate was evaluated");
    return std::move(result_);
  }

 private:
  Result<void> make_evaluator() {
    Evaluator::Options options;
    options.context = options_.context;
    options.context.peak_limit = result_.budget;
    options.context.is_cancelled = [this] { return stop_.is_set(); };
    // A graph occupies about 1 KB per node.
    constexpr std::size_t kNodes = std::size_t{1} << 20, kMin = 8, kMax = 96;
    options.kept_graphs =
        options_.kept_graphs.value_or(std::clamp(kNodes / (graph_.node_count() + 1), kMin, kMax));
    JOINTER_TRY(evaluator_, Evaluator::make(graph_, registry_, std::move(options)));
    return {};
  }

  // --- Candidates ---

  [[nodiscard]] const Candidate& parent() {
    const std::size_t which = chance_.below(10);
    if (!elite_.empty() && (which < 8 || frontier_.empty())) {
      const std::size_t among = which < 5 ? std::min<std::size_t>(3, elite_.size()) : elite_.size();
      return elite_[chance_.below(among)].candidate;
    }
    if (!frontier_.empty()) return frontier_[chance_.below(frontier_.size())].candidate;
    return nothing_;
  }

  std::optional<Candidate> unseen() {
    constexpr std::size_t kTries = 200, kTriesAChange = 10;
    for (std::size_t i = 0; i < kTries; ++i) {
      Candidate candidate = parent();
      if (chance_.once_in(6)) candidate = SearchSpace::mixed(candidate, parent(), chance_);
      for (std::size_t changes = 1 + i / kTriesAChange; changes > 0; --changes)
        candidate = space_.changed(std::move(candidate), chance_);
      if (space_.needs_partition() && candidate.sections[Candidate::partitioner].empty()) continue;
      if (!check_order(candidate.pipeline())) continue;
      if (seen_.insert(to_text(candidate.pipeline())).second) return candidate;
    }
    return std::nullopt;
  }

  // --- Evaluating ---

  // The evaluations that finished before the search ended, up to the first unfinished one.
  std::vector<Evaluation> evaluate(const std::vector<Pipeline>& pipelines) {
    std::vector<std::optional<Evaluation>> done(pipelines.size());
    std::atomic<std::size_t> next = 0, ended = 0;
    std::mutex mutex;
    std::condition_variable changed;
    const auto work = [&] {
      for (std::size_t i = next++; i < pipelines.size() && !stop_.is_set(); i = next++)
        if (auto evaluation = evaluator_->evaluate(pipelines[i])) done[i] = *std::move(evaluation);
    };
    {
      std::vector<std::jthread> others;
      const std::size_t count = std::min(options_.threads, pipelines.size());
      for (std::size_t i = 1; i < count; ++i)
        others.emplace_back([&] {
          work();
          const std::lock_guard lock(mutex);
          ++ended;
          changed.notify_one();
        });
      work();
      // The search may be cancelled while other threads finish their last candidates.
      std::unique_lock lock(mutex);
      while (ended < others.size()) {
        changed.wait_for(lock, std::chrono::milliseconds(20));
        stop_.poll();
      }
    }
    std::vector<Evaluation> first;
    for (auto& each : done) {
      if (!each) break;
      first.push_back(std::move(*each));
    }
    return first;
  }

  void run_batch(const std::vector<NamedCandidate>& batch) {
    std::vector<Pipeline> pipelines;
    for (const NamedCandidate& each : batch) pipelines.push_back(each.candidate.pipeline());
    const std::vector<Evaluation> done = evaluate(pipelines);
    for (std::size_t i = 0; i < done.size(); ++i) {
      ++result_.evaluated;
      const auto entry = fold(batch[i].name, batch[i].candidate, done[i]);
      if (entry && is_best(*entry)) take_apart(*entry);
      report(pipelines[i], done[i]);
    }
  }

  void report(const Pipeline& pipeline, const Evaluation& evaluation) {
    if (watcher_) {
      const TunePoint point{.name = {},
                            .pipeline = pipeline,
                            .figures = evaluation.figures,
                            .evaluation = result_.evaluated};
      if (!evaluation.failure) watcher_({point, result_});
    }
    if (!options_.context.report) return;
    double done =
        static_cast<double>(result_.evaluated) / static_cast<double>(options_.evaluations);
    if (options_.seconds) done = std::max(done, stop_.seconds() / *options_.seconds);
    options_.context.report(std::min(done, 1.0));
  }

  // --- Results ---

  [[nodiscard]] bool fits(const StepFigures& figures) const {
    return figures.figures.peak_bytes <= *result_.budget;
  }

  std::optional<Entry> fold(const std::string& name, const Candidate& candidate,
                            const Evaluation& evaluation) {
    if (evaluation.failure) {
      const TuneFailure& failure = *evaluation.failure;
      TuneResult::Failures& failures = result_.failures[fmt::format(
          "{}: {}", failure.step.substr(0, failure.step.find('{')), failure.reason)];
      if (failures.count++ == 0) failures.first = candidate.pipeline();
      return std::nullopt;
    }
    Entry entry{.candidate = candidate,
                .point = {.name = name,
                          .pipeline = candidate.pipeline(),
                          .figures = evaluation.figures,
                          .evaluation = result_.evaluated}};
    entry.text = to_text(entry.point.pipeline);
    if (!name.empty()) result_.presets.push_back(entry.point);
    add_to_frontier(entry);
    if (!fits(evaluation.figures)) {
      ++result_.over_budget;
      if (!result_.winner && (!result_.lowest || peak_key(entry.point) < peak_key(*result_.lowest)))
        result_.lowest = entry.point;
      return std::nullopt;
    }
    add_to_elite(entry);
    return entry;
  }

  static std::pair<std::int64_t, std::int64_t> peak_key(const TunePoint& point) {
    return {point.figures.figures.peak_bytes, point.figures.figures.step_ns};
  }

  void add_to_frontier(const Entry& entry) {
    const Figures& f = entry.point.figures.figures;
    for (const Entry& other : frontier_) {
      const Figures& o = other.point.figures.figures;
      if (o.step_ns <= f.step_ns && o.peak_bytes <= f.peak_bytes &&
          !(o.step_ns == f.step_ns && o.peak_bytes == f.peak_bytes && key(entry) < key(other)))
        return;
    }
    std::erase_if(frontier_, [&](const Entry& other) {
      const Figures& o = other.point.figures.figures;
      return f.step_ns <= o.step_ns && f.peak_bytes <= o.peak_bytes;
    });
    const auto place = std::ranges::find_if(frontier_, [&](const Entry& other) {
      return other.point.figures.figures.peak_bytes > f.peak_bytes;
    });
    frontier_.insert(place, entry);
    result_.frontier.clear();
    for (const Entry& each : frontier_) result_.frontier.push_back(each.point);
  }

  // Keeps one entry for equal figures, because candidates with equal figures usually have the same
  // graph.
  void add_to_elite(const Entry& entry) {
    for (Entry& other : elite_)
      if (other.point.figures == entry.point.figures) {
        if (key(entry) < key(other)) other = entry;
        return;
      }
    const auto place =
        std::ranges::find_if(elite_, [&](const Entry& other) { return key(entry) < key(other); });
    elite_.insert(place, entry);
    if (elite_.size() > kElite) elite_.pop_back();
  }

  [[nodiscard]] bool is_best(const Entry& entry) const {
    return !best_ || key(entry) < key(*best_);
  }

  void set_best(const Entry& entry) {
    best_ = entry;
    result_.winner = entry.point;
    result_.lowest.reset();
    result_.steps.clear();
    for (const PipelineStep& step : entry.point.pipeline)
      result_.steps.push_back({.step = step, .ns_more = {}, .bytes_more = {}});
  }

  // Removes pipeline steps that gain nothing, one after another.
  void take_apart(const Entry& entry) {
    set_best(entry);
    for (bool is_shorter = true; is_shorter && !stop_.is_set();) {
      is_shorter = false;
      std::vector<std::size_t> left_out;
      std::vector<Candidate> candidates;
      std::vector<Pipeline> pipelines;
      const Entry whole = *best_;
      for (std::size_t i = 0; i < whole.candidate.size(); ++i) {
        Candidate without = without_step(whole.candidate, i);
        if (space_.needs_partition() && without.sections[Candidate::partitioner].empty()) continue;
        left_out.push_back(i);
        pipelines.push_back(without.pipeline());
        candidates.push_back(std::move(without));
      }
      const std::vector<Evaluation> done = evaluate(pipelines);
      for (std::size_t k = 0; k < done.size(); ++k) {
        ++result_.taken_apart;
        seen_.insert(to_text(pipelines[k]));
        if (done[k].failure) continue;
        const Figures &then = done[k].figures.figures, &now = whole.point.figures.figures;
        if (!is_shorter) {
          result_.steps[left_out[k]].ns_more = then.step_ns - now.step_ns;
          result_.steps[left_out[k]].bytes_more = then.peak_bytes - now.peak_bytes;
        }
        const auto part = fold({}, candidates[k], done[k]);
        if (!part || !is_best(*part)) continue;
        set_best(*part);
        is_shorter = true;
      }
    }
  }

  const Graph& graph_;
  const PassRegistry& registry_;
  const TuneOptions& options_;
  const TuneWatcher& watcher_;
  Stop stop_;
  SearchSpace space_;
  Chance chance_;
  std::unique_ptr<Evaluator> evaluator_;
  std::set<std::string> seen_;   // pipelines that have been tried, as text
  std::vector<Entry> elite_;     // best first
  std::vector<Entry> frontier_;  // by ascending peak
  std::optional<Entry> best_;
  const Candidate nothing_;
  TuneResult result_;
};

}  // namespace

Result<TuneResult> tune(const Graph& graph, const PassRegistry& registry,
                        const TuneOptions& options, const TuneWatcher& watcher) {
  return Search(graph, registry, options, watcher).run();
}

}  // namespace jointer
