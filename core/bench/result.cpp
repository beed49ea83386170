#include "core/bench/result.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include "core/base/median.h"
#include "core/graph/canonical.h"

namespace jointer {
namespace {

bool failed_by_itself(RankResult::Status status) {
  return status == RankResult::Status::failed || status == RankResult::Status::died ||
         status == RankResult::Status::hung;
}

// True if the rank may have failed because another rank did: its collective failed or hung.
bool may_be_a_consequence(const RankResult& rank) {
  return rank.kind == "collective";
}

// Orders by severity: not equal is worst, then not bitwise equal, then the largest relative
// difference, as within a rank (see RankVerified). Results of earlier versions have only absolute
// differences. NaN exceeds any number.
bool is_worse(const RankVerified& a, const RankVerified& b) {
  const auto key = [](const RankVerified& verified) {
    const double relative = verified.max_rel_diff, absolute = verified.max_abs_diff;
    return std::tuple(!verified.equal, !verified.bitwise, std::isnan(relative),
                      std::isnan(relative) ? 0 : relative, std::isnan(absolute),
                      std::isnan(absolute) ? 0 : absolute);
  };
  return key(a) > key(b);
}

}  // namespace

std::string_view to_string(RankResult::Status status) {
  static constexpr std::array<std::string_view, 6> kNames{"running", "done", "failed",
                                                          "died",    "hung", "stopped"};
  return kNames[static_cast<std::size_t>(status)];
}

StepTimes summarize(std::vector<std::int64_t> step_ns) {
  if (step_ns.empty()) return {};
  const auto [min, max] = std::ranges::minmax(step_ns);
  return {median(std::move(step_ns)), min, max};
}

void RankResult::apply(const RankEvent& event) {
  struct Take {
    RankResult& rank;
    void operator()(const RankStarted& said) const { rank.started = said; }
    void operator()(const RankProgress& said) const {
      rank.progress = said;
      rank.stage = said.stage;
    }
    void operator()(const RankNote& said) const { rank.notes.push_back(said.text); }
    void operator()(const RankMeasured& said) const { rank.measured = said; }
    void operator()(const RankVerified& said) const { rank.verified.push_back(said); }
    void operator()(const RankFailed& said) const {
      // The first failure is the cause.
      if (!rank.reason.empty()) return;
      rank.kind = said.kind;
      rank.node = said.node;
      rank.reason = said.text.empty() ? "failed without giving a reason" : said.text;
      rank.memory_snapshot = said.memory_snapshot;
    }
    void operator()(const RankDone& /*said*/) const {}
  };
  std::visit(Take{*this}, event);
}

Prediction prediction_of(const Analysis& analysis) {
  return {analysis.memory.peak_bytes(), analysis.simulation.step_ns(), analysis.estimator};
}

bool BenchmarkResult::succeeded() const {
  return !ranks.empty() && std::ranges::all_of(ranks, [](const RankResult& rank) {
    return rank.status == RankResult::Status::done;
  });
}

const RankResult* BenchmarkResult::culprit() const {
  const RankResult* first = nullptr;
  const auto key = [](const RankResult& rank) {
    return std::tuple(may_be_a_consequence(rank), rank.ended_ns, rank.rank);
  };
  for (const RankResult& rank : ranks)
    if (failed_by_itself(rank.status) && (!first || key(rank) < key(*first))) first = &rank;
  return first;
}

const RankResult* BenchmarkResult::snapshot_writer() const {
  const auto wrote = [](const RankResult& rank) { return !rank.memory_snapshot.empty(); };
  if (const RankResult* rank = culprit(); rank != nullptr && wrote(*rank)) return rank;
  const auto first = std::ranges::find_if(ranks, wrote);
  return first == ranks.end() ? nullptr : &*first;
}

std::string BenchmarkResult::failure() const {
  if (const RankResult* rank = culprit()) {
    if (!rank->node.empty())
      return fmt::format("rank {}: at {}: {}", rank->rank, rank->node, rank->reason);
    if (!rank->stage.empty())
      return fmt::format("rank {}: during {}: {}", rank->rank, rank->stage, rank->reason);
    return fmt::format("rank {}: {}", rank->rank, rank->reason);
  }
  for (const RankResult& rank : ranks)
    if (rank.status == RankResult::Status::stopped)
      return fmt::format("rank {}: {}", rank.rank,
                         rank.reason.empty() ? "stopped" : std::string_view(rank.reason));
  return {};
}

std::optional<RankVerified> BenchmarkResult::verified() const {
  std::optional<RankVerified> worst;
  for (const RankResult& rank : ranks)
    for (const RankVerified& each : rank.verified)
      if (!worst || is_worse(each, *worst)) worst = each;
  return worst;
}

std::string BenchmarkResult::device() const {
  for (const RankResult& rank : ranks)
    if (rank.started && !rank.started->device.empty()) return rank.started->device;
  return {};
}

std::vector<std::string> BenchmarkResult::notes() const {
  std::vector<std::string> all;
  for (const RankResult& rank : ranks)
    for (const std::string& note : rank.notes)
      if (std::ranges::find(all, note) == all.end()) all.push_back(note);
  return all;
}

void BenchmarkResult::conclude(const Graph& graph, const Analysis& analysis) {
  peak_bytes = requested_peak_bytes = reserved_peak_bytes = std::nullopt;
  step.reset();
  throughput = {};
  if (graph_name.empty()) graph_name = graph.title();
  if (graph_hash.empty()) graph_hash = jointer::graph_hash(graph);
  for (const RankResult& rank : ranks) {
    if (!rank.measured) continue;
    const RankMeasured& m = *rank.measured;
    if (!peak_bytes || m.peak_bytes > *peak_bytes) {
      peak_bytes = m.peak_bytes;
      requested_peak_bytes = m.requested_peak_bytes;
      reserved_peak_bytes = m.reserved_peak_bytes;
    }
    if (m.step_ns.empty()) continue;
    const StepTimes times = summarize(m.step_ns);
    if (!step || times.median_ns > step->median_ns) step = times;
  }
  if (!step) return;
  throughput = jointer::throughput(analysis.model, analysis.total_flops.total, step->median_ns,
                                   analysis.device);
  // MFU is meaningless relative to the peak of another kind of device.
  const auto on = std::ranges::find_if(ranks, [](const RankResult& r) { return !!r.started; });
  if (on != ranks.end() && (on->started->device_type == "cpu") != (analysis.device.id == "cpu"))
    throughput.mfu.reset();
}

}  // namespace jointer
