#include "views/differences/node_differences.h"

#include <QStringList>
#include <algorithm>

#include "core/edit/node_comparer.h"
#include "core/edit/replacements.h"
#include "views/session/text/node_text.h"
#include "views/session/text/number_text.h"
#include "views/session/translation/tr.h"

namespace jointer::views {
namespace {

QString name_of(const Graph& graph, NodeId node) {
  return to_qstring(edit_name(graph, node));
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
  return tr("policy or region changed");
}

Result<NodeDifferences> NodeDifferences::find(std::shared_ptr<const Graph> from,
                                              std::shared_ptr<const Graph> to, Matching matching) {
  if (const auto fits = check_comparable(*from, *to); !fits)
    return fail(fits.error().kind, "{}; compare two pairs or two single graphs",
                fits.error().message);
  NodeMatch match = matching == Matching::closest ? NodeMatch::closest(*from, *to)
                                                  : NodeMatch::by_name(*from, *to);
  return NodeDifferences(std::move(from), std::move(to), std::move(match));
}

NodeDifferences::NodeDifferences(std::shared_ptr<const Graph> from, std::shared_ptr<const Graph> to,
                                 NodeMatch match)
    : from_(std::move(from)),
      to_(std::move(to)),
      match_(std::move(match)),
      from_modules_(*from_),
      to_modules_(*to_),
      difference_(compare_graphs(*from_, *to_, match_)) {
  const Graph &before = *from_, &after = *to_;
  const auto add = [&](NodeChange change, const std::vector<NodeId>& ids) {
    for (const NodeId id : ids) {
      NodeDifference node{.change = change, .node = id};
      if (change == NodeChange::moved)
        if (const NodeId was = match_.in_before(id))
          node.places = static_cast<std::int64_t>(after.position(id)) -
                        static_cast<std::int64_t>(before.position(was));
      nodes_.push_back(node);
    }
  };
  add(NodeChange::moved, difference_.moved);
  add(NodeChange::added, difference_.added);
  add(NodeChange::changed, difference_.changed);
  add(NodeChange::retagged, difference_.retagged);
  std::ranges::stable_sort(nodes_, {}, [&](const auto& each) { return after.position(each.node); });
  add(NodeChange::removed, difference_.removed);
  in_place_of_ = replacements(before, after, difference_);
}

QString NodeDifferences::summary() const {
  if (difference_.empty()) return tr("The nodes and their order are the same.");
  QStringList parts{tr("%1 of %2 moved")
                        .arg(count_text(difference_.moved.size()), nodes_text(difference_.common))};
  const auto add = [&](const QString& what, std::size_t count) {
    if (count > 0) parts << QStringLiteral("%1 %2").arg(count_text(count), what);
  };
  add(tr("added"), difference_.added.size());
  add(tr("removed"), difference_.removed.size());
  add(tr("changed"), difference_.changed.size());
  add(tr("with a changed policy or region"), difference_.retagged.size());
  if (!match_.is_by_name()) parts << tr("nodes matched by structure, since their names differ");
  return parts.join(QStringLiteral(" · "));
}

const Module& NodeDifferences::module_of(const NodeDifference& node) const {
  const ModuleTree& modules = node.change == NodeChange::removed ? from_modules_ : to_modules_;
  return modules.module(modules.of(node.node));
}

QString NodeDifferences::detail(const NodeDifference& node) const {
  const Graph& graph = graph_of(node);
  switch (node.change) {
    case NodeChange::moved:
      return {};
    case NodeChange::added: {
      const NodeId origin = graph.node(node.node).origin;
      return origin ? tr("from %1").arg(name_of(graph, origin)) : QString();
    }
    case NodeChange::removed: {
      const auto found = in_place_of_.find(edit_name(graph, node.node));
      return found == in_place_of_.end() ? QString()
                                         : tr("replaced by %1").arg(name_of(*to_, found->second));
    }
    case NodeChange::changed:
    case NodeChange::retagged:
      break;
  }
  const NodeId was = match_.in_before(node.node);
  if (!was) return {};
  const Node &before = from_->node(was), &after = graph.node(node.node);
  if (node.change == NodeChange::retagged) {
    const auto policy = [](MemoryPolicy of) {
      return of == MemoryPolicy::none ? tr("no policy") : policy_text(of);
    };
    const auto has_region = [](const Node& of) { return of.has(Node::has_ac_graph_id); };
    const bool same_region = has_region(before) == has_region(after) &&
                             (!has_region(after) || before.ac_graph_id == after.ac_graph_id);
    const auto tag = [&](const Node& of) {
      if (same_region) return policy(of.policy);
      return has_region(of) ? tr("%1 in region %2").arg(policy(of.policy)).arg(of.ac_graph_id)
                            : tr("%1 outside any region").arg(policy(of.policy));
    };
    return tr("%1, was %2").arg(tag(after), tag(before));
  }
  const NodeComparer comparer(*from_, graph, &match_);
  if (!comparer.same_target(was, node.node))
    return tr("was %1").arg(to_qstring(from_->target(before)));
  if (!comparer.same_args(was, node.node) || !comparer.same_kwargs(was, node.node))
    return tr("arguments changed");
  QStringList parts;
  for (const DetailDifference& each : comparer.detail_differences(was, node.node))
    parts << tr("%1 %2, was %3")
                 .arg(to_qstring(each.part), to_qstring(each.after), to_qstring(each.before));
  return parts.empty() ? tr("result changed") : parts.join(QStringLiteral("; "));
}

}  // namespace jointer::views
