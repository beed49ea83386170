#include "core/policy/tag_edit.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/characters.h"
#include "core/base/json_text.h"
#include "core/edit/refuse.h"
#include "core/edit/select.h"
#include "core/edit/tag_list.h"
#include "core/policy/python_operator.h"

namespace jointer {
namespace {

// True for a word that a pipeline reads as a string without quotes, not as none, a boolean or a
// number (value_of_word in core/pass/pipeline_text.h).
bool is_plain_text(std::string_view text) {
  return is_word(text) && is_name_start(text.front()) && text != "none" && text != "true" &&
         text != "false";
}

}  // namespace

Result<void> check_taggable(const Graph& graph) {
  if (graph.is_pair())
    return refuse(
        "tags decide how a partitioner splits a graph, but this graph is already a pair; tag the "
        "joint graph");
  return {};
}

std::size_t TagPlan::count(MemoryPolicy policy) const {
  return static_cast<std::size_t>(std::count_if(
      tags_.begin(), tags_.end(), [&](const auto& tag) { return tag && tag->policy == policy; }));
}

std::vector<Change> TagPlan::changes() const {
  TagList list;
  for (const NodeId id : graph_.order()) {
    const auto& tag = tags_[id.index()];
    if (!tag) continue;
    const Node& n = graph_.node(id);
    if (n.policy == tag->policy && n.has(Node::has_ac_graph_id) && n.ac_graph_id == tag->region)
      continue;
    list.add(edit_name(graph_, id),
             {tag->policy, {.kind = RegionChange::Kind::set, .id = tag->region}});
  }
  return list.take();
}

std::vector<bool> calls_of(const Graph& graph, std::span<const std::string_view> ops) {
  std::vector<bool> matches(graph.operator_count(), false);
  for (std::size_t i = 0; i < matches.size(); ++i) {
    const OperatorInfo& op = graph.op(OperatorId(i));
    matches[i] = std::ranges::any_of(
        ops, [&](std::string_view name) { return name == op.name || name == op.packet(); });
  }
  std::vector<bool> found(graph.node_count(), false);
  for (const NodeId id : graph.order()) {
    const Node& n = graph.node(id);
    found[id.index()] = n.kind == NodeKind::call && matches[n.target.index()];
  }
  return found;
}

Result<std::vector<bool>> selected_by(const Graph& graph, std::span<const std::string> selectors) {
  std::vector<bool> found(graph.node_count(), false);
  for (const std::string& selector : selectors) {
    JOINTER_TRY(const std::vector<NodeId> nodes, select(graph, captured_operator(selector)));
    for (const NodeId id : nodes) found[id.index()] = true;
  }
  return found;
}

std::string pipeline_list(std::span<const std::string> texts) {
  std::string out = "[";
  for (const std::string& text : texts) {
    if (out.size() > 1) out += ',';
    out += is_plain_text(text) ? text : write_json(text);
  }
  return out + "]";
}

}  // namespace jointer
