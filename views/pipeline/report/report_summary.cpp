#include "views/pipeline/report/report_summary.h"

#include <QStringList>

#include "views/session/text/number_text.h"
#include "views/session/translation/tr.h"

namespace jointer::views {
namespace {

std::int64_t whole(std::size_t count) {
  return static_cast<std::int64_t>(count);
}

}  // namespace

std::vector<MetricRow> report_rows(std::span<const ReportedStep> steps) {
  const StepFigures &was = steps.front().result->before, &is = steps.back().result->after;
  return {bytes_row(tr("Peak memory"), was.figures.peak_bytes, is.figures.peak_bytes),
          time_row(tr("Exposed"), was.figures.exposed_ns, is.figures.exposed_ns),
          time_row(tr("Step"), was.figures.step_ns, is.figures.step_ns),
          time_row(tr("Communication"), was.communication_ns, is.communication_ns),
          exposed_collectives_row({was.collectives, was.hidden}, {is.collectives, is.hidden}),
          count_row(tr("Collectives"), whole(was.collectives), whole(is.collectives))};
}

QString report_title(std::span<const ReportedStep> steps) {
  if (steps.size() == 1) return to_qstring(steps.front().result->step);
  QStringList names;
  for (const ReportedStep& step : steps) names << to_qstring(step.result->step).section(u'{', 0, 0);
  return tr("%1 steps: %2").arg(count_text(steps.size()), names.join(QStringLiteral(", ")));
}

QString report_effort(std::span<const ReportedStep> steps) {
  std::int64_t ns = 0;
  std::size_t decisions = 0;
  for (const ReportedStep& step : steps) {
    ns += step.result->ns;
    decisions += step.result->decisions.size();
  }
  return tr("took %1 · %2")
      .arg(time_text(ns), counted_text(decisions, tr("1 decision"), tr("%1 decisions")));
}

std::vector<ReportCount> report_counts(const NodeDifferences& differences, std::size_t merged) {
  const GraphDifference& d = differences.difference();
  std::vector<ReportCount> counts;
  const auto add = [&](NodeChange change, const QString& what, std::size_t count) {
    if (count > 0)
      counts.push_back({QString::number(static_cast<int>(change)),
                        QStringLiteral("%1 %2").arg(count_text(count), what)});
  };
  add(NodeChange::moved, tr("moved"), d.moved.size());
  add(NodeChange::added, tr("added"), d.added.size());
  add(NodeChange::removed, tr("removed"), d.removed.size());
  add(NodeChange::changed, tr("changed"), d.changed.size());
  add(NodeChange::retagged, tr("with a changed policy or region"), d.retagged.size());
  if (merged > 0)
    counts.push_back({QStringLiteral("merged"), counted_text(merged, tr("1 collective merged"),
                                                             tr("%1 collectives merged"))});
  return counts;
}

}  // namespace jointer::views
