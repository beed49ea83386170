#pragma once

// Recipes: lists of edits saved as files, in the format of docs/recipe.md.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json_text.h"
#include "core/edit/edit.h"

namespace jointer {

// A graph that a recipe edits, as it was before the first edit.
struct RecipeGraph {
  std::string key;  // the part: "graph", "forward" or "backward"
  std::size_t nodes = 0;
  std::string hash, after;  // before the first edit and after the last; empty if not recorded
  std::string fingerprint;  // core/graph/fingerprint.h
  // Hashes that are the same on every rank of the program (core/graph/canonical.h); empty if not
  // recorded.
  std::string rank_hash = {}, rank_after = {};
  // For each process group name, the first node that communicates in the group; for each device
  // with an index, the first node whose first tensor is on it. Node names have no half prefix. Only
  // recorded if an edit inserts or changes a call.
  std::map<std::string, std::string> groups = {}, devices = {};
  std::string extra = {};  // members that this version does not know
  friend bool operator==(const RecipeGraph&, const RecipeGraph&) = default;
};

struct Recipe {
  std::string name;
  std::vector<RecipeGraph> graphs;
  std::vector<Edit> edits;
  // The calls of the nodes that edits name, as they were before the first edit: the canonical_call
  // of each node, or only the operator of a node that a policy change lists, keyed by its name in
  // edits.
  std::map<std::string, std::string> expects;
  std::string extra = {};
  friend bool operator==(const Recipe&, const Recipe&) = default;
};

// Makes a recipe from the edits that lead from `before` to `after`. Leaves out a half that no edit
// names, unless the edits name no node at all.
Recipe make_recipe(const Graph& before, const Graph& after, std::vector<Edit> edits,
                   std::string name);

// Writes readable text that can be compared line by line. The edits must not contain RestoreNode or
// RestoreCall.
std::string write_recipe(const Recipe& recipe);
// Error (input): the text is not a valid recipe, or its version is not supported. The message is
// one line that gives the location in the document.
Result<Recipe> read_recipe(std::string_view text);

// The same for a single edit, as in workspaces and other files. `where` is its location in
// messages.
OrderedJson json_of(const Edit& edit);
Result<Edit> read_edit_tree(const OrderedJson& json, const std::string& where = "edit");

}  // namespace jointer
