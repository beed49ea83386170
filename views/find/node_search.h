#pragma once

// Finds nodes of a snapshot. Made once for a snapshot: names in one text, everything that many
// nodes share (operators, modules, stacks) once each. A query then looks at each of those once and
// at each node's numbers; 55,000 nodes take a few milliseconds.

#include <vector>

#include "views/document/snapshot.h"
#include "views/find/search_query.h"
#include "views/find/search_texts.h"

namespace jointer::views {

class NodeSearch {
 public:
  explicit NodeSearch(SnapshotPtr snapshot);

  [[nodiscard]] const Snapshot& snapshot() const { return *snapshot_; }
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
  SearchTexts names_, operators_, modules_, stacks_;
};

}  // namespace jointer::views
