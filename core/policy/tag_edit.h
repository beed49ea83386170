#pragma once

// What the taggings have in common.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/edit/edit.h"
#include "core/graph/graph.h"

namespace jointer {

// Error (usage): the halves of a pair, for whose values everything is decided.
Result<void> check_taggable(const Graph& graph);

// Tags of nodes as they would be, by id.
class TagPlan {
 public:
  explicit TagPlan(const Graph& graph) : graph_(graph), tags_(graph.node_count()) {}

  void set(NodeId node, MemoryPolicy policy, std::int64_t region) {
    tags_[node.index()] = {policy, region};
  }
  [[nodiscard]] bool has(NodeId node) const { return tags_[node.index()].has_value(); }
  // What a node would be tagged with; `none` where it was not set.
  [[nodiscard]] MemoryPolicy policy(NodeId node) const {
    return has(node) ? tags_[node.index()]->policy : MemoryPolicy::none;
  }
  [[nodiscard]] std::size_t count(MemoryPolicy policy) const;

  // The changes that make it so, of nodes that are not yet so.
  [[nodiscard]] std::vector<Change> changes() const;

 private:
  struct Planned {
    MemoryPolicy policy = MemoryPolicy::none;
    std::int64_t region = 0;
  };
  const Graph& graph_;
  std::vector<std::optional<Planned>> tags_;
};

// By id: the calls that any of these operators' names is the name of, with the overload or without.
std::vector<bool> calls_of(const Graph& graph, std::span<const std::string_view> ops);
// By id: what any of the selectors selects; their operators may be written as in Python. Error
// (usage): one of them selects nothing.
Result<std::vector<bool>> selected_by(const Graph& graph, std::span<const std::string> selectors);

// `[a,"b c"]`, as a pipeline writes a list of texts.
std::string pipeline_list(std::span<const std::string> texts);

}  // namespace jointer
