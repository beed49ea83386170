#pragma once

// Helpers for functions that tag graphs.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/edit/edit.h"
#include "core/graph/graph.h"

namespace jointer {

// Error (usage): the graph is a pair, in which the saved values are already fixed.
Result<void> check_taggable(const Graph& graph);

// The ac_graph_id of tags that make the whole forward one region.
inline constexpr std::int64_t kForwardRegion = 0;

// The tags to set, at most one per node. The graph must outlive this object.
class TagPlan {
 public:
  explicit TagPlan(const Graph& graph) : graph_(graph), tags_(graph.node_count()) {}

  void set(NodeId node, MemoryPolicy policy, std::int64_t region) {
    tags_[node.index()] = {policy, region};
  }
  [[nodiscard]] bool has(NodeId node) const { return tags_[node.index()].has_value(); }
  // The policy that will be set on a node; `none` if there is none.
  [[nodiscard]] MemoryPolicy policy(NodeId node) const {
    return has(node) ? tags_[node.index()]->policy : MemoryPolicy::none;
  }
  [[nodiscard]] std::size_t count(MemoryPolicy policy) const;

  // The changes for the nodes whose current tags differ.
  [[nodiscard]] std::vector<Change> changes() const;

 private:
  struct Planned {
    MemoryPolicy policy = MemoryPolicy::none;
    std::int64_t region = 0;
  };
  const Graph& graph_;
  std::vector<std::optional<Planned>> tags_;
};

// Indexed by node id: true for calls of these operators, which may be named with or without an
// overload.
std::vector<bool> calls_of(const Graph& graph, std::span<const std::string_view> ops);
// Indexed by node id: true for nodes that any of the selectors selects. Operators may be written as
// in Python. Error (usage): a selector selects nothing.
Result<std::vector<bool>> selected_by(const Graph& graph, std::span<const std::string> selectors);

// A list of strings as a pipeline writes it: `[a,"b c"]`.
std::string pipeline_list(std::span<const std::string> texts);

}  // namespace jointer
