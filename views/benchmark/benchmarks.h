#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QPointer>
#include <QThreadPool>
#include <vector>

#include "core/bench/history.h"
#include "views/benchmark/benchmark_model.h"
#include "views/benchmark/benchmark_service.h"
#include "views/document/document.h"

namespace jointer::views {

// What a person can choose of a run before it starts.
struct BenchmarkSettings {
  BenchmarkRequest request = {.profile = true};  // its files are filled in from the document
  bool verify = true;                            // against the unedited graph
};

// The benchmarks of one document: what the next run shall be, the one that is under way, results of
// earlier ones, which of them is laid over the timeline. Lives as long as the document; a run ends
// with it. Panes and menus show it and call it.
class Benchmarks : public QObject {
  Q_OBJECT
 public:
  // Owned by the document.
  Benchmarks(Document& document, BenchmarkService& service, BenchmarkHistory history);
  ~Benchmarks() override;
  Benchmarks(const Benchmarks&) = delete;
  Benchmarks& operator=(const Benchmarks&) = delete;

  [[nodiscard]] Document& document() const { return document_; }
  [[nodiscard]] BenchmarkService& service() const { return *service_; }

  // --- The next run ---
  [[nodiscard]] const BenchmarkSettings& settings() const { return settings_; }
  void set_settings(const BenchmarkSettings& settings);
  // Ranks that the capture was made with.
  [[nodiscard]] int world_size() const { return world_size_; }
  // With files and symbols, as it would run.
  [[nodiscard]] BenchmarkRequest request() const;
  // Why it cannot start now; empty if it can.
  [[nodiscard]] QString why_not() const;

  // --- The one under way ---
  [[nodiscard]] bool is_running() const { return run_ != 0; }
  [[nodiscard]] bool is_cancelling() const { return is_cancelling_; }
  [[nodiscard]] const BenchmarkResult& so_far() const { return so_far_; }
  [[nodiscard]] qint64 elapsed_ms() const { return is_running() ? since_start_.elapsed() : 0; }
  // What is to be said of the last one: that it was cancelled, or why it could not start.
  [[nodiscard]] const QString& message() const { return message_; }
  [[nodiscard]] bool message_is_error() const { return message_is_error_; }

  // --- Results ---
  // Oldest first.
  [[nodiscard]] const std::vector<BenchmarkRow>& rows() const { return rows_; }
  [[nodiscard]] const BenchmarkResult* find(std::uint64_t id) const;
  void remove(const std::vector<std::uint64_t>& ids);
  // Lays what a row measured over the estimates; of no such row, nothing changes.
  void show(std::uint64_t id);
  // The row that was shown last, 0 for none.
  [[nodiscard]] std::uint64_t shown() const { return shown_; }
  // Results from elsewhere, before those there are; what is there already is left out.
  void add(const std::vector<BenchmarkResult>& results);
  // Reads what is kept of this graph, once; rows come later.
  void load();
  // Nothing is being read or written.
  [[nodiscard]] bool is_settled() const { return state_ != State::loading && saving_ == 0; }

 public slots:
  void run();
  // A profiled run whose times of nodes are told by `calibrated`.
  void calibrate();
  void cancel();

 signals:
  void settings_changed();
  void running_changed();
  void progressed();
  void rows_changed();
  // A row was shown, by a person or because its run has ended.
  void row_shown(quint64 row);
  void message_changed();
  // Times of nodes to be kept as costs.
  void calibrated(const jointer::views::MeasurementPtr& measurement);

 private:
  enum class State : std::uint8_t { fresh, loading, loaded };

  void start(bool calibrates);
  void take_progress(quint64 run, const BenchmarkResult& so_far);
  void take_end(quint64 run, const BenchmarkResult& result, bool cancelled);
  void take_failure(quint64 run, const QString& why);
  void end_run();
  void take_history(BenchmarkHistory::Loaded loaded, std::string hash);
  void save();
  void say(const QString& text, bool is_error = false);
  // A run is known by when it began and what ran.
  [[nodiscard]] bool has(const BenchmarkResult& result) const;
  [[nodiscard]] bool ran_what_is_shown(const BenchmarkResult& result) const;
  [[nodiscard]] std::vector<MeasurementPtr> measurements_of(const BenchmarkResult& result) const;

  Document& document_;
  QPointer<BenchmarkService> service_;
  BenchmarkHistory history_;
  BenchmarkSettings settings_;
  int world_size_ = 1;

  quint64 run_ = 0;  // 0: none
  bool calibrates_ = false, is_cancelling_ = false;
  BenchmarkResult so_far_;
  QElapsedTimer since_start_;
  QString message_;
  bool message_is_error_ = false;

  std::vector<BenchmarkRow> rows_;
  std::uint64_t next_id_ = 1, shown_ = 0;
  State state_ = State::fresh;
  std::string hash_;     // known once what is kept was read
  QThreadPool keeping_;  // one thread, so that files are written in order
  int saving_ = 0;
};

}  // namespace jointer::views
