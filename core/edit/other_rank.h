#pragma once

// Adapts the edits of a recipe to the rank that it is replayed on.
//
// The ranks of a program have the same nodes, but some constants differ: where a shard begins,
// names of process groups, indices of devices. Names in the edits become those of this rank. Other
// constants cannot be translated, so an edit that would bring those of the recipe's rank is
// refused: it replaces all arguments of a node that has other constants here, or inserts a call
// with integers that was made from such a node. A copy of the node has the constants of this rank.

#include <map>
#include <string>

#include "core/edit/rank_names.h"
#include "core/edit/recipe.h"

namespace jointer {

class OtherRank {
 public:
  // Describes the graph before the first edit. `recorded` is null if the recipe does not record the
  // part. `expects`: the recipe's, with the names of this graph. `is_strict`: the graph is that of
  // another rank of the program, so that whatever cannot be adapted is an error.
  OtherRank(const Graph& graph, PartId part, const RecipeGraph* recorded,
            const std::map<std::string, std::string>& expects, bool is_strict);

  // Adapts the changes in this part of one edit. Error (usage), in one sentence: an edit cannot be
  // adapted.
  Result<void> adapt(Graph& graph, Edit& edit);

 private:
  void find_own(const Graph& graph, const RecipeGraph& recorded,
                const std::map<std::string, std::string>& expects);
  Result<void> adapt_insert(Graph& graph, InsertNode& insert, bool removes_own);
  Result<void> adapt_replace(Graph& graph, ReplaceCall& replace);
  [[nodiscard]] Result<void> check_integers(const std::string& name, const OrderedJson& record,
                                            std::string_view prefix, bool removes_own) const;
  [[nodiscard]] bool is_here(const Graph& graph, std::string_view name) const;
  // The operator of a node, which this edit may have inserted.
  [[nodiscard]] std::string target(const Graph& graph, const std::string& name) const;

  PartId part_;
  RankNames names_;
  bool is_strict_;
  // The arguments of nodes that have other constants here, or may have, by name in edits.
  std::map<std::string, std::string, std::less<>> own_;
  std::map<std::string, std::string, std::less<>> targets_;  // that this edit gave, by node
};

}  // namespace jointer
