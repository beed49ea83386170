#pragma once

// Sets the memory policies of many nodes with few changes: one per policy, region and half.

#include <string>
#include <vector>

#include "core/edit/edit.h"

namespace jointer {

// A node's policy, and the change of its checkpointed region.
struct Tag {
  MemoryPolicy policy = MemoryPolicy::none;
  RegionChange region;
  friend bool operator==(const Tag&, const Tag&) = default;
};

// Returns the change that restores the node's current region after a change of kind `other`.
RegionChange region_change(const Node& node, RegionChange::Kind other);

class TagList {
 public:
  // `name` is the node's name in edits. Add each node only once.
  void add(std::string name, const Tag& tag);
  // Returns the changes, in the order in which their tags were first added; each lists its nodes in
  // the order in which they were added. The halves of a pair have separate changes.
  [[nodiscard]] std::vector<Change> take();

 private:
  std::vector<SetPolicy> sets_;
};

}  // namespace jointer
