#pragma once

// What a benchmark came to: every rank's figures, beside what was predicted.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

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
    failed,   // said why
    died,     // ended without a word: a signal, an exit code
    hung,     // no progress within the deadline
    stopped,  // ended because another rank failed, or a person cancelled
  };
  int rank = 0;
  Status status = Status::running;
  std::optional<RankStarted> started;
  std::optional<RankProgress> progress;
  std::optional<RankMeasured> measured;
  std::vector<RankVerified> verified;
  std::vector<std::string> notes;
  // Of a rank that did not end well: what it was doing, RankFailed's kind where it said one
  // (`collective` also where it waited in vain for others), and why in one line.
  std::string stage, node, kind, reason;
  std::int64_t ended_ns = 0;  // when it had ended, from the run's start

  // Takes in what the rank said. Does not end it: that takes the process's own end.
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
  // Of the rank that takes most memory, and of the slowest; empty until a rank has measured.
  std::optional<std::int64_t> peak_bytes, requested_peak_bytes, reserved_peak_bytes;
  std::optional<StepTimes> step;
  Throughput throughput;

  [[nodiscard]] bool succeeded() const;
  // The rank that failed first of its own doing, or null. A collective that fails is taken for
  // another rank's doing where any rank failed of something else.
  [[nodiscard]] const RankResult* culprit() const;
  // "rank 1: at mm_3: out of memory: ..."; empty where all went well.
  [[nodiscard]] std::string failure() const;
  // Over all ranks and comparisons: the worst. Nothing if nothing was compared.
  [[nodiscard]] std::optional<RankVerified> verified() const;
  // "AMD EPYC 7763, 2 threads", of the first rank that said so.
  [[nodiscard]] std::string device() const;
  // All ranks' notes, each once, in order.
  [[nodiscard]] std::vector<std::string> notes() const;

  // Fills in what follows from the ranks' figures, and the graph's name and hash if they are
  // empty. `analysis` is that of the graph that ran.
  void conclude(const Graph& graph, const Analysis& analysis);
};

// As `jointer bench --json` prints it; parse_result reads it again (a run's `nodes` and curves are
// kept where `with_profile` says so). Error (input): no such object, or one of a newer version.
// `further`: members that only who prints it can know, as JSON (`"key":value,...`).
std::string write_result(const BenchmarkResult& result, bool with_profile,
                         std::string_view further = {});
Result<BenchmarkResult> parse_result(std::string_view json);

// A row a result, for an issue or a spreadsheet: run, when, backend, ranks, device, predicted and
// measured peak and step, tokens/s, TFLOP/s, MFU, verified, status. CSV has bytes and milliseconds.
std::string results_markdown(const std::vector<BenchmarkResult>& results);
std::string results_csv(const std::vector<BenchmarkResult>& results);

}  // namespace jointer
