#pragma once

// Memory policies of many nodes as few changes: one for each policy and region.

#include <string>
#include <vector>

#include "core/edit/change.h"

namespace jointer {

// What a node is tagged with.
struct Tag {
  MemoryPolicy policy = MemoryPolicy::none;
  RegionChange region;
  friend bool operator==(const Tag&, const Tag&) = default;
};

// What makes a node's region what it is: nothing where the other change keeps it too.
RegionChange region_change(const Node& node, RegionChange::Kind other);

class TagList {
 public:
  // `name`: as edits name nodes. A node is added once.
  void add(std::string name, const Tag& tag);
  // Changes in the order in which their tags first came; names in the order in which they came.
  // Those of a pair's halves are apart.
  [[nodiscard]] std::vector<Change> take();

 private:
  std::vector<SetPolicy> sets_;
};

}  // namespace jointer
