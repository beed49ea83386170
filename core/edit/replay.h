#pragma once

#include <optional>

#include "core/edit/recipe.h"

namespace jointer {

struct SkippedEdit {
  std::size_t edit = 0;  // index in Recipe::edits
  std::string title, why;
};

struct Replay {
  std::vector<Edit> done;            // the edits as applied, in order
  std::vector<Edit> inverses;        // of the edits in `done`, in the same order
  std::vector<SkippedEdit> skipped;  // only if lenient; `done` may contain other parts of an edit
  // True if the result is the graph that the recipe recorded; nullopt if it recorded none for this
  // graph or rank.
  std::optional<bool> ends_as_recorded;
  // If the graph belongs to another rank of the program, a text that says so and gives the first
  // difference; if not, empty.
  std::string other_rank;
  // If lenient and the recipe was made for another graph, the message with which a replay that is
  // not lenient refuses it; if not, empty.
  std::string other_graph;
};

// Applies a recipe's edits to a graph: a whole graph, a pair, or one half of the recipe's pair, in
// which case changes of the other half are ignored. If the recipe was made on another rank of the
// program, translates names of process groups and devices to those of this rank. Error (usage), in
// one sentence: the graph differs (if the recipe has a fingerprint, the message names the first
// node that does), or an edit is not legal; the graph is then unchanged. If `lenient`, skips what
// does not fit (docs/recipe.md states which parts of an edit); the only remaining errors are a
// recipe for a single graph if the graph is a pair, and a recipe for a pair if the graph is neither
// a pair nor a half.
Result<Replay> replay(Graph& graph, const Recipe& recipe, bool lenient = false);

}  // namespace jointer
