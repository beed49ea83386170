#include "views/session/text/measured_text.h"

#include "views/session/text/number_text.h"
#include "views/session/text/range_text.h"
#include "views/session/translation/tr.h"

namespace jointer::views {
namespace {

QString comparison_text(const QString& measured, const QString& estimated, const QString& ratio) {
  const QString both = tr("measured %1 · estimated %2").arg(measured, estimated);
  return ratio.isEmpty() ? both : both + QStringLiteral(" (%1)").arg(ratio);
}

}  // namespace

QString ratio_text(std::int64_t measured, std::int64_t estimated) {
  if (estimated <= 0) return {};
  return QString::fromStdString(
             format_significant(static_cast<double>(measured) / static_cast<double>(estimated))) +
         QStringLiteral(" ×");
}

QString times_text(std::int64_t measured, std::int64_t estimated) {
  return comparison_text(time_text(measured), time_text(estimated),
                         ratio_text(measured, estimated));
}

QString measured_bytes_text(std::int64_t measured, std::int64_t estimated) {
  return comparison_text(bytes_text(measured), bytes_text(estimated),
                         ratio_text(measured, estimated));
}

QString measurement_text(const Measurement& measurement) {
  const QString label = QString::fromStdString(measurement.label);
  if (measurement.device.empty()) return label;
  return tr("%1, on %2").arg(label, QString::fromStdString(measurement.device));
}

std::int64_t estimated_ns(const Snapshot& snapshot, NodeId node) {
  if (snapshot.graph.is_wait(snapshot.graph.node(node))) {
    const NodeTiming& timing = snapshot.analysis.simulation.timing(node);
    return timing.end - timing.start;
  }
  return snapshot.analysis.costs[node.index()].ns;
}

std::optional<std::int64_t> measured_ns(const Snapshot& snapshot, const MeasuredNode& node) {
  if (snapshot.graph.is_wait(snapshot.graph.node(node.node))) return node.end_ns - node.start_ns;
  return node.own_ns < 0 ? std::nullopt : std::optional(node.own_ns);
}

std::int64_t estimated_ns(const Snapshot& snapshot, const MeasuredBlock& block) {
  std::int64_t ns = 0;
  for (const NodeId node : block.nodes)
    if (!snapshot.graph.is_asynchronous(snapshot.graph.node(node)))
      ns += estimated_ns(snapshot, node);
  return ns;
}

QString block_text(const MeasuredBlock& block) {
  return tr("compiled %1, %2")
      .arg(QString::fromStdString(block.name), nodes_text(block.nodes.size()));
}

QStringList measured_lines(const Snapshot& snapshot, const MeasuredTimeline& measured,
                           NodeId node) {
  QStringList lines;
  const QString label = QString::fromStdString(measured.measurement().label);
  if (const MeasuredBlock* block = measured.block_of(node))
    return lines
           << block_text(*block)
           << tr("run alone: %1").arg(times_text(block->own_ns, estimated_ns(snapshot, *block)))
           << tr("ran from %1 in the profiled step (%2)")
                  .arg(time_range_text(block->start_ns, block->end_ns), label)
           << tr("peak memory %1").arg(bytes_text(block->peak_bytes))
           << tr("compiled: nodes were not timed individually");
  const MeasuredNode* m = measured.find(node);
  if (m == nullptr) return {};
  const std::optional<std::int64_t> ns = measured_ns(snapshot, *m);
  lines << (ns ? times_text(*ns, estimated_ns(snapshot, node)) : tr("measured duration unknown"));
  lines << tr("ran from %1 (%2)").arg(time_range_text(m->start_ns, m->end_ns), label);
  return lines;
}

}  // namespace jointer::views
