#include "views/session/text/measured_text.h"

#include "core/bench/reached_rates.h"
#include "views/session/text/node_text.h"
#include "views/session/text/number_text.h"
#include "views/session/text/range_text.h"
#include "views/session/translation/tr.h"

namespace jointer::views {
namespace {

QString comparison_text(const QString& measured, const QString& estimated, const QString& ratio) {
  const QString both = tr("measured %1 · estimated %2").arg(measured, estimated);
  return ratio.isEmpty() ? both : both + QStringLiteral(" (%1)").arg(ratio);
}

// Shortens the name, since those of some kernels have hundreds of template arguments.
QString kernel_name_text(const std::string& name) {
  constexpr qsizetype kMaxLength = 240;
  const QString text = to_qstring(name);
  return text.size() <= kMaxLength ? text : text.left(kMaxLength - 1) + u'…';
}

// The rates that a kernel reached, or those of its node if that launched several kernels, which
// share the node's work; empty if they are not known.
QString kernel_rates_text(const Snapshot& snapshot, const MeasuredTimeline& measured,
                          const NodeKernel& kernel) {
  const auto rates = [&](std::int64_t ns) {
    return to_qstring(
        reached_rates(snapshot.graph, snapshot.analysis, measured.measurement(), kernel.node, ns));
  };
  const std::size_t count = measured.kernels_of(kernel.node).size();
  if (count == 1) {
    const QString reached = rates(kernel.end_ns - kernel.start_ns);
    return reached.isEmpty() ? QString() : tr("reached %1").arg(reached);
  }
  const MeasuredNode* node = measured.find(kernel.node);
  const std::optional<std::int64_t> ns =
      node == nullptr ? std::nullopt : measured_ns(snapshot, *node);
  const QString reached = ns ? rates(*ns) : QString();
  return reached.isEmpty() ? QString()
                           : tr("the node's %1 kernels reached %2").arg(count_text(count), reached);
}

}  // namespace

QString ratio_text(std::int64_t measured, std::int64_t estimated) {
  if (estimated <= 0) return {};
  return to_qstring(
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
  const QString label = to_qstring(measurement.label);
  if (measurement.device.empty()) return label;
  return tr("%1, on %2").arg(label, to_qstring(measurement.device));
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
  for (const NodeId node : running_nodes(block, snapshot.graph, snapshot.analysis))
    if (!snapshot.graph.is_asynchronous(snapshot.graph.node(node)))
      ns += estimated_ns(snapshot, node);
  return ns;
}

QString block_text(const MeasuredBlock& block) {
  return tr("compiled %1, %2").arg(to_qstring(block.name), nodes_text(block.nodes.size()));
}

QStringList measured_lines(const Snapshot& snapshot, const MeasuredTimeline& measured,
                           NodeId node) {
  QStringList lines;
  const QString label = to_qstring(measured.measurement().label);
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

QStringList kernel_lines(const Snapshot& snapshot, const MeasuredTimeline& measured,
                         std::size_t kernel) {
  const NodeKernel& k = measured.measurement().kernels[kernel];
  QStringList lines{
      kernel_name_text(k.name),
      tr("measured %1 on stream %2").arg(time_text(k.end_ns - k.start_ns)).arg(k.stream)};
  if (const MeasuredBlock* block = measured.block_of(k.node))
    lines << tr("launched by %1").arg(block_text(*block));
  else
    lines << tr("launched by %1, %2")
                 .arg(to_qstring(snapshot.graph.name(k.node)),
                      to_qstring(snapshot.graph.target(snapshot.graph.node(k.node))));
  lines << tr("ran from %1 (%2)")
               .arg(time_range_text(k.start_ns, k.end_ns),
                    to_qstring(measured.measurement().label));
  const QString rates =
      measured.block_of(k.node) == nullptr ? kernel_rates_text(snapshot, measured, k) : QString();
  return rates.isEmpty() ? lines : lines << rates;
}

}  // namespace jointer::views
