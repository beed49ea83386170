#include "plugins/hosted/adopt_result.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "core/edit/difference.h"
#include "core/graph/canonical.h"
#include "core/graph/inherited_assumptions.h"
#include "plugins/hosted/signature.h"

namespace jointer {
namespace {

// Copies `custom` and `extra` of all nodes: edits rewrite the JSON of the former, and do not change
// the latter.
void copy_marks(Graph& graph, const Graph& result) {
  for (const NodeId id : result.order()) {
    const Node& from = result.node(id);
    const NodeId found = graph.find(from.part, result.name(id));
    if (!found) continue;
    const auto take = [&](StringId Node::*member) {
      const StringId text = from.*member;
      graph.node(found).*member = text ? graph.intern(result.text(text)) : StringId();
    };
    take(&Node::custom);
    take(&Node::extra);
  }
}

// Adds the process groups that the pass created.
void add_groups(Graph& graph, const Graph& result, PartId part) {
  for (const GroupId id : result.part(part).groups) {
    ProcessGroup group = result.group(id);
    const std::string_view name = result.text(group.name);
    const auto& known = graph.part(part).groups;
    if (std::ranges::any_of(
            known, [&](GroupId each) { return graph.text(graph.group(each).name) == name; }))
      continue;
    for (StringId* text : {&group.name, &group.desc, &group.backend, &group.extra})
      if (*text) *text = graph.intern(result.text(*text));
    graph.part(part).groups.push_back(graph.add_group(std::move(group)));
  }
}

// Applies the edit that turns `given` into `result` to a copy of `graph`. Error: there is no such
// edit.
Result<Graph> edited(const Graph& graph, const Graph& given, const Graph& result) {
  JOINTER_TRY(const Edit edit, difference(given, result));
  Graph copy = graph;
  for (std::size_t part = 0; part < copy.part_count(); ++part)
    add_groups(copy, result, PartId(part));
  if (!edit.changes.empty()) JOINTER_CHECK(apply(copy, edit));
  copy_marks(copy, result);
  if (graph_hash(copy) != graph_hash(result))
    return fail(Error::Kind::run,
                "the returned graph differs from the given one in a way that edits cannot express");
  return copy;
}

// A captured graph may call opaque targets, such as Python functions. A pass may keep and copy such
// calls, but may not add calls of other opaque targets, because these could neither be run nor
// replayed.
Result<void> keep_to_operators(const Graph& given, const Graph& result) {
  std::set<std::string_view> known;
  for (const NodeId id : given.order())
    if (given.op(given.node(id)).is_opaque()) known.insert(given.target(given.node(id)));
  for (const NodeId id : result.order()) {
    const Node& n = result.node(id);
    if (n.kind != NodeKind::call || !result.op(n).is_opaque() || known.contains(result.target(n)))
      continue;
    return fail(Error::Kind::run,
                "node {} of the returned graph calls {}, which is not an operator; a pass may add "
                "only calls of operators",
                result.name(id), result.target(n));
  }
  return {};
}

}  // namespace

Result<void> adopt_result(Graph& graph, const Graph& given, Graph result, PassContext& context) {
  JOINTER_CHECK(keep_signature(given, result));
  JOINTER_CHECK(keep_to_operators(given, result));
  auto by_edits = edited(graph, given, result);
  if (by_edits) {
    graph = *std::move(by_edits);
    return {};
  }
  context.decide("replaced",
                 fmt::format("the result is a new graph: {}", by_edits.error().message));
  JOINTER_CHECK(inherit_assumptions(result, graph));
  graph = std::move(result);
  return {};
}

}  // namespace jointer
