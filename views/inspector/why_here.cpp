#include "views/inspector/why_here.h"

#include <algorithm>

#include "core/policy/decider.h"
#include "views/inspector/inspector_words.h"
#include "views/session/text/number_text.h"
#include "views/session/translation/tr.h"

namespace jointer::views {

using namespace inspector;

namespace {

constexpr std::size_t kMaxRows = 40;

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool sets_policy_of(const SetPolicy& set, const std::string& name) {
  return set.select == name || has(set.nodes, name);
}

// How an edit affects a node; empty if it does not. Only the inverse of the edit names the nodes
// that the edit adds and those that a selector matches.
QString effect_on(const DoneEdit& done, const std::string& name) {
  for (const Change& change : done.edit.changes) {
    if (const auto* move = std::get_if<MoveNodes>(&change); move && has(move->nodes, name))
      return tr("moved");
    if (const auto* replace = std::get_if<ReplaceCall>(&change); replace && replace->node == name)
      return tr("changed");
    if (const auto* set = std::get_if<SetPolicy>(&change); set && sets_policy_of(*set, name))
      return tr("tagged");
  }
  for (const Change& change : done.inverse.changes) {
    if (const auto* remove = std::get_if<RemoveNode>(&change); remove && remove->node == name)
      return tr("added");
    if (const auto* set = std::get_if<SetPolicy>(&change); set && sets_policy_of(*set, name))
      return tr("tagged");
  }
  return {};
}

bool is_search(const QString& by) {
  return decider_of(by.toStdString()) == Decider::search;
}

QString sentence(const QString& text) {
  return text.endsWith(u'.') || text.endsWith(u'!') ? text : text + u'.';
}

}  // namespace

std::vector<EditReason> reasons_for(const EditHistory& history, const Graph& graph, NodeId node) {
  const std::string name = edit_name(graph, node);
  const NodeId made_from = graph.node(node).origin;
  const std::string origin = made_from ? edit_name(graph, made_from) : std::string();
  std::vector<EditReason> reasons;
  for (std::size_t i = history.size(); i-- > 0;) {
    const DoneEdit& done = *history[i];
    const QString by = to_qstring(done.edit.by);
    const std::size_t before = reasons.size();
    for (const Decision& decision : done.edit.decisions) {
      const bool is_own = decision.node == name;
      if (decision.node.empty() || (!is_own && decision.node != origin)) continue;
      reasons.push_back({.edit = i + 1,
                         .by = by,
                         .action = to_qstring(decision.action),
                         .reason = to_qstring(decision.reason),
                         .effect = to_qstring(decision.effect),
                         .about = is_own ? QString() : to_qstring(origin)});
    }
    if (reasons.size() > before) continue;
    const QString what = effect_on(done, name);
    if (what.isEmpty()) continue;
    const bool is_by_pass = !by.isEmpty() && !is_search(by);
    reasons.push_back({.edit = i + 1,
                       .by = by,
                       .action = is_by_pass ? what : to_qstring(done.edit.title),
                       .reason = is_by_pass ? tr("The pass recorded no reason.") : QString()});
  }
  return reasons;
}

QString why_title() {
  return tr("Why is this here?");
}

InspectorSection why_section(const std::vector<EditReason>& reasons) {
  InspectorSection section{why_title(), {}};
  if (reasons.empty()) {
    section.add(
        tr("as opened"), tr("No edit changed this node."), Provenance::captured,
        tr("No edit moved the node, but moves of other nodes may have shifted its position."));
    return section;
  }
  for (std::size_t i = 0; i < std::min(reasons.size(), kMaxRows); ++i) {
    const EditReason& reason = reasons[i];
    QString value = reason.by.isEmpty() ? tr("by you: %1").arg(reason.action)
                    : is_search(reason.by)
                        ? tr("by a search: %1").arg(reason.action)
                        : tr("%1 by %2.").arg(reason.action, reason.by.section(u'{', 0, 0));
    if (!reason.about.isEmpty()) value += tr(" For its origin %1:").arg(reason.about);
    if (!reason.reason.isEmpty()) value += u' ' + sentence(reason.reason);
    if (!reason.effect.isEmpty()) value += tr(" Effect: %1.").arg(reason.effect);
    section.add(tr("edit %1").arg(reason.edit), value, Provenance::computed, reason.by);
  }
  if (reasons.size() > kMaxRows) {
    const std::size_t older = reasons.size() - kMaxRows;
    section.add(tr("not shown"), counted_text(older, tr("1 older reason"), tr("%1 older reasons")));
  }
  return section;
}

}  // namespace jointer::views
