#include "core/policy/tag_differences.h"

#include <algorithm>
#include <map>

#include "core/base/units.h"
#include "core/policy/plan_makers.h"

namespace jointer {
namespace {

constexpr std::size_t kNamed = 6;  // number of nodes named in a sentence if it counts the others

// For example, "mm_1, mm_3 and mm_4". If there are more than kNamed + 1 nodes, names the first
// kNamed and then counts the others: " and 5 more".
std::string name_some(const Graph& graph, const std::vector<NodeId>& nodes) {
  std::string text;
  const std::size_t named = nodes.size() <= kNamed + 1 ? nodes.size() : kNamed;
  for (std::size_t i = 0; i < named; ++i) {
    if (i > 0) text += i + 1 == nodes.size() ? " and " : ", ";
    text += graph.name(nodes[i]);
  }
  if (named < nodes.size()) text += fmt::format(" and {} more", format_count(nodes.size() - named));
  return text;
}

void add_sentences(const Graph& graph, const std::vector<NodeId>& nodes, std::string_view what,
                   std::vector<std::string>& sentences) {
  std::map<std::string_view, std::vector<NodeId>> by_operator;
  for (const NodeId id : nodes) by_operator[graph.target(graph.node(id))].push_back(id);
  for (const auto& [target, those] : by_operator)
    sentences.push_back(fmt::format("{} ({}): {}.", what, target, name_some(graph, those)));
}

}  // namespace

std::vector<std::string> TagDifferences::sentences(const Graph& graph) const {
  std::vector<std::string> all;
  add_sentences(graph, lost, "This text recomputes results that the plan saves", all);
  add_sentences(graph, extra, "This text saves results that the plan recomputes", all);
  add_sentences(graph, partly, "The plan saves some results of a call and recomputes others", all);
  const bool is_step = graph.part(PartId(0)).kind == CaptureKind::train_step;
  add_sentences(graph, untagged,
                is_step
                    ? "This text leaves results without a tag, which a flat training step saves "
                      "if its backward or recomputed calls read them"
                    : "This text leaves the decision about results to the partitioner",
                all);
  return all;
}

TagDifferences find_tag_differences(const Graph& tagged, const SavePlan& plan) {
  const PlanMakers makers = plan_makers(tagged, plan);
  const TaggedMakers tags = tagged_makers(tagged);
  TagDifferences differences;
  const auto is_in = [&](const std::vector<NodeId>& sorted, NodeId id) {
    return std::binary_search(sorted.begin(), sorted.end(), id, [&](NodeId a, NodeId b) {
      return tagged.position(a) < tagged.position(b);
    });
  };
  for (const NodeId id : makers.saved) {
    if (is_in(makers.rerun, id))
      differences.partly.push_back(id);
    else if (tags.untagged[id.index()])
      differences.untagged.push_back(id);
    else if (!tags.saved[id.index()])
      differences.lost.push_back(id);
  }
  for (const NodeId id : makers.rerun) {
    if (is_in(makers.saved, id)) continue;
    if (tags.saved[id.index()])
      differences.extra.push_back(id);
    else if (tags.untagged[id.index()] && tagged.node(id).phase == Phase::forward)
      differences.untagged.push_back(id);  // calls of the backward never run in the forward
  }
  return differences;
}

}  // namespace jointer
