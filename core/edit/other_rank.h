#pragma once

// Adapts the edits of a recipe to the rank on which it is replayed.
//
// The ranks of a program have the same nodes, but some constants differ: where a shard begins,
// names of process groups, indices of devices. Names in the edits become those of this rank; an
// edit with an unknown name is refused. Other constants cannot be translated, so an edit that would
// introduce constants of the recipe's rank is refused. An edit does so if
//   - it gives new arguments, not only new inputs, to a node that has other constants here;
//   - it removes such a node without inserting a copy, and a remaining node depends on it;
//   - it inserts a call with integers that was, or may have been, made from such a node.
// A copy of the node has the constants of this rank.

#include <map>
#include <set>
#include <string>

#include "core/edit/rank_names.h"
#include "core/edit/recipe.h"

namespace jointer {

class OtherRank {
 public:
  // `graph` is the graph before the first edit. `recorded` is the recipe's record of the part; null
  // if there is none, or if it describes a different graph. If `is_strict`, the graph belongs to
  // another rank of the program, and anything that cannot be adapted is an error. `expects` is
  // Recipe::expects with the names of this graph; used only if `is_strict`.
  OtherRank(const Graph& graph, PartId part, const RecipeGraph* recorded,
            const std::map<std::string, std::string>& expects, bool is_strict);

  // Adapts the changes that the edit makes to this part. Error (usage), in one sentence: the edit
  // cannot be adapted.
  Result<void> adapt(Graph& graph, Edit& edit);
  // True if every recorded name is the same in this graph.
  [[nodiscard]] bool are_names_equal() const { return names_.are_equal(); }

 private:
  // A node whose constants differ, or may differ, on this rank.
  struct Own {
    std::string args;    // as text, with the constants of this rank
    std::string source;  // the node with these constants before the first edit
  };

  void find_own(const Graph& graph, const RecipeGraph& recorded,
                const std::map<std::string, std::string>& expects);
  void find_missing(const Graph& graph, const Edit& edit);
  Result<void> adapt_insert(Graph& graph, InsertNode& insert);
  Result<void> adapt_replace(Graph& graph, ReplaceCall& replace);
  // Returns the sources of the rank-specific nodes that the edit copies without removing the copy
  // again. `removed`: the names of the nodes that the edit removes.
  [[nodiscard]] std::set<std::string> kept_sources(const Graph& graph, const Edit& edit,
                                                   const std::set<std::string>& removed) const;
  [[nodiscard]] Result<void> check_integers(const NodeRecord& record,
                                            std::string_view prefix) const;
  // Replaces recorded names in a call's arguments and value with the names on this rank. Returns an
  // error text; empty on success.
  std::string rename(Graph& graph, const std::string& called, std::optional<ArgumentRecords>& args,
                     std::optional<ArgumentRecords>& kwargs, ValueRecord* value) const;
  // The node's name as edit_name() returns it; the edit may have inserted the node.
  [[nodiscard]] std::string key(const Graph& graph, std::string_view name) const;
  [[nodiscard]] bool is_here(const Graph& graph, std::string_view key) const;
  // The operator of a node, which this edit may have inserted.
  [[nodiscard]] std::string target(const Graph& graph, const std::string& name) const;

  PartId part_;
  RankNames names_;
  bool is_strict_;
  // Keyed by name in edits, like the next two members.
  std::map<std::string, Own, std::less<>> own_;
  std::map<std::string, std::string, std::less<>> targets_;  // operators that this edit sets
  // The nodes that this edit removes without keeping their constants.
  std::set<std::string> lost_;
  bool removes_own_ = false;
};

}  // namespace jointer
