#pragma once

// Sets memory policies of many nodes with few changes: one per policy and region.

#include <string>
#include <vector>

#include "core/edit/change.h"

namespace jointer {

// The tag of a node.
struct Tag {
  MemoryPolicy policy = MemoryPolicy::none;
  RegionChange region;
  friend bool operator==(const Tag&, const Tag&) = default;
};

// The change that gives a node its current region; `keep` if the change `other` keeps it too.
RegionChange region_change(const Node& node, RegionChange::Kind other);

class TagList {
 public:
  // `name`: the node's name in edits. Add a node only once.
  void add(std::string name, const Tag& tag);
  // The changes, in the order in which their tags were first added; names in the order of addition.
  // The halves of a pair have separate changes.
  [[nodiscard]] std::vector<Change> take();

 private:
  std::vector<SetPolicy> sets_;
};

}  // namespace jointer
