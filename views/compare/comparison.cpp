#include "views/compare/comparison.h"

#include <QCoreApplication>
#include <QStringList>
#include <algorithm>

#include "views/document/node_text.h"
#include "views/document/number_text.h"

namespace jointer::views {
namespace {

constexpr std::size_t kMostNodesInText = 200;

QString tr(const char* text) {
  return QCoreApplication::translate("Comparison", text);
}

QString whole(std::int64_t value) {
  return count_text(value);
}

QString joined(const QStringList& cells, const QString& between) {
  return cells.join(between);
}

}  // namespace

QString change_text(NodeChange change) {
  switch (change) {
    case NodeChange::moved:
      return tr("moved");
    case NodeChange::added:
      return tr("added");
    case NodeChange::removed:
      return tr("removed");
    case NodeChange::changed:
      return tr("changed");
    case NodeChange::retagged:
      break;
  }
  return tr("other policy");
}

const Graph& Comparison::graph_of(const NodeDifference& node) const {
  return node.change == NodeChange::removed ? from.snapshot->graph : to.snapshot->graph;
}

QString Comparison::summary() const {
  if (difference.empty()) return tr("The same nodes in the same order.");
  QStringList parts{
      tr("moved %1 of %2").arg(count_text(difference.moved.size()), count_text(difference.common))};
  const auto add = [&](const QString& what, std::size_t count) {
    if (count > 0) parts << QStringLiteral("%1 %2").arg(what, count_text(count));
  };
  add(tr("added"), difference.added.size());
  add(tr("removed"), difference.removed.size());
  add(tr("changed"), difference.changed.size());
  add(tr("other policies"), difference.retagged.size());
  return parts.join(QStringLiteral(" · "));
}

Result<Comparison> compare_states(ComparedState from, ComparedState to) {
  const Graph &before = from.snapshot->graph, &after = to.snapshot->graph;
  JOINTER_TRY(GraphDifference difference, compare_graphs(before, after));
  std::vector<NodeDifference> nodes;
  const auto add = [&](NodeChange change, const std::vector<NodeId>& ids) {
    for (const NodeId id : ids) {
      NodeDifference node{.change = change, .node = id};
      if (change == NodeChange::moved)
        if (const NodeId was = before.find(edit_name(after, id)))
          node.places = static_cast<std::int64_t>(after.position(id)) -
                        static_cast<std::int64_t>(before.position(was));
      nodes.push_back(node);
    }
  };
  add(NodeChange::moved, difference.moved);
  add(NodeChange::added, difference.added);
  add(NodeChange::changed, difference.changed);
  add(NodeChange::retagged, difference.retagged);
  std::stable_sort(nodes.begin(), nodes.end(), [&](const auto& a, const auto& b) {
    return after.position(a.node) < after.position(b.node);
  });
  add(NodeChange::removed, difference.removed);
  return Comparison{std::move(from), std::move(to), std::move(difference), std::move(nodes)};
}

std::vector<MetricRow> metric_rows(const Comparison& comparison) {
  const Snapshot &a = *comparison.from.snapshot, &b = *comparison.to.snapshot;
  const Metrics was = metrics_of(a.graph, a.analysis), is = metrics_of(b.graph, b.analysis);
  std::vector<MetricRow> rows;
  const auto add = [&](const QString& name, std::int64_t from, std::int64_t to, auto text,
                       auto difference) {
    rows.push_back({name, text(from), text(to), difference(from, to),
                    share_difference_text(from, to), to - from});
  };
  const auto bytes = [&](const QString& name, std::int64_t Metrics::*value) {
    add(name, was.*value, is.*value, bytes_text, bytes_difference_text);
  };
  const auto time = [&](const QString& name, std::int64_t Metrics::*value) {
    add(name, was.*value, is.*value, time_text, time_difference_text);
  };
  const auto count = [&](const QString& name, std::size_t Metrics::*value) {
    add(name, static_cast<std::int64_t>(was.*value), static_cast<std::int64_t>(is.*value), whole,
        count_difference_text);
  };
  bytes(tr("Peak memory"), &Metrics::peak_bytes);
  if (a.graph.main_device() == DeviceType::cuda) bytes(tr("Reserved"), &Metrics::reserved_bytes);
  time(tr("Step"), &Metrics::step_ns);
  time(tr("Compute"), &Metrics::compute_ns);
  time(tr("Communication"), &Metrics::communication_ns);
  time(tr("Exposed"), &Metrics::exposed_ns);
  count(tr("Hidden collectives"), &Metrics::hidden);
  count(tr("Collectives"), &Metrics::collectives);
  count(tr("Nodes"), &Metrics::nodes);
  return rows;
}

namespace {

// Both texts: rows of cells, a heading where there is one.
template <class Line>
void add_metrics(const Comparison& comparison, Line line) {
  for (const MetricRow& row : metric_rows(comparison))
    line(QStringList{row.name, row.from, row.to, row.difference, row.share});
}

template <class Line>
void add_nodes(const Comparison& comparison, std::size_t most, Line line) {
  for (std::size_t i = 0; i < std::min(most, comparison.nodes.size()); ++i) {
    const NodeDifference& node = comparison.nodes[i];
    const Graph& graph = comparison.graph_of(node);
    line(QStringList{change_text(node.change), to_qstring(graph.name(node.node)),
                     to_qstring(graph.target(graph.node(node.node))),
                     node.change == NodeChange::moved ? QString::number(node.places) : QString()});
  }
}

}  // namespace

QString comparison_markdown(const Comparison& comparison) {
  QString text = QStringLiteral("| | %1 | %2 | difference | |\n|---|---:|---:|---:|---:|\n")
                     .arg(comparison.from.name, comparison.to.name);
  const auto line = [&](const QStringList& cells) {
    text += QStringLiteral("| ") + joined(cells, QStringLiteral(" | ")) + QStringLiteral(" |\n");
  };
  add_metrics(comparison, line);
  text += QStringLiteral("\n%1\n").arg(comparison.summary());
  if (comparison.nodes.empty()) return text;
  text += tr("\n| change | node | operator | places |\n|---|---|---|---:|\n");
  add_nodes(comparison, kMostNodesInText, line);
  if (comparison.nodes.size() > kMostNodesInText)
    text += tr("\n… and %1 more\n").arg(count_text(comparison.nodes.size() - kMostNodesInText));
  return text;
}

QString comparison_tsv(const Comparison& comparison) {
  QString text = joined({tr("figure"), comparison.from.name, comparison.to.name, tr("difference"),
                         tr("share")},
                        QStringLiteral("\t")) +
                 u'\n';
  const auto line = [&](const QStringList& cells) {
    text += joined(cells, QStringLiteral("\t")) + u'\n';
  };
  add_metrics(comparison, line);
  text += u'\n';
  line({tr("change"), tr("node"), tr("operator"), tr("places")});
  add_nodes(comparison, comparison.nodes.size(), line);
  return text;
}

}  // namespace jointer::views
