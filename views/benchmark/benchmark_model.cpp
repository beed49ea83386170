#include "views/benchmark/benchmark_model.h"

#include <cmath>

#include "views/session/benchmark/benchmark_text.h"
#include "views/session/text/node_text.h"
#include "views/session/text/number_text.h"
#include "views/session/text/range_text.h"

namespace jointer::views {
namespace {

std::optional<std::int64_t> times(std::optional<double> number, double factor) {
  return number && std::isfinite(*number)
             ? std::optional<std::int64_t>(std::llround(*number * factor))
             : std::nullopt;
}

}  // namespace

BenchmarkModel::BenchmarkModel(QObject* parent)
    : TableModel({tr("1 benchmark"), tr("%1 benchmarks")}, parent) {
  set_columns({
      {.title = tr("started"), .meaning = tr("Start time of the run.")},
      {.title = tr("step"),
       .unit = Unit::time,
       .meaning = tr("Measured step time: the median of the iterations on the slowest rank.")},
      {.title = tr("Δ step"),
       .unit = Unit::change,
       .meaning = tr("Deviation of the measured step time from the prediction.")},
      {.title = tr("peak"),
       .unit = Unit::bytes,
       .meaning = tr("Maximum allocated memory, measured on the rank with the highest peak.")},
      {.title = tr("Δ peak"),
       .unit = Unit::change,
       .meaning = tr("Deviation of the measured peak from the prediction.")},
      {.title = tr("status"), .meaning = tr("Result of the run."), .max_width = 150},
      {.title = tr("backend"), .meaning = tr("Backend that ran the graph.")},
      {.title = tr("ranks"),
       .meaning =
           tr("Number of ranks, or the only rank that ran. If only one of several ran, local "
              "copies replaced collectives.")},
      {.title = tr("≈ step"),
       .unit = Unit::time,
       .meaning = tr("Step time predicted at the time of the run.")},
      {.title = tr("≈ peak"),
       .unit = Unit::bytes,
       .meaning = tr("Peak memory predicted at the time of the run.")},
      {.title = tr("tokens/s"),
       .unit = Unit::thousandths,
       .meaning =
           tr("Throughput per device: local tokens per step divided by the measured step time and "
              "by the product of the tensor, context and pipeline parallel degrees.")},
      {.title = tr("TFLOP/s"),
       .unit = Unit::thousandths,
       .meaning =
           tr("Model FLOPs per device divided by the measured step time; recomputation is not "
              "counted.")},
      {.title = tr("MFU"),
       .unit = Unit::fraction,
       .meaning = tr("Model FLOPs per second divided by the dense bf16 peak of the device that the "
                     "estimate assumes.")},
      {.title = tr("verified"),
       .meaning = tr("Comparison of the outputs with those of the unedited graph, on the rank with "
                     "the worst result.")},
      {.title = tr("device"), .meaning = tr("Device that ran the graph, as the ranks report it.")},
  });
}

void BenchmarkModel::set_rows_of(SnapshotPtr snapshot, std::vector<BenchmarkRow> rows) {
  begin_rows();
  snapshot_ = std::move(snapshot);
  rows_ = std::move(rows);
  set_rows(std::vector<int>(rows_.size(), -1));
}

std::optional<std::int64_t> BenchmarkModel::number(int row, int column) const {
  const BenchmarkResult& r = result(row);
  const std::optional<std::int64_t> step = r.step ? std::optional(r.step->median_ns) : std::nullopt;
  switch (column) {
    case predicted_peak_column:
      return r.predicted.peak_bytes;
    case peak_column:
      return r.peak_bytes;
    case peak_change_column:
      return change_of(r.peak_bytes, r.predicted.peak_bytes);
    case predicted_step_column:
      return r.predicted.step_ns;
    case step_column:
      return step;
    case step_change_column:
      return change_of(step, r.predicted.step_ns);
    case tokens_column:
      return times(r.throughput.tokens_per_second, 1000);
    case tflops_column:
      return times(r.throughput.tflops, 1000);
    case mfu_column:
      return times(r.throughput.mfu, kPartsPerOne);
    default:
      return std::nullopt;
  }
}

QString BenchmarkModel::text(int row, int column) const {
  const BenchmarkResult& r = result(row);
  switch (column) {
    case when_column:
      return when_text(r);
    case backend_column:
      return to_qstring(to_string(r.request.backend));
    case ranks_column:
      return ranks_text(r);
    case device_column:
      return to_qstring(r.device());
    case verified_column:
      return verified_text(r.verified());
    case status_column:
      return status_text(r);
    default:
      return {};
  }
}

QString BenchmarkModel::note(int row, int column) const {
  const BenchmarkResult& r = result(row);
  switch (column) {
    case peak_column:
      return r.reserved_peak_bytes && *r.reserved_peak_bytes > 0
                 ? tr("Reserved on the device: %1").arg(bytes_text(*r.reserved_peak_bytes))
                 : QString();
    case step_column:
      if (!r.step) return {};
      return r.request.iterations == 1 ? tr("1 iteration only")
                                       : tr("%1 over %2 iterations")
                                             .arg(time_range_text(r.step->min_ns, r.step->max_ns))
                                             .arg(r.request.iterations);
    case predicted_peak_column:
    case predicted_step_column:
      return to_qstring(r.predicted.estimator);
    default:
      return {};
  }
}

bool BenchmarkModel::is_alarm(int row) const {
  return is_failure(result(row));
}

std::vector<NodeId> BenchmarkModel::nodes(int row) const {
  const RankResult* culprit = result(row).culprit();
  if (culprit == nullptr || culprit->node.empty() || !snapshot_) return {};
  const NodeId node = snapshot_->graph.find(culprit->node);
  return node ? std::vector{node} : std::vector<NodeId>();
}

}  // namespace jointer::views
