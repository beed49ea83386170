#include "views/benchmark/benchmark_details.h"

#include <algorithm>

#include "core/bench/drift.h"
#include "core/bench/explanation.h"
#include "core/bench/kernel_time.h"
#include "core/bench/memory_of_run.h"
#include "core/bench/skew.h"
#include "views/session/benchmark/benchmark_text.h"
#include "views/session/edit/metrics.h"
#include "views/session/text/measured_text.h"
#include "views/session/text/node_text.h"
#include "views/session/text/number_text.h"
#include "views/session/text/range_text.h"
#include "views/session/translation/tr.h"
#include "views/tables/column.h"

namespace jointer::views {
namespace {

constexpr std::size_t kMaxNamed = 5;     // maximum number of operators or nodes to list
constexpr std::int64_t kMinOff = 1'000;  // nanoseconds; smaller differences are not listed

class Describer {
 public:
  Describer(const BenchmarkResult& result, const Snapshot& snapshot, bool is_of_graph)
      : result_(result), snapshot_(snapshot), graph_(snapshot.graph), is_of_graph_(is_of_graph) {}

  InspectorContent describe() {
    content_.title = tr("%1, %2").arg(to_qstring(to_string(result_.request.backend)),
                                      result_.request.solo || result_.ranks.size() == 1
                                          ? tr("one rank")
                                          : tr("%1 ranks").arg(result_.ranks.size()));
    content_.subtitle = when_text(result_);
    if (const std::string device = result_.device(); !device.empty())
      content_.subtitle += QStringLiteral(" · ") + to_qstring(device);
    failure();
    peak();
    time();
    if (is_of_graph_) waits();
    ranks();
    gpus();
    verified();
    notes();
    asked();
    return std::move(content_);
  }

 private:
  InspectorSection& section(const QString& title) {
    content_.sections.push_back({title, {}});
    return content_.sections.back();
  }
  static void add(InspectorSection& s, const QString& label, const QString& value,
                  const QString& note = {}, Provenance provenance = Provenance::measured) {
    s.add(label, value, provenance, note);
  }
  // A row with the name of a node, which is a link if the graph has the node.
  [[nodiscard]] InspectorRow named(const QString& label, const std::string& name) const {
    InspectorRow row{.label = label, .provenance = Provenance::measured, .is_code = true};
    if (const NodeId node = graph_.find(name))
      row.links = {node};
    else
      row.value = to_qstring(name);
    return row;
  }
  [[nodiscard]] NodeId node_at(std::uint32_t position) const {
    return position < graph_.order().size() ? graph_.order()[position] : NodeId{};
  }

  void failure() {
    const RankResult* culprit = result_.culprit();
    if (culprit == nullptr) {
      if (!result_.succeeded()) add(section(tr("Stopped")), tr("why"), status_text(result_));
      return;
    }
    InspectorSection& s = section(tr("Failed"));
    add(s, tr("rank"), QString::number(culprit->rank));
    if (!culprit->stage.empty()) add(s, tr("during"), to_qstring(culprit->stage));
    if (!culprit->node.empty()) s.rows.push_back(named(tr("at"), culprit->node));
    add(s, tr("why"), to_qstring(culprit->reason));
    if (const RankResult* writer = result_.snapshot_writer())
      add(s, tr("memory snapshot"), to_qstring(writer->memory_snapshot),
          tr("Written by rank %1 when it ran out of GPU memory: all allocated blocks, and the "
             "preceding allocations and releases.")
              .arg(writer->rank));
  }

  // --- Memory ---

  // The rank with the highest peak; `BenchmarkResult` reports the memory of this rank.
  [[nodiscard]] const RankMeasured* largest() const {
    const RankMeasured* best = nullptr;
    for (const RankResult& rank : result_.ranks)
      if (rank.measured && (best == nullptr || rank.measured->peak_bytes > best->peak_bytes))
        best = &*rank.measured;
    return best;
  }

  void peak() {
    const RankMeasured* m = largest();
    if (m == nullptr || m->peak_bytes <= 0) return;
    InspectorSection& s = section(tr("Peak memory"));
    const std::int64_t predicted = result_.predicted.peak_bytes;
    add(s, tr("measured"), bytes_text(m->peak_bytes),
        tr("At the peak, %1 bytes were allocated.").arg(count_text(m->peak_bytes)));
    add(s, tr("predicted"), bytes_text(predicted), tr("%1 bytes.").arg(count_text(predicted)),
        Provenance::estimated);
    const std::int64_t difference = m->peak_bytes - predicted;
    add(s, tr("difference"),
        difference == 0
            ? tr("none (equal to the byte)")
            : QStringLiteral("%1 (%2)").arg(
                  bytes_difference_text(predicted, m->peak_bytes),
                  number_text({.unit = Unit::change}, change_of(m->peak_bytes, predicted))),
        tr("%1 bytes.").arg(count_text(difference)));
    if (is_of_graph_ && m->resident_peak_bytes > 0) explain(s, *m);
    if (m->reserved_peak_bytes > 0)
      add(s, tr("reserved"), bytes_text(m->reserved_peak_bytes),
          tr("Maximum memory that the caching allocator reserved on the device."));
    if (m->workspace_bytes > 0)
      add(s, tr("workspaces"), bytes_text(m->workspace_bytes),
          tr("Memory that libraries such as cuBLAS keep on the device. The measured peak does not "
             "include it."));
    if (m->outside_bytes > 0)
      add(s, tr("outside the allocator"), bytes_text(m->outside_bytes),
          tr("GPU memory of the rank that the caching allocator has not reserved: the CUDA "
             "context, the kernels' code, and buffers of libraries such as NCCL."));
    if (m->pinned_peak_bytes > 0)
      add(s, tr("pinned on the host"), bytes_text(m->pinned_peak_bytes),
          tr("Maximum host memory pinned for copies to and from the device, for example for "
             "offloaded tensors."));
  }

  // The predicted memory on the type of device that ran the benchmark.
  [[nodiscard]] MemoryTimeline memory() const {
    const DeviceType device = device_that_ran(result_).value_or(snapshot_.analysis.memory.device());
    return MemoryTimeline(graph_, memory_of_run(result_.request, device));
  }

  // Breaks down the difference between the measured and the predicted peak by cause.
  void explain(InspectorSection& s, const RankMeasured& m) {
    const PeakExplanation peak = explain_peak(graph_, memory(), m);
    if (peak.scratch != 0)
      add(s, tr("in calls"), bytes_difference_text(0, peak.scratch),
          tr("Difference due to memory that calls allocate and free before they return. The "
             "prediction counts only the graph's tensors."));
    if (peak.held != 0)
      add(s, tr("held"), bytes_difference_text(0, peak.held),
          peak.blocks.empty()
              ? tr("Difference in the memory held between calls, due to storages whose size or "
                   "lifetime differs from the prediction.")
              : tr("Difference in the memory held between calls, or allocated by compiled code, "
                   "whose intermediate values differ from the graph's."));
    if (peak.rounding != 0)
      add(s, tr("allocator"), bytes_difference_text(0, peak.rounding),
          tr("Bytes by which the allocator's blocks exceed the requested sizes, beyond the "
             "rounding in the prediction."));
    for (std::size_t i = 0; i < std::min(peak.blocks.size(), kMaxNamed); ++i) {
      const PeakExplanation::Block& block = peak.blocks[i];
      add(s, tr("compiled"),
          QStringLiteral("%1 (%2): %3")
              .arg(to_qstring(block.name), nodes_text(block.nodes), bytes_text(block.peak_bytes)),
          tr("Maximum allocated memory while the compiled code ran in place of these nodes."));
    }
    add_more_blocks(s, peak.blocks.size());
    for (std::size_t i = 0; i < std::min(peak.operators.size(), kMaxNamed); ++i) {
      const PeakExplanation::OperatorScratch& each = peak.operators[i];
      s.rows.push_back(
          {.label = tr("scratch"),
           .value = tr("%1: up to %2, in").arg(to_qstring(each.target), bytes_text(each.max_bytes)),
           .provenance = Provenance::measured,
           .note = counted_text(each.calls,
                                tr("Used by 1 call, which frees the memory before it returns."),
                                tr("Used by %1 calls; each frees the memory before it returns.")),
           .links = {each.node}});
    }
    if (peak.operators.size() > kMaxNamed) {
      const std::size_t more = peak.operators.size() - kMaxNamed;
      add(s, tr("scratch"), counted_text(more, tr("1 more operator"), tr("%1 more operators")));
    }
    if (peak.peak_node)
      s.rows.push_back({.label = tr("peak in"),
                        .provenance = Provenance::measured,
                        .is_code = true,
                        .links = {peak.peak_node}});
    if (peak.first_different)
      s.rows.push_back({.label = tr("first difference"),
                        .value = tr("%1 at").arg(bytes_difference_text(0, peak.first_difference)),
                        .provenance = Provenance::measured,
                        .note = tr("First call outside compiled code at which the memory held "
                                   "differs from the prediction."),
                        .links = {peak.first_different}});
  }

  // --- Time ---

  void time() {
    if (!result_.step) return;
    InspectorSection& s = section(tr("Step"));
    const StepTimes& step = *result_.step;
    add(s, tr("measured"),
        tr("%1 (%2)").arg(time_text(step.median_ns), time_range_text(step.min_ns, step.max_ns)),
        result_.request.iterations == 1
            ? tr("1 iteration on the slowest rank.")
            : tr("Median of %1 iterations on the slowest rank.").arg(result_.request.iterations));
    const QString ratio = ratio_text(step.median_ns, result_.predicted.step_ns);
    add(s, tr("predicted"), time_text(result_.predicted.step_ns),
        to_qstring(result_.predicted.estimator), Provenance::estimated);
    if (!ratio.isEmpty()) add(s, tr("ratio"), tr("%1 the prediction").arg(ratio));
    const Throughput& t = result_.throughput;
    QStringList rates;
    if (t.tokens_per_second)
      rates << tr("%1 tokens/s").arg(to_qstring(format_significant(*t.tokens_per_second)));
    if (t.tflops) rates << tr("%1 TFLOP/s").arg(to_qstring(format_significant(*t.tflops)));
    if (t.mfu) rates << tr("MFU %1").arg(to_qstring(format_percent(*t.mfu)));
    if (!rates.isEmpty()) add(s, tr("throughput"), rates.join(QStringLiteral(" · ")));
    drift(s);
    busy(s);
    compiled(s);
    if (is_of_graph_) furthest(s);
  }

  // The ranks whose steps became slower or faster during the run.
  void drift(InspectorSection& s) {
    for (const RankResult& rank : result_.ranks) {
      const auto drift = rank.measured ? step_drift(rank.measured->step_ns) : std::nullopt;
      if (!drift || !is_significant_drift(*drift)) continue;
      const QString percent = to_qstring(format_percent(std::abs(*drift)));
      add(s, tr("drift, rank %1").arg(rank.rank),
          *drift > 0 ? tr("%1 slower").arg(percent) : tr("%1 faster").arg(percent),
          tr("Median of the last quarter of iterations relative to that of the first quarter."));
    }
  }

  // How long the GPU of each profiled rank ran kernels during a step.
  void busy(InspectorSection& s) {
    for (const RankResult& rank : result_.ranks) {
      if (!rank.measured || rank.measured->kernels.empty()) continue;
      const std::int64_t busy = busy_ns(rank.measured->kernels);
      const std::int64_t step = summarize(rank.measured->step_ns).median_ns;
      const bool launches =
          result_.request.backend == Backend::interpret && is_bound_by_launches(busy, step);
      const QString text = tr("%1 of %2").arg(time_text(busy), time_text(step));
      add(s, tr("GPU busy, rank %1").arg(rank.rank),
          launches ? tr("%1: launch-bound").arg(text) : text,
          launches ? tr("Time during which at least one kernel ran. The rest of the step is "
                        "probably spent waiting for launches, which the cudagraph backend avoids.")
                   : tr("Time during which at least one kernel ran."));
    }
  }

  // The compiled blocks of the first rank that timed any, longest time first.
  void compiled(InspectorSection& s) {
    std::vector<const CompiledBlock*> blocks;
    for (const RankResult& rank : result_.ranks) {
      if (!rank.measured || !blocks.empty()) continue;
      for (const CompiledBlock& block : rank.measured->blocks)
        if (block.own_ns > 0) blocks.push_back(&block);
    }
    std::ranges::stable_sort(blocks, std::greater<>(), &CompiledBlock::own_ns);
    for (std::size_t i = 0; i < std::min(blocks.size(), kMaxNamed); ++i)
      add(s, tr("compiled"),
          tr("%1: %2").arg(to_qstring(blocks[i]->name), time_text(blocks[i]->own_ns)),
          tr("Duration of the code that ran in place of %1, measured alone: the median of "
             "several runs.")
              .arg(nodes_text(blocks[i]->positions.size())));
    add_more_blocks(s, blocks.size());
  }

  // Says how many compiled blocks are not listed.
  void add_more_blocks(InspectorSection& s, std::size_t count) {
    if (count <= kMaxNamed) return;
    const std::size_t more = count - kMaxNamed;
    add(s, tr("compiled"), counted_text(more, tr("1 more block"), tr("%1 more blocks")));
  }

  // The nodes of the first profiled rank whose times differ most from the current estimates. Waits
  // are skipped, and so are collectives if local copies replaced them.
  void furthest(InspectorSection& s) {
    const auto profiled = std::ranges::find_if(result_.ranks, [](const RankResult& rank) {
      return rank.measured && !rank.measured->nodes.empty();
    });
    if (profiled == result_.ranks.end()) return;
    struct Off {
      NodeId node;
      std::int64_t measured = 0, estimated = 0;
    };
    std::vector<Off> off;
    for (const NodeTime& each : profiled->measured->nodes) {
      const NodeId node = node_at(each.position);
      if (!node || graph_.is_wait(graph_.node(node))) continue;
      if (result_.request.solo && graph_.is_collective_start(graph_.node(node))) continue;
      const std::int64_t estimate = estimated_ns(snapshot_, node);
      if (std::abs(each.own_ns - estimate) >= kMinOff) off.push_back({node, each.own_ns, estimate});
    }
    std::ranges::stable_sort(off, std::greater<>(), [](const Off& each) {
      return std::abs(each.measured - each.estimated);
    });
    if (off.size() > kMaxNamed) off.resize(kMaxNamed);
    for (const Off& each : off)
      s.rows.push_back({.label = tr("largest error"),
                        .value = times_text(each.measured, each.estimated),
                        .provenance = Provenance::measured,
                        .note = tr("Measured time compared with the current estimate."),
                        .links = {each.node}});
  }

  // The collectives of a profiled run in which ranks waited longest for other ranks.
  void waits() {
    const SkewReport report = collective_skew(graph_, result_.ranks);
    if (report.collectives.empty() || report.collectives.front().skew_ns <= report.clock_error_ns)
      return;
    InspectorSection& s = section(tr("Waiting for other ranks"));
    for (std::size_t i = 0; i < std::min(report.collectives.size(), kMaxNamed); ++i) {
      const CollectiveSkew& skew = report.collectives[i];
      if (skew.skew_ns <= report.clock_error_ns) break;
      s.rows.push_back(
          {.label = i == 0 ? tr("longest wait") : tr("wait"),
           .value = tr("%1 for rank %2, in").arg(time_text(skew.skew_ns)).arg(skew.last_rank),
           .provenance = Provenance::measured,
           .note = tr("From the start of the collective on the first of %1 ranks to its start on "
                      "the last. The communication then took %2. The clocks of the ranks are "
                      "aligned at the ends of collectives, to within %3.")
                       .arg(count_text(skew.spans.size()), time_text(skew.transfer_ns),
                            time_text(report.clock_error_ns)),
           .links = {skew.node}});
    }
  }

  // --- Ranks, GPUs, outputs, notes and settings ---

  void ranks() {
    if (result_.ranks.empty()) return;
    InspectorSection& s = section(tr("Ranks"));
    for (const RankResult& rank : result_.ranks) {
      QStringList figures;
      if (rank.measured) {
        figures << bytes_text(rank.measured->peak_bytes);
        if (!rank.measured->step_ns.empty())
          figures << time_text(summarize(rank.measured->step_ns).median_ns);
      }
      if (rank.status != RankResult::Status::done) {
        figures << to_qstring(to_string(rank.status));
        if (!rank.stage.empty()) figures.back() += tr(" during %1").arg(to_qstring(rank.stage));
      }
      add(s, tr("rank %1").arg(rank.rank), figures.join(QStringLiteral(" · ")),
          rank.started
              ? tr("Process %1 on %2.").arg(rank.started->pid).arg(to_qstring(rank.started->device))
              : to_qstring(rank.reason));
    }
  }

  // The state of each rank's GPU at the end of the measured steps.
  void gpus() {
    const auto has_state = [](const RankResult& rank) {
      return rank.measured && rank.measured->gpu;
    };
    if (std::ranges::none_of(result_.ranks, has_state)) return;
    InspectorSection& s = section(tr("GPUs after the measured steps"));
    constexpr std::int64_t kMilliwatts = 1000;  // per watt
    for (const RankResult& rank : result_.ranks) {
      if (!has_state(rank)) continue;
      const GpuState& gpu = *rank.measured->gpu;
      QString state = tr("%1 of %2 MHz · %3 W · %4 °C")
                          .arg(gpu.sm_mhz)
                          .arg(gpu.max_sm_mhz)
                          .arg(gpu.milliwatts / kMilliwatts)
                          .arg(gpu.celsius);
      for (const std::string& reason : gpu.slowdowns)
        state += QStringLiteral(" · ") + to_qstring(reason);
      for (const QString& fact : uncommon(gpu)) state += QStringLiteral(" · ") + fact;
      QString memory =
          tr("All processes together use %1 of the GPU's memory.").arg(bytes_text(gpu.used_bytes));
      if (gpu.other_bytes)
        memory += tr(" Other processes use %1.").arg(bytes_text(*gpu.other_bytes));
      add(s, tr("rank %1").arg(rank.rank), state, memory);
    }
  }

  // The facts that do not apply to most GPUs: memory errors, other processes, MIG instances.
  static QStringList uncommon(const GpuState& gpu) {
    QStringList facts;
    if (gpu.uncorrected_ecc_errors > 0)
      facts << (gpu.uncorrected_ecc_errors == 1
                    ? tr("1 uncorrected ECC error")
                    : tr("%1 uncorrected ECC errors").arg(gpu.uncorrected_ecc_errors));
    if (gpu.other_processes > 0)
      facts << (gpu.other_processes == 1
                    ? tr("1 other process is using the GPU")
                    : tr("%1 other processes are using the GPU").arg(gpu.other_processes));
    if (gpu.other_bytes && *gpu.other_bytes > 0)
      facts << tr("%1 in other processes").arg(bytes_text(*gpu.other_bytes));
    if (gpu.mig) facts << tr("divided into MIG instances");
    return facts;
  }

  void verified() {
    const auto verified = result_.verified();
    if (!verified) return;
    InspectorSection& s = section(tr("Verified"));
    add(s, tr("against"), to_qstring(verified->against));
    add(s, tr("outputs"),
        tr("%1 compared: %2").arg(count_text(verified->compared), verified_text(verified)));
    if (verified->bitwise || verified->output.empty()) return;
    s.rows.push_back(named(tr("largest error in"), verified->output));
    add(s, tr("element"), count_text(verified->element));
  }

  void notes() {
    const auto notes = result_.notes();
    if (notes.empty()) return;
    InspectorSection& s = section(tr("Notes"));
    for (const std::string& note : notes) add(s, tr("note"), to_qstring(note));
  }

  void asked() {
    const BenchmarkRequest& r = result_.request;
    InspectorSection& s = section(tr("Settings"));
    add(s, tr("iterations"),
        r.warmup == 1 ? tr("%1 after 1 warm-up iteration").arg(r.iterations)
                      : tr("%1 after %2 warm-up iterations").arg(r.iterations).arg(r.warmup));
    add(s, tr("run on"), to_qstring(to_string(r.on)));
    add(s, tr("attention"), to_qstring(to_string(r.attention)));
    add(s, tr("TF32"), to_qstring(to_string(r.tf32)));
    add(s, tr("seed"), QString::number(r.seed));
    add(s, tr("profiled"), r.profile ? tr("yes") : tr("no"));
    if (!r.assumptions.empty()) s.add_code(tr("assumed"), to_qstring(r.assumptions));
    for (InspectorRow& row : s.rows) row.provenance = Provenance::requested;
  }

  const BenchmarkResult& result_;
  const Snapshot& snapshot_;
  const Graph& graph_;
  bool is_of_graph_;
  InspectorContent content_;
};

}  // namespace

InspectorContent describe_benchmark(const BenchmarkResult& result, const Snapshot& snapshot,
                                    bool is_of_graph) {
  return Describer(result, snapshot, is_of_graph).describe();
}

}  // namespace jointer::views
