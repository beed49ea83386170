#include "views/session/edit/metrics.h"

#include <QLocale>
#include <QStringList>
#include <cmath>

#include "views/session/text/number_text.h"
#include "views/session/translation/tr.h"

namespace jointer::views {
namespace {

QString signed_text(std::int64_t difference, const QString& magnitude) {
  if (difference == 0) return QStringLiteral("=");
  return (difference < 0 ? QChar(kMinus) : QChar(u'+')) + magnitude;
}

}  // namespace

Metrics metrics_of(const Graph& graph, const Analysis& analysis) {
  const Simulation& s = analysis.simulation;
  return {.peak_bytes = analysis.memory.peak_bytes(),
          .reserved_bytes = analysis.reserved.peak_bytes,
          .step_ns = s.step_ns(),
          .compute_ns = s.compute_ns(),
          .communication_ns = s.communication_ns(),
          .exposed_ns = s.exposed_ns(),
          .hidden = s.hidden_count(),
          .collectives = s.collective_count(),
          .nodes = graph.order().size()};
}

bool same_options(const AnalysisOptions& x, const AnalysisOptions& y) {
  return x.estimator.name == y.estimator.name && x.estimator.device == y.estimator.device &&
         x.estimator.gpus_per_node == y.estimator.gpus_per_node &&
         x.estimator.costs == y.estimator.costs && x.memory == y.memory &&
         x.execution == y.execution &&
         x.simulation.one_communication_stream == y.simulation.one_communication_stream;
}

bool same_estimates(const Snapshot& a, const Snapshot& b) {
  const Assumptions &s = a.graph.assumptions(), &t = b.graph.assumptions();
  return same_options(a.analysis.options, b.analysis.options) && s.fallback == t.fallback &&
         s.named == t.named;
}

std::optional<std::int64_t> move_limit(const Snapshot& now, const Snapshot& baseline) {
  if (now.analysis.compiled) return std::nullopt;
  return baseline.analysis.memory.peak_bytes();
}

QString plan_text(std::int64_t peak_bytes, std::optional<std::int64_t> reserved_bytes,
                  std::int64_t step_ns) {
  QStringList parts{tr("peak %1").arg(bytes_text(peak_bytes))};
  if (reserved_bytes) parts << tr("reserved %1").arg(bytes_text(*reserved_bytes));
  parts << tr("step %1").arg(time_text(step_ns));
  return parts.join(QStringLiteral(", "));
}

QString bytes_difference_text(std::int64_t from, std::int64_t to) {
  return signed_text(to - from, bytes_text(std::abs(to - from)));
}

QString time_difference_text(std::int64_t from, std::int64_t to) {
  return signed_text(to - from, time_text(std::abs(to - from)));
}

QString count_difference_text(std::int64_t from, std::int64_t to) {
  return signed_text(to - from, count_text(std::abs(to - from)));
}

QString share_difference_text(std::int64_t from, std::int64_t to) {
  if (from == 0 || from == to) return {};
  const double percent = 100 * static_cast<double>(to - from) / static_cast<double>(std::abs(from));
  const int decimals = std::fabs(percent) < 1 ? 2 : 1;
  const QString magnitude = QLocale::c().toString(std::fabs(percent), 'f', decimals);
  return signed_text(to - from, magnitude + QStringLiteral("%"));
}

QString figures_difference_text(const Figures& from, const Figures& to) {
  QStringList parts;
  if (from.peak_bytes != to.peak_bytes)
    parts << tr("peak %1").arg(bytes_difference_text(from.peak_bytes, to.peak_bytes));
  if (from.exposed_ns != to.exposed_ns)
    parts << tr("exposed %1").arg(time_difference_text(from.exposed_ns, to.exposed_ns));
  if (from.step_ns != to.step_ns)
    parts << tr("step %1").arg(time_difference_text(from.step_ns, to.step_ns));
  return parts.isEmpty() ? tr("no change") : parts.join(QStringLiteral(" · "));
}

}  // namespace jointer::views
