#include "core/graph/users.h"

namespace jointer {

Users::Users(const Graph& graph) : first_(graph.node_count() + 1, 0) {
  for (const NodeId id : graph.order())
    for (const NodeId input : graph.inputs(id)) ++first_[input.index() + 1];
  for (std::size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
  users_.resize(first_.back());
  std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
  for (const NodeId id : graph.order())
    for (const NodeId input : graph.inputs(id)) users_[next[input.index()]++] = id;
}

}  // namespace jointer
