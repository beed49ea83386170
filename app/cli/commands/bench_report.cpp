#include "app/cli/commands/bench_report.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "app/cli/commands/figures.h"
#include "app/cli/commands/skew_table.h"
#include "app/cli/commands/slowest_calls.h"
#include "app/cli/commands/table.h"
#include "core/base/counted.h"
#include "core/base/units.h"
#include "core/bench/drift.h"
#include "core/bench/explanation.h"
#include "core/bench/kernel_time.h"
#include "core/bench/status_file.h"

namespace jointer::cli {
namespace {

using enum Table::Align;

constexpr std::size_t kOperators = 10;

// "+1.3%", "-0.2%" or "equal"; "41.3 times" if the measurement is at least ten times the estimate;
// empty if only the estimate is 0.
std::string difference(std::int64_t measured, std::int64_t estimated) {
  if (measured == estimated) return "equal";
  if (estimated == 0) return "";
  const double part = static_cast<double>(measured - estimated) / static_cast<double>(estimated);
  constexpr double kManyTimes = 10;
  if (part + 1 >= kManyTimes) return format_significant(part + 1) + " times";
  return fmt::format("{}{}", part < 0 ? '-' : '+', format_percent(std::abs(part)));
}

// Adds a row for each rank that was profiled on a GPU: how long kernels ran during a step.
void add_busy(Table& table, const BenchmarkResult& r) {
  for (const RankResult& rank : r.ranks) {
    if (!rank.measured || rank.measured->kernels.empty()) continue;
    const std::int64_t busy = busy_ns(rank.measured->kernels);
    const std::int64_t step = summarize(rank.measured->step_ns).median_ns;
    const bool launches =
        r.request.backend == Backend::interpret && is_bound_by_launches(busy, step);
    table.add({fmt::format("GPU, rank {}", rank.rank),
               fmt::format("busy for {} of {}{}", format_ns(busy), format_ns(step),
                           launches ? ": launch-bound, which --backend cudagraph avoids" : "")});
  }
}

// Adds the drift of ranks whose steps became slower or faster during the run.
void add_drift(Table& table, const BenchmarkResult& r) {
  for (const RankResult& rank : r.ranks) {
    const auto drift = rank.measured ? step_drift(rank.measured->step_ns) : std::nullopt;
    if (drift && is_significant_drift(*drift))
      table.add({fmt::format("drift, rank {}", rank.rank),
                 fmt::format("the last quarter of steps was {} {} than the first quarter",
                             format_percent(std::abs(*drift)), *drift > 0 ? "slower" : "faster")});
  }
}

// Adds a row for each rank that reported the state of its GPU at the end of the measured steps.
void add_gpu_states(Table& table, const BenchmarkResult& r) {
  for (const RankResult& rank : r.ranks) {
    if (!rank.measured || !rank.measured->gpu) continue;
    const GpuState& gpu = *rank.measured->gpu;
    std::string text =
        fmt::format("{} of {} MHz, {} W, {} \u00b0C, {} of memory used", gpu.sm_mhz, gpu.max_sm_mhz,
                    gpu.milliwatts / 1000, gpu.celsius, format_bytes(gpu.used_bytes));
    if (gpu.other_bytes && *gpu.other_bytes > 0)
      text += fmt::format(", {} of it by other processes", format_bytes(*gpu.other_bytes));
    if (gpu.other_processes > 0)
      text += "; " + counted(static_cast<std::size_t>(gpu.other_processes),
                             "other process is using the GPU", "other processes are using the GPU");
    if (gpu.uncorrected_ecc_errors > 0)
      text += "; " + counted(static_cast<std::size_t>(gpu.uncorrected_ecc_errors),
                             "uncorrected ECC error");
    if (gpu.mig) text += "; divided into MIG instances";
    if (!gpu.slowdowns.empty())
      text += fmt::format("; slowed down by: {}", fmt::join(gpu.slowdowns, ", "));
    table.add({fmt::format("GPU state, rank {}", rank.rank), std::move(text)});
  }
}

void add_workspaces(Table& table, const BenchmarkResult& r) {
  for (const RankResult& rank : r.ranks)
    if (rank.measured && rank.measured->workspace_bytes > 0)
      table.add({fmt::format("libraries, rank {}", rank.rank),
                 format_bytes(rank.measured->workspace_bytes) +
                     " of workspaces, not included in the peak"});
}

void add_outside_memory(Table& table, const BenchmarkResult& r) {
  for (const RankResult& rank : r.ranks)
    if (rank.measured && rank.measured->outside_bytes > 0)
      table.add({fmt::format("other memory, rank {}", rank.rank),
                 format_bytes(rank.measured->outside_bytes) +
                     " on the GPU outside the allocator: CUDA's context, kernels, and buffers "
                     "of libraries"});
}

void add_pinned_memory(Table& table, const BenchmarkResult& r) {
  for (const RankResult& rank : r.ranks)
    if (rank.measured && rank.measured->pinned_peak_bytes > 0)
      table.add({fmt::format("pinned memory, rank {}", rank.rank),
                 format_bytes(rank.measured->pinned_peak_bytes) + " on the host"});
}

Table facts(const BenchmarkResult& r) {
  Table table({{"", left}, {"", left}});
  const std::string ranks = r.request.solo ? fmt::format("rank {} alone", *r.request.solo)
                                           : counted(r.ranks.size(), "rank");
  table.add({"run", fmt::format("{}, {}{}", to_string(r.request.backend), ranks,
                                r.device().empty() ? "" : ", on " + r.device())});
  table.add({"estimate", r.predicted.estimator});
  if (r.throughput.tokens_per_second)
    table.add({"tokens/s", format_significant(*r.throughput.tokens_per_second)});
  if (r.throughput.tflops)
    table.add(
        {"model FLOPs",
         fmt::format(
             "{}{}", format_rate(*r.throughput.tflops * 1e12),
             r.throughput.mfu ? fmt::format(", {} MFU", format_percent(*r.throughput.mfu)) : "")});
  if (r.step) table.add({"all FLOPs", format_rate(r.throughput.hardware_tflops * 1e12)});
  for (const RankResult& rank : r.ranks)
    for (const RankVerified& v : rank.verified)
      table.add({fmt::format("rank {} vs. {}", rank.rank, v.against),
                 v.bitwise ? fmt::format("{} bitwise equal",
                                         counted(static_cast<std::size_t>(v.compared), "output"))
                           : fmt::format("{}: largest difference {:.3g} in {} at element {}",
                                         v.equal ? fmt::format("equal within {:.2g}", v.bound)
                                                 : "DIFFERENT",
                                         v.max_abs_diff, v.output, v.element)});
  add_drift(table, r);
  add_busy(table, r);
  add_gpu_states(table, r);
  add_workspaces(table, r);
  add_outside_memory(table, r);
  add_pinned_memory(table, r);
  return table;
}

Table ranks_table(const BenchmarkResult& r) {
  Table table({{"rank", right},
               {"status", left},
               {"peak", right},
               {"estimate", right},
               {"difference", right},
               {"step", right},
               {"fastest", right},
               {"slowest", right},
               {"estimate", right},
               {"difference", right}});
  for (const RankResult& rank : r.ranks) {
    std::vector<std::string> row{fmt::format("{}", rank.rank), std::string(to_string(rank.status))};
    if (rank.measured) {
      const RankMeasured& m = *rank.measured;
      const StepTimes step = summarize(m.step_ns);
      row.insert(row.end(), {format_bytes(m.peak_bytes), format_bytes(r.predicted.peak_bytes),
                             difference(m.peak_bytes, r.predicted.peak_bytes)});
      if (!m.step_ns.empty())
        row.insert(row.end(), {format_ns(step.median_ns), format_ns(step.min_ns),
                               format_ns(step.max_ns), format_ns(r.predicted.step_ns),
                               difference(step.median_ns, r.predicted.step_ns)});
    }
    row.resize(10);
    table.add(std::move(row));
  }
  return table;
}

// The rank with the highest peak; null if no rank was measured.
const RankResult* highest(const BenchmarkResult& r) {
  const RankResult* max_rank = nullptr;
  for (const RankResult& rank : r.ranks)
    if (rank.measured && (!max_rank || rank.measured->peak_bytes > max_rank->measured->peak_bytes))
      max_rank = &rank;
  return max_rank;
}

// A table of the compiled blocks that ran in place of nodes; empty if there are no such blocks.
std::string blocks_text(const PeakExplanation& explained) {
  if (explained.blocks.empty()) return {};
  Table table({{"compiled", left}, {"nodes", right}, {"time", right}, {"max allocated", right}});
  for (const auto& block : explained.blocks)
    table.add({block.name, format_count(block.nodes), block.ns > 0 ? format_ns(block.ns) : "",
               format_bytes(block.peak_bytes)});
  return '\n' + table.text();
}

std::string explanation(const RankResult& rank, const Graph& graph, const Analysis& analysis) {
  const PeakExplanation e = explain_peak(graph, analysis.memory, *rank.measured);
  if (e.difference == 0 && e.operators.empty() && e.blocks.empty()) return {};
  std::string text = fmt::format(
      "\npeak of rank {}: {}\n", rank.rank,
      e.difference == 0 ? "as estimated"
                        : signed_text(e.difference, format_bytes) + " relative to the estimate");
  Table parts({{"", right}, {"", left}});
  if (e.scratch != 0)
    parts.add({signed_text(e.scratch, format_bytes),
               fmt::format("scratch memory that calls allocated and released{}",
                           e.peak_node ? fmt::format(", at {}", graph.name(e.peak_node)) : "")});
  if (e.held != 0)
    parts.add({signed_text(e.held, format_bytes),
               e.blocks.empty() ? "held by the graph's tensors"
                                : "held by the graph's tensors and allocated in compiled code"});
  if (e.rounding != 0)
    parts.add(
        {signed_text(e.rounding, format_bytes), "allocator blocks that are larger than requested"});
  if (e.first_difference != 0)
    parts.add({signed_text(e.first_difference, format_bytes),
               e.first_different
                   ? fmt::format("first difference, at {}", graph.name(e.first_different))
                   : std::string("difference from the start")});
  text += parts.text();
  text += blocks_text(e);
  if (e.operators.empty()) return text;
  Table operators({{"scratch of", left}, {"calls", right}, {"max", right}, {"at", left}});
  for (std::size_t i = 0; i < std::min(kOperators, e.operators.size()); ++i) {
    const auto& each = e.operators[i];
    operators.add({each.target, format_count(each.calls), format_bytes(each.max_bytes),
                   std::string(graph.name(each.node))});
  }
  return text + '\n' + operators.text();
}

std::string failures(const BenchmarkResult& r) {
  std::string text;
  for (const RankResult& rank : r.ranks) {
    if (rank.reason.empty() || rank.status == RankResult::Status::done) continue;
    text += fmt::format("\nrank {} {}{}{}: {}", rank.rank, to_string(rank.status),
                        rank.stage.empty() ? "" : " during " + rank.stage,
                        rank.node.empty() ? "" : " at " + rank.node, rank.reason);
    if (!rank.memory_snapshot.empty())
      text += fmt::format("\n  memory snapshot: {}", rank.memory_snapshot);
  }
  return text.empty() ? text : text + '\n';
}

// The index of the rank's stage among all stages; -1 before the first stage.
std::ptrdiff_t stage_index(const RankResult& rank) {
  if (!rank.progress) return -1;
  const auto* found = std::ranges::find(kRunStages, rank.progress->stage);
  return found - std::begin(kRunStages);
}

}  // namespace

std::string bench_tables(const BenchmarkResult& result, const Graph& graph,
                         const Analysis& analysis) {
  std::string text = fmt::format("{}\n{}\n{}", result.graph_name, facts(result).text(),
                                 ranks_table(result).text());
  if (const RankResult* rank = highest(result)) text += explanation(*rank, graph, analysis);
  text += slowest_calls(result, graph, analysis);
  text += skew_table(result, graph);
  text += failures(result);
  const auto notes = result.notes();
  if (!notes.empty()) text += '\n';
  for (const std::string& note : notes) text += fmt::format("note: {}\n", note);
  return text;
}

Json explained_json(const BenchmarkResult& result, const Graph& graph, const Analysis& analysis) {
  const RankResult* rank = highest(result);
  if (rank == nullptr) return {};
  const PeakExplanation e = explain_peak(graph, analysis.memory, *rank->measured);
  const auto name = [&](NodeId id) { return id ? Json(graph.name(id)) : Json(); };
  Json json = {{"rank", rank->rank},
               {"difference_bytes", e.difference},
               {"scratch_bytes", e.scratch},
               {"held_bytes", e.held},
               {"rounding_bytes", e.rounding},
               {"peak_node", name(e.peak_node)},
               {"first_different", name(e.first_different)},
               {"first_difference_bytes", e.first_difference},
               {"operators", Json::array()},
               {"blocks", Json::array()}};
  for (const auto& each : e.operators)
    json["operators"].push_back({{"target", each.target},
                                 {"calls", each.calls},
                                 {"most_bytes", each.max_bytes},
                                 {"node", name(each.node)}});
  for (const auto& each : e.blocks)
    json["blocks"].push_back({{"name", each.name},
                              {"nodes", each.nodes},
                              {"peak_bytes", each.peak_bytes},
                              {"ms", each.ns > 0 ? Json(to_ms(each.ns)) : Json()}});
  return json;
}

std::string progress_line(const std::vector<RankResult>& ranks) {
  const RankResult* last = nullptr;
  for (const RankResult& rank : ranks)
    if (rank.status == RankResult::Status::running &&
        (!last || std::pair(stage_index(rank), rank.progress ? rank.progress->done : 0) <
                      std::pair(stage_index(*last), last->progress ? last->progress->done : 0)))
      last = &rank;
  std::string line = counted(ranks.size(), "rank");
  if (last == nullptr) return line;
  if (!last->progress) return line + ", starting";
  line += ", " + last->progress->stage;
  if (last->progress->total > 0)
    line += fmt::format(" {} of {}", last->progress->done, last->progress->total);
  return line;
}

}  // namespace jointer::cli
