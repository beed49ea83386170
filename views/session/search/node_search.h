#pragma once

// Searches the nodes of a snapshot. The index is built once per snapshot: it stores all names in
// one text, and attributes that many nodes share (operators, modules, stacks) once each. A query
// checks each shared attribute once, and the numbers of every node. For 55,000 nodes, a query takes
// a few milliseconds.

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "views/session/search/search_query.h"
#include "views/session/search/search_texts.h"
#include "views/session/snapshot/snapshot.h"

namespace jointer::views {

class NodeSearch {
 public:
  explicit NodeSearch(SnapshotPtr snapshot);

  [[nodiscard]] const Snapshot& snapshot() const { return *snapshot_; }
  // A plan's entry for a tensor.
  struct OfPlan {
    std::string_view policy, decider;
    std::int64_t bytes = 0;
  };
  // Used by the filters policy:, by: and bytes; returns nullopt for nodes that are not in the plan,
  // which match none of these filters. Without a plan, no node matches policy: or by:, and bytes
  // are those of the node's outputs.
  using Plan = std::function<std::optional<OfPlan>(NodeId node)>;
  void set_plan(Plan plan) { plan_ = std::move(plan); }
  // The matching nodes in program order. An empty query matches nothing.
  [[nodiscard]] std::vector<NodeId> find(const SearchQuery& query) const;
  // Error (usage): the query is invalid, or uses policy: or by: without a plan.
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
