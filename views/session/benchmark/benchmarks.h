#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QPointer>
#include <QThreadPool>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/bench/history.h"
#include "views/session/benchmark/benchmark_row.h"
#include "views/session/benchmark/benchmark_service.h"
#include "views/session/document/document.h"
#include "views/session/work/task.h"

namespace jointer::views {

// The settings of a run that the user can change.
struct BenchmarkSettings {
  BenchmarkRequest request = {.profile = true};  // the files come from the document
  bool verify = true;                            // compare outputs with those of the unedited graph
};

// The benchmarks of one document: the settings of the next run, the current run, earlier results,
// and the measurement shown in the timeline. Lives as long as the document and cancels its run when
// destroyed. Used by panes and menus.
class Benchmarks : public QObject {
  Q_OBJECT
 public:
  // `document` must outlive this object.
  Benchmarks(Document& document, BenchmarkService& service, BenchmarkHistory history,
             QObject* parent = nullptr);
  ~Benchmarks() override;

  [[nodiscard]] Document& document() const { return document_; }
  [[nodiscard]] BenchmarkService& service() const { return *service_; }

  // --- The next run ---
  [[nodiscard]] const BenchmarkSettings& settings() const { return settings_; }
  void set_settings(const BenchmarkSettings& settings);
  // The number of ranks that the graph's collectives require.
  [[nodiscard]] int world_size() const { return world_size_; }
  // A request with these settings, and with the files and assumptions of the document.
  [[nodiscard]] BenchmarkRequest request() const;
  // Why a run cannot start now; empty if it can.
  [[nodiscard]] QString why_not() const;

  // --- The current run ---
  [[nodiscard]] bool is_running() const { return run_ != 0; }
  [[nodiscard]] bool is_cancelling() const { return is_cancelling_; }
  [[nodiscard]] const BenchmarkResult& so_far() const { return so_far_; }
  [[nodiscard]] qint64 elapsed_ms() const { return is_running() ? since_start_.elapsed() : 0; }
  // A message about the last run or the results; may be empty.
  [[nodiscard]] const QString& message() const { return message_; }
  [[nodiscard]] bool message_is_error() const { return message_is_error_; }
  // Why the last run was not started: the ranks are predicted not to fit in memory. The user is
  // asked whether to start it anyway. Empty if there is nothing to ask.
  [[nodiscard]] const QString& question() const { return question_; }

  // --- Results ---

  // All results, the newest last.
  [[nodiscard]] const std::vector<BenchmarkRow>& rows() const { return rows_; }
  [[nodiscard]] const BenchmarkResult* find(std::uint64_t id) const;
  // Returns true if the run measured the graph as it is now, or if its result does not contain the
  // hash of a graph. Positions of calls in its measurements are then positions in this graph.
  // nullopt if the hash of this graph is not known yet; `hash_found` follows, or a message if the
  // hash cannot be computed.
  [[nodiscard]] std::optional<bool> ran_shown_graph(const BenchmarkResult& result);
  // Removes rows, also from the stored results. Their measurements are no longer shown.
  void remove(const std::vector<std::uint64_t>& ids);
  // Selects a row and, if its run measured the current graph, shows its measurements together with
  // the estimates, as soon as the hash of this graph is known. Ignored if there is no such row.
  void show(std::uint64_t id);
  // Reads the memory snapshot that a rank of this run wrote when it ran out of memory, shows it
  // together with the estimates, and selects the node at which memory ran out, if that is known. A
  // message says so, or says why the file cannot be read. Ignored if there is no such row, or if it
  // has no snapshot.
  void show_snapshot(std::uint64_t id);
  // The id of the row that was shown last; 0 if there was none or it has been removed.
  [[nodiscard]] std::uint64_t shown() const { return shown_; }
  // Inserts earlier results, such as those in a workspace, before the existing ones, without
  // duplicates.
  void add(const std::vector<BenchmarkResult>& results);
  // Loads the stored results of this graph unless they have been loaded. Their rows appear later.
  void load();
  // Returns true while stored results are being loaded; `rows_changed` follows.
  [[nodiscard]] bool is_loading() const { return state_ == State::loading; }
  // Returns true if nothing is being loaded, hashed or saved.
  [[nodiscard]] bool is_settled() const {
    return !is_loading() && saving_ == 0 && !hashing_.is_running();
  }

 public slots:
  void run() { start(false); }
  // Starts a profiled run; `calibrated` reports its node times.
  void calibrate() { start(true); }
  void cancel();
  // Answers to the question: start the run anyway, or do not start it.
  void start_anyway() {
    if (!question_.isEmpty()) start(calibrates_, true);
  }
  void drop_question() { ask({}); }

 signals:
  void settings_changed();
  void running_changed();
  void progressed();
  void rows_changed();
  // The hash that `ran_shown_graph` needed is now known.
  void hash_found();
  // A row was shown, by the user or because its run ended.
  void row_shown(quint64 row);
  void message_changed();
  void question_changed();
  // A run started by `calibrate` has measured these node times, which should be stored as costs.
  void calibrated(const jointer::views::MeasurementPtr& measurement);

 private:
  enum class State : std::uint8_t { fresh, loading, loaded };

  void start(bool calibrates, bool any_size = false);
  void handle_progress(quint64 run, const BenchmarkResult& so_far);
  void handle_end(quint64 run, const BenchmarkResult& result, bool cancelled);
  void handle_failure(quint64 run, const QString& why);
  void handle_too_large(quint64 run, const QString& why);
  void end_run();
  void find_hash();
  void handle_hash(const SnapshotPtr& snapshot, const Result<std::string>& hash);
  void show_waiting();
  void calibrate_waiting();
  void handle_snapshot(const MeasurementPtr& measurement, const RankResult& rank);
  void handle_history(BenchmarkHistory::Loaded loaded, std::string hash);
  void save();
  void say(const QString& text, bool is_error = false);
  void ask(const QString& question) {
    if (std::exchange(question_, question) != question) emit question_changed();
  }
  // Returns true if this result is already listed. A run is identified by its start time and graph.
  [[nodiscard]] bool has(const BenchmarkResult& result) const;
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
  QString question_;

  std::vector<BenchmarkRow> rows_;
  std::uint64_t next_id_ = 1, shown_ = 0;
  std::uint64_t measured_ = 0;     // the row whose measurement is shown, or 0
  std::set<std::string> reading_;  // names of memory snapshots that are being read
  State state_ = State::fresh;
  std::string hash_;  // of the graph as opened; empty until stored results have been loaded
  SnapshotPtr ran_;   // the graph of the current run
  // The last graph that ran or was hashed, and its hash.
  std::weak_ptr<const Snapshot> hashed_;
  std::string hash_of_hashed_;
  Task<std::string> hashing_;
  SnapshotPtr being_hashed_;
  // The rows whose measurements are to be shown, and reported by `calibrated`, once the hash is
  // known; 0 for none.
  std::uint64_t to_show_ = 0, to_calibrate_ = 0;
  QThreadPool keeping_;  // a single thread, so that files are written in order
  int saving_ = 0;
};

}  // namespace jointer::views
