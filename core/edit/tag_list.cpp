#include "core/edit/tag_list.h"

#include <algorithm>

#include "core/edit/half_name.h"

namespace jointer {
namespace {

bool is_backwards(const std::string& name) {
  return split_half(name).prefix == kBackward;
}

}  // namespace

RegionChange region_change(const Node& node, RegionChange::Kind other) {
  if (other == RegionChange::Kind::keep) return {};
  if (!node.has(Node::has_ac_graph_id)) return {.kind = RegionChange::Kind::remove, .id = 0};
  return {.kind = RegionChange::Kind::set, .id = node.ac_graph_id};
}

void TagList::add(std::string name, const Tag& tag) {
  const auto it = std::ranges::find_if(sets_, [&](const SetPolicy& set) {
    return set.policy == tag.policy && set.region == tag.region &&
           is_backwards(set.nodes.front()) == is_backwards(name);
  });
  if (it != sets_.end()) {
    it->nodes.push_back(std::move(name));
    return;
  }
  SetPolicy set{.policy = tag.policy, .region = tag.region};
  set.nodes.push_back(std::move(name));
  sets_.push_back(std::move(set));
}

std::vector<Change> TagList::take() {
  std::vector<Change> changes;
  for (SetPolicy& set : sets_) {
    if (set.nodes.size() == 1) {
      set.select = std::move(set.nodes.front());
      set.nodes.clear();
    }
    changes.emplace_back(std::move(set));
  }
  sets_.clear();
  return changes;
}

}  // namespace jointer
