#include "views/compare/comparison.h"

#include <QStringList>
#include <algorithm>

#include "views/session/text/node_text.h"
#include "views/session/text/number_text.h"
#include "views/session/translation/tr.h"

namespace jointer::views {
namespace {

constexpr std::size_t kMaxNodesInText = 200;

QString joined(const QStringList& cells, const QString& between) {
  return cells.join(between);
}

}  // namespace

Result<Comparison> compare_states(ComparedState from, ComparedState to, Matching matching) {
  const auto graph_of = [](const SnapshotPtr& snapshot) {
    return std::shared_ptr<const Graph>(snapshot, &snapshot->graph);
  };
  JOINTER_TRY(NodeDifferences nodes,
              NodeDifferences::find(graph_of(from.snapshot), graph_of(to.snapshot), matching));
  return Comparison{std::move(from),
                    std::move(to),
                    std::make_shared<const NodeDifferences>(std::move(nodes)),
                    {}};
}

namespace {

void add_plan_rows(const Comparison& comparison, std::vector<MetricRow>& rows) {
  if (!comparison.plan) return;
  const PlanFigures &was = comparison.plan->from, &is = comparison.plan->to;
  const SacKind kind = sac_kind(comparison.to.snapshot->graph);
  const QString group = kind == SacKind::joint  ? tr("As partitioned")
                        : kind == SacKind::step ? tr("With tags applied")
                                                : tr("Plan");
  const auto add = [&](MetricRow row) {
    row.group = group;
    rows.push_back(std::move(row));
  };
  // The peak and the times of a pair's plan are those of the pair, in the rows that follow.
  if (kind != SacKind::partitioned) {
    add(bytes_row(tr("peak memory"), was.figures.peak_bytes, is.figures.peak_bytes));
    add(time_row(tr("step"), was.figures.step_ns, is.figures.step_ns));
    add(time_row(tr("exposed"), was.figures.exposed_ns, is.figures.exposed_ns));
  }
  add(bytes_row(tr("saved"), was.saved_bytes, is.saved_bytes));
  add(bytes_row(tr("on the host"), was.offloaded_bytes, is.offloaded_bytes));
  add(time_row(tr("recomputed"), was.recompute_ns, is.recompute_ns));
}

}  // namespace

std::vector<MetricRow> metric_rows(const Comparison& comparison) {
  const Snapshot &a = *comparison.from.snapshot, &b = *comparison.to.snapshot;
  const Metrics was = metrics_of(a.graph, a.analysis), is = metrics_of(b.graph, b.analysis);
  std::vector<MetricRow> rows;
  add_plan_rows(comparison, rows);
  const auto bytes = [&](const QString& name, std::int64_t Metrics::*value) {
    rows.push_back(bytes_row(name, was.*value, is.*value));
  };
  const auto time = [&](const QString& name, std::int64_t Metrics::*value) {
    rows.push_back(time_row(name, was.*value, is.*value));
  };
  const auto count = [&](const QString& name, std::size_t Metrics::*value) {
    rows.push_back(count_row(name, static_cast<std::int64_t>(was.*value),
                             static_cast<std::int64_t>(is.*value)));
  };
  bytes(tr("Peak memory"), &Metrics::peak_bytes);
  time(tr("Step"), &Metrics::step_ns);
  time(tr("Exposed"), &Metrics::exposed_ns);
  time(tr("Compute"), &Metrics::compute_ns);
  time(tr("Communication"), &Metrics::communication_ns);
  if (a.graph.main_device() == DeviceType::cuda) bytes(tr("Reserved"), &Metrics::reserved_bytes);
  rows.push_back(
      exposed_collectives_row({was.collectives, was.hidden}, {is.collectives, is.hidden}));
  count(tr("Collectives"), &Metrics::collectives);
  count(tr("Nodes"), &Metrics::nodes);
  return rows;
}

namespace {

// `line` formats a row of cells and adds it to the text.
template <class Line>
void add_metrics(const Comparison& comparison, Line line) {
  for (const MetricRow& row : metric_rows(comparison))
    line(QStringList{row.whole_name(), row.from, row.to, row.difference, row.share});
}

template <class Line>
void add_values(const Comparison& comparison, std::size_t max_rows, Line line) {
  const std::vector<PlanChangeRow>& rows = comparison.plan->difference.rows;
  for (std::size_t i = 0; i < std::min(max_rows, rows.size()); ++i)
    line(QStringList{transition_text(rows[i]), to_qstring(rows[i].name), to_qstring(rows[i].target),
                     bytes_difference_text(0, rows[i].change.saved_bytes),
                     bytes_difference_text(0, rows[i].change.offloaded_bytes),
                     time_difference_text(0, rows[i].change.recompute_ns)});
}

template <class Line>
void add_nodes(const Comparison& comparison, std::size_t max_rows, Line line) {
  const std::vector<NodeDifference>& nodes = comparison.nodes->nodes();
  for (std::size_t i = 0; i < std::min(max_rows, nodes.size()); ++i) {
    const NodeDifference& node = nodes[i];
    const Graph& graph = comparison.nodes->graph_of(node);
    line(QStringList{change_text(node.change), to_qstring(graph.name(node.node)),
                     to_qstring(graph.target(graph.node(node.node))),
                     node.change == NodeChange::moved ? QString::number(node.places) : QString()});
  }
}

void add_rest(std::size_t count, QString& text) {
  if (count > kMaxNodesInText)
    text += tr("\n… and %1 more\n").arg(count_text(count - kMaxNodesInText));
}

}  // namespace

QString comparison_markdown(const Comparison& comparison) {
  QString text = QStringLiteral("| | %1 | %2 | difference | |\n|---|---:|---:|---:|---:|\n")
                     .arg(comparison.from.name, comparison.to.name);
  const auto line = [&](const QStringList& cells) {
    text += QStringLiteral("| ") + joined(cells, QStringLiteral(" | ")) + QStringLiteral(" |\n");
  };
  add_metrics(comparison, line);
  if (comparison.plan) {
    text += QStringLiteral("\n%1\n").arg(summary_text(*comparison.plan));
    text +=
        tr("\n| change | value | operator | Δ saved | Δ host | Δ recompute |\n"
           "|---|---|---|---:|---:|---:|\n");
    add_values(comparison, kMaxNodesInText, line);
    add_rest(comparison.plan->difference.rows.size(), text);
  }
  text += QStringLiteral("\n%1\n").arg(comparison.nodes->summary());
  const std::size_t count = comparison.nodes->nodes().size();
  if (count == 0) return text;
  text += tr("\n| change | node | operator | shift |\n|---|---|---|---:|\n");
  add_nodes(comparison, kMaxNodesInText, line);
  add_rest(count, text);
  return text;
}

QString comparison_tsv(const Comparison& comparison) {
  QString text = joined({tr("metric"), comparison.from.name, comparison.to.name, tr("difference"),
                         tr("relative difference")},
                        QStringLiteral("\t")) +
                 u'\n';
  const auto line = [&](const QStringList& cells) {
    text += joined(cells, QStringLiteral("\t")) + u'\n';
  };
  add_metrics(comparison, line);
  text += u'\n';
  if (comparison.plan) {
    line({tr("change"), tr("value"), tr("operator"), tr("Δ saved"), tr("Δ host"),
          tr("Δ recompute")});
    add_values(comparison, comparison.plan->difference.rows.size(), line);
    text += u'\n';
  }
  line({tr("change"), tr("node"), tr("operator"), tr("shift")});
  add_nodes(comparison, comparison.nodes->nodes().size(), line);
  return text;
}

}  // namespace jointer::views
