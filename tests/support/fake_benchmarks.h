#pragma once

#include <QElapsedTimer>
#include <algorithm>

#include "views/session/benchmark/benchmark_service.h"

namespace jointer::test {

// A benchmark service controlled by a test, which decides what ranks report and how runs end.
class FakeBenchmarks : public views::BenchmarkService {
 public:
  [[nodiscard]] QStringList devices() const override { return {QStringLiteral("A CPU, 2 cores")}; }
  [[nodiscard]] QString why_not(Backend backend) const override {
    return backend == Backend::cudagraph ? QStringLiteral("There is no CUDA device here.")
                                         : QString();
  }
  [[nodiscard]] QString why_not(RunOn on) const override {
    return on == RunOn::cuda ? QStringLiteral("There is no CUDA device here.") : QString();
  }
  [[nodiscard]] int world_size(const Graph& /*graph*/) const override { return 2; }
  [[nodiscard]] std::optional<QString> running() const override { return title_; }

  quint64 start(const views::BenchmarkJob& job) override {
    job_ = job;
    title_ = job.title;
    emit running_changed();
    return ++run_;
  }
  void cancel(quint64 run) override { cancelled_ = run; }

  // --- For tests ---
  [[nodiscard]] const views::BenchmarkJob& job() const { return job_; }
  [[nodiscard]] quint64 run() const { return run_; }
  // The run for which a cancellation was requested, 0 for none.
  [[nodiscard]] quint64 cancelled() const { return cancelled_; }

  // A result of the job with `ranks` ranks that have just started.
  [[nodiscard]] BenchmarkResult begun(int ranks) const {
    BenchmarkResult result;
    result.request = job_.request;
    result.started_at = fmt::format("2026-01-02T03:04:{:02}+01:00", run_ % 60);
    result.predicted = prediction_of(job_.snapshot->analysis);
    for (int rank = 0; rank < ranks; ++rank) {
      RankResult& each = result.ranks.emplace_back();
      each.rank = rank;
      each.apply(RankStarted{rank, ranks, 100 + rank, "A CPU, 2 threads", "cpu", ""});
      each.apply(RankProgress{"load", 0, 1});
    }
    return result;
  }

  // A result in which every rank measured a step of 5 ms, 0.2 ms per node, and 4,096 bytes more
  // than predicted.
  [[nodiscard]] BenchmarkResult measured(int ranks) const {
    BenchmarkResult result = begun(ranks);
    const Graph& graph = job_.snapshot->graph;
    const MemoryTimeline& memory = job_.snapshot->analysis.memory;
    const auto position = [&](NodeId node) {
      return static_cast<std::uint32_t>(graph.position(node));
    };
    for (RankResult& rank : result.ranks) {
      RankMeasured m;
      m.step_ns = {4'000'000, 5'000'000 + rank.rank, 6'000'000};
      m.resident_peak_bytes = memory.peak_bytes();
      m.peak_bytes = memory.peak_bytes() + 4096;
      m.requested_peak_bytes = m.peak_bytes;
      m.memory_profile.assign(memory.profile().begin(), memory.profile().end());
      for (const NodeId node : memory.steps()) {
        const auto at = static_cast<std::int64_t>(m.nodes.size()) * 200'000;
        m.nodes.push_back({position(node), at, at + 200'000, 200'000});
      }
      m.scratch = {{position(memory.steps().front()), 4096}};
      rank.apply(m);
      rank.apply(RankVerified{"baseline", true, true, 0, 0, 0, "", 0, 3});
      rank.apply(RankNote{"attention ran as its CPU form"});
      rank.status = RankResult::Status::done;
    }
    result.conclude(graph, job_.snapshot->analysis);
    return result;
  }

  // A result in which one compiled block of 4 ms ran in place of all calls.
  [[nodiscard]] BenchmarkResult compiled(int ranks) const {
    BenchmarkResult result = measured(ranks);
    for (RankResult& rank : result.ranks) {
      RankMeasured& m = *rank.measured;
      CompiledBlock block{.name = "joint",
                          .positions = {},
                          .peak_bytes = m.resident_peak_bytes,
                          .start_ns = 500'000,
                          .end_ns = 4'500'000,
                          .own_ns = 4'000'000};
      for (const NodeTime& node : m.nodes) block.positions.push_back(node.position);
      m.nodes.clear();
      m.scratch.clear();
      m.peak_bytes = m.resident_peak_bytes;
      std::fill(m.memory_profile.begin() + 1, m.memory_profile.end(), block.peak_bytes);
      m.blocks = {std::move(block)};
    }
    result.conclude(job_.snapshot->graph, job_.snapshot->analysis);
    return result;
  }

  void progress(const BenchmarkResult& so_far) { emit progressed(run_, so_far); }
  void finish(const BenchmarkResult& result, bool was_cancelled = false) {
    title_.reset();
    emit finished(run_, result, was_cancelled);
    emit running_changed();
  }
  void find_too_large(const QString& why) {
    title_.reset();
    emit too_large(run_, why);
    emit running_changed();
  }
  void refuse(const QString& why) {
    title_.reset();
    emit failed(run_, why);
    emit running_changed();
  }

 private:
  views::BenchmarkJob job_;
  std::optional<QString> title_;
  quint64 run_ = 0, cancelled_ = 0;
};

}  // namespace jointer::test
