#include "core/edit/recipe.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "core/edit/half_name.h"
#include "core/edit/rank_names.h"
#include "core/graph/canonical.h"
#include "core/graph/fingerprint.h"

namespace jointer {
namespace {

// Collects the names and selectors of the nodes that changes refer to, as edits write them.
struct NameCollector {
  std::set<std::string> names;
  std::set<std::string> listed;  // nodes listed in policy changes

  void operator()(const MoveNodes& move) {
    names.insert(move.nodes.begin(), move.nodes.end());
    names.insert(move.before);
  }
  void operator()(const SetPolicy& set) {
    if (set.nodes.empty())
      names.insert(set.select);
    else
      listed.insert(set.nodes.begin(), set.nodes.end());
  }
  void operator()(const InsertNode& insert) {
    names.insert(insert.before);
    // On another rank, the constants of these nodes decide whether the insertion fits.
    for (std::string& name : std::array{insert.copied(), insert.like()})
      if (!name.empty()) names.insert(std::move(name));
  }
  void operator()(const RemoveNode& remove) { names.insert(remove.node); }
  void operator()(const ReplaceCall& replace) { names.insert(replace.node); }
  void operator()(const RestoreNode&) {}
  void operator()(const RestoreCall&) {}
};

std::string_view key_of(const Graph& graph, PartId part) {
  if (!graph.is_pair()) return "graph";
  return part.index() == 0 ? "forward" : "backward";
}

// Finds the halves that the edits refer to; a pattern without a half refers to both. If the edits
// name no node, returns all halves, so that the recipe still applies to this graph only.
std::vector<bool> edited_parts(const Graph& graph, const std::set<std::string>& names) {
  std::vector<bool> edited(graph.part_count(), names.empty());
  for (const std::string& name : names) {
    if (const NodeId id = graph.find(name)) {
      edited[graph.node(id).part.index()] = true;
      continue;
    }
    if (graph.is_pair()) {
      const std::string_view half = split_half(name).prefix;
      const bool is_of_both = half.empty() && name.find('.') != std::string::npos;
      if (half == kBackward || is_of_both) edited[1] = true;
      if (half != kBackward || is_of_both) edited[0] = true;
    } else {
      edited[0] = true;
    }
  }
  return edited;
}

// True if the edits may contain names of process groups or devices.
bool hold_calls(const std::vector<Edit>& edits) {
  return std::ranges::any_of(edits, [](const Edit& edit) {
    return std::ranges::any_of(edit.changes, [](const Change& change) {
      const auto* replace = std::get_if<ReplaceCall>(&change);
      return std::holds_alternative<InsertNode>(change) ||
             (replace != nullptr && replace->is_of_call());
    });
  });
}

}  // namespace

Recipe make_recipe(const Graph& before, const Graph& after, std::vector<Edit> edits,
                   std::string name) {
  NameCollector collector;
  for (const Edit& edit : edits)
    for (const Change& change : edit.changes) std::visit(collector, change);
  Recipe recipe{.name = std::move(name), .edits = std::move(edits)};
  auto all = collector.names;
  all.insert(collector.listed.begin(), collector.listed.end());
  const std::vector<bool> edited = edited_parts(before, all);
  const bool holds_names = hold_calls(recipe.edits);
  std::vector<std::size_t> nodes(before.part_count(), 0);
  for (const NodeId id : before.order()) ++nodes[before.node(id).part.index()];
  for (std::size_t i = 0; i < before.part_count(); ++i) {
    const PartId part(i);
    if (!edited[i]) continue;
    recipe.graphs.push_back({.key = std::string(key_of(before, part)),
                             .nodes = nodes[i],
                             .hash = graph_hash(before, part),
                             .after = graph_hash(after, part),
                             .fingerprint = fingerprint(before, part),
                             .rank_hash = rank_hash(before, part),
                             .rank_after = rank_hash(after, part)});
    if (holds_names) record_names(before, part, recipe.graphs.back());
  }
  for (const std::string& named : collector.names)
    if (const NodeId id = before.find(named)) recipe.expects[named] = canonical_call(before, id);
  for (const std::string& named : collector.listed)
    if (const NodeId id = before.find(named))
      recipe.expects.try_emplace(named, before.target(before.node(id)));
  return recipe;
}

}  // namespace jointer
