#pragma once

// The list of edits as a file: what docs/recipe.md describes.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/edit/edit.h"

namespace jointer {

// A graph that a recipe edits, as it was before the first edit.
struct RecipeGraph {
  std::string key;  // how names of nodes call it: "graph", "forward", "backward"
  std::size_t nodes = 0;
  std::string hash, after;  // before the first edit and after the last; empty if it does not say
  std::string fingerprint;  // core/graph/fingerprint.h
  std::string extra = {};   // here and in Recipe: members that this version does not know
  friend bool operator==(const RecipeGraph&, const RecipeGraph&) = default;
};

struct Recipe {
  std::string name;
  std::vector<RecipeGraph> graphs;
  std::vector<Edit> edits;
  // What nodes that the edits name are before the first: canonical_call, by the name of edits.
  std::map<std::string, std::string> expects;
  std::string extra = {};
  friend bool operator==(const Recipe&, const Recipe&) = default;
};

// Of edits that make `after` out of `before`. A half that no edit names is left out, unless the
// edits name no node at all.
Recipe make_recipe(const Graph& before, const Graph& after, std::vector<Edit> edits,
                   std::string name);

// Readable, line by line to be compared. Edits must hold no change that is only an inverse's.
std::string write_recipe(const Recipe& recipe);
// Error (input): one line with the place in the document; a newer version is refused.
Result<Recipe> read_recipe(std::string_view text);

// The same for one edit and for the list of them, as the workspace and other files hold them.
std::string write_edit(const Edit& edit);
Result<Edit> read_edit(std::string_view text, const std::string& where = "edit");

}  // namespace jointer
