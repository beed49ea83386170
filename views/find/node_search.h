#pragma once

// Finds nodes of a snapshot. Made once for a snapshot: names in one text, everything that many
// nodes share (operators, modules, stacks) once each. A query then looks at each of those once and
// at each node's numbers; 55,000 nodes take a few milliseconds.

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "views/document/snapshot.h"
#include "views/find/search_query.h"
#include "views/find/search_texts.h"

namespace jointer::views {

class NodeSearch {
 public:
  explicit NodeSearch(SnapshotPtr snapshot);

  [[nodiscard]] const Snapshot& snapshot() const { return *snapshot_; }
  // What a plan says of a tensor, for policy:, by: and bytes; none of a node that it says nothing
  // of. Without a plan the first two are no filters, and bytes are what the node returns.
  struct OfPlan {
    std::string_view policy, decider;
    std::int64_t bytes = 0;
  };
  using Plan = std::function<std::optional<OfPlan>(NodeId node)>;
  void set_plan(Plan plan) { plan_ = std::move(plan); }
  // In program order. An empty query finds nothing.
  [[nodiscard]] std::vector<NodeId> find(const SearchQuery& query) const;
  // Error (usage): one sentence.
  [[nodiscard]] Result<std::vector<NodeId>> find(std::string_view query) const;

 private:
  using Flags = std::vector<char>;

  [[nodiscard]] Flags holds(const SearchTerm& term) const;  // by node
  [[nodiscard]] Flags text_holds(const SearchTerm& term) const;
  [[nodiscard]] bool number_holds(const SearchTerm& term, NodeId node) const;
  [[nodiscard]] bool shape_holds(const SearchTerm& term, const Node& node) const;

  SnapshotPtr snapshot_;
  Plan plan_;
  SearchTexts names_, operators_, modules_, stacks_;
};

}  // namespace jointer::views
