#pragma once

// The result of a benchmark: the measurements of every rank, and the prediction.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/json_text.h"
#include "core/base/result.h"
#include "core/bench/event.h"
#include "core/bench/request.h"
#include "core/schedule/analysis.h"

namespace jointer {

inline constexpr int kBenchmarkVersion = 1;  // of the result's JSON

struct StepTimes {
  std::int64_t median_ns = 0, min_ns = 0, max_ns = 0;
};
StepTimes summarize(std::vector<std::int64_t> step_ns);

struct RankResult {
  enum class Status : std::uint8_t {
    running,
    done,
    failed,   // reported the reason
    died,     // ended without a report, by a signal or with an exit code
    hung,     // made no progress within the timeout
    stopped,  // ended because another rank failed or the user cancelled
  };
  int rank = 0;
  Status status = Status::running;
  std::optional<RankStarted> started;
  std::optional<RankProgress> progress;
  std::optional<RankMeasured> measured;
  std::vector<RankVerified> verified;
  std::vector<std::string> notes;
  // The rank's last stage; empty once it has succeeded. If it failed: its node, the kind as in
  // RankFailed (`collective` also if other ranks did not arrive; empty if unknown), and the reason
  // in one line.
  std::string stage, node, kind, reason;
  std::string memory_snapshot;  // as in RankFailed
  std::int64_t ended_ns = 0;    // end of the rank, measured from the start of the run

  // Records an event that the rank reported. Does not change the status, which also depends on how
  // the process ends.
  void apply(const RankEvent& event);
};
std::string_view to_string(RankResult::Status status);

struct Prediction {
  std::int64_t peak_bytes = 0;
  std::int64_t step_ns = 0;
  std::string estimator;
};
Prediction prediction_of(const Analysis& analysis);

struct BenchmarkResult {
  BenchmarkRequest request;
  std::string graph_name, graph_hash;
  std::string started_at;  // ISO 8601, local time with offset
  Prediction predicted;
  std::vector<RankResult> ranks;
  // Memory of the rank with the highest peak, and step times of the slowest rank; empty until a
  // rank reports measurements.
  std::optional<std::int64_t> peak_bytes, requested_peak_bytes, reserved_peak_bytes;
  std::optional<StepTimes> step;
  Throughput throughput;

  [[nodiscard]] bool succeeded() const;
  // The rank that failed, died or hung first, or null if none did. A rank whose collective failed
  // is not the culprit if any rank failed for another reason.
  [[nodiscard]] const RankResult* culprit() const;
  // The rank whose memory snapshot explains why memory ran out: the culprit or, if it wrote none,
  // the first rank that did. Null if no rank wrote a snapshot.
  [[nodiscard]] const RankResult* snapshot_writer() const;
  // Why the run failed or stopped: "rank 1: at mm_3: out of memory: ..."; otherwise empty.
  [[nodiscard]] std::string failure() const;
  // The worst comparison of all ranks; std::nullopt if nothing was compared.
  [[nodiscard]] std::optional<RankVerified> verified() const;
  // The device of the first rank that reported one, such as "AMD EPYC 7763, 2 threads".
  [[nodiscard]] std::string device() const;
  // The notes of all ranks, in order, without duplicates.
  [[nodiscard]] std::vector<std::string> notes() const;

  // Computes the summary from the ranks' measurements, and fills in the graph's name and hash if
  // they are empty. `analysis` describes the graph that ran.
  void conclude(const Graph& graph, const Analysis& analysis);
};

// The result as `jointer bench --json` prints it. `with_profile`: includes the times of nodes and
// kernels, scratch memory, memory curves, compiled blocks and the states of GPUs.
// `further`: additional members as JSON (`"key":value,...`). parse_result reads it back. Error
// (input): the text is not a benchmark result, is invalid, or has a newer version.
std::string write_result(const BenchmarkResult& result, bool with_profile,
                         std::string_view further = {});
Result<BenchmarkResult> parse_result(std::string_view json);
Result<BenchmarkResult> read_result(const OrderedJson& json);

// Tables with one row per result, for an issue or a spreadsheet: run, when, backend, ranks, device,
// predicted and measured peak and step, tokens/s, TFLOP/s, MFU, verified, status. The CSV has bytes
// and milliseconds, and more columns about the measured peak and step.
std::string results_markdown(const std::vector<BenchmarkResult>& results);
std::string results_csv(const std::vector<BenchmarkResult>& results);

}  // namespace jointer
