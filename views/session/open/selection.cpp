#include "views/session/open/selection.h"

#include <algorithm>

namespace jointer::views {

bool Selection::contains(NodeId node) const {
  return std::binary_search(nodes_.begin(), nodes_.end(), node);
}

void Selection::select(NodeId node) {
  if (!node) return clear();
  select_all({node}, node);
}

void Selection::select_all(std::vector<NodeId> nodes, NodeId current) {
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  if (!current && !nodes.empty()) current = nodes.front();
  if (nodes == nodes_ && current == current_) return;
  nodes_ = std::move(nodes);
  current_ = current;
  emit nodes_changed();
}

void Selection::toggle(NodeId node) {
  std::vector<NodeId> nodes = nodes_;
  if (const auto at = std::lower_bound(nodes.begin(), nodes.end(), node);
      at != nodes.end() && *at == node) {
    nodes.erase(at);
    const NodeId last = nodes.empty() ? NodeId{} : nodes.back();
    select_all(std::move(nodes), last);
  } else {
    nodes.insert(at, node);
    select_all(std::move(nodes), node);
  }
}

void Selection::clear() {
  select_all({});
  set_moment(std::nullopt);
  set_range(std::nullopt);
}

void Selection::set_moment(std::optional<std::size_t> moment) {
  if (std::exchange(moment_, moment) == moment) return;
  emit moment_changed();
}

void Selection::set_range(std::optional<TimeRange> range) {
  if (std::exchange(range_, range) == range) return;
  emit range_changed();
}

void Selection::set_hits(std::vector<NodeId> hits) {
  std::sort(hits.begin(), hits.end());
  if (std::exchange(hits_, std::move(hits)) == hits_) return;
  emit hits_changed();
}

}  // namespace jointer::views
