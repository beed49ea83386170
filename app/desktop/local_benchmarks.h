#pragma once

#include <QThreadPool>
#include <variant>

#include "app/launch/machine.h"
#include "app/launch/memory_need.h"
#include "views/session/benchmark/benchmark_service.h"
#include "views/session/work/task.h"

namespace jointer::desktop {

// Runs benchmarks on this machine in a separate thread, with one process per rank. The destructor
// stops all ranks of the current run.
class LocalBenchmarks : public views::BenchmarkService {
  Q_OBJECT
 public:
  explicit LocalBenchmarks(QObject* parent = nullptr);

  [[nodiscard]] QStringList devices() const override { return devices_; }
  [[nodiscard]] QString why_not(Backend backend) const override;
  [[nodiscard]] QString why_not(RunOn on) const override;
  [[nodiscard]] int world_size(const Graph& graph) const override;
  [[nodiscard]] std::optional<QString> running() const override;
  quint64 start(const views::BenchmarkJob& job) override;
  void cancel(quint64 run) override;

 private:
  struct Run {
    quint64 number = 0;
    QString title;
    BenchmarkResult so_far;
    bool is_cancelled = false;
  };

  // A result or, if no rank was started because memory is short, the shortage.
  using Outcome = std::variant<BenchmarkResult, MemoryShortage>;
  static Result<Outcome> run_job(const views::BenchmarkJob& job,
                                 const views::Reporter<BenchmarkResult>& reporter);
  void finish(const Result<Outcome>& outcome);

  Machine machine_;
  QStringList devices_;
  std::optional<Run> run_;
  quint64 last_number_ = 0;
  QThreadPool pool_;  // a single thread; the destructor waits until the ranks have ended
  views::Task<Outcome, BenchmarkResult> task_{pool_};
};

}  // namespace jointer::desktop
