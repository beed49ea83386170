#pragma once

#include <optional>

#include "core/edit/recipe.h"

namespace jointer {

struct SkippedEdit {
  std::size_t edit = 0;  // of Recipe::edits
  std::string title, why;
};

struct Replay {
  std::vector<Edit> done;                // as they were done, in order: to be undone, or shown
  std::vector<Edit> inverses;            // of them, in the same order
  std::vector<SkippedEdit> skipped;      // lenient only; an edit may be here and in `done` in part
  std::optional<bool> ends_as_recorded;  // nothing if the recipe does not say
};

// Does a recipe's edits to a graph: a whole graph, a pair, or one half of the pair that the recipe
// is for (the other half's changes are then passed over). Error (usage), in one sentence: the graph
// differs, with the first node that does; or an edit is not legal. The graph is then as it was.
// Lenient: what does not fit is skipped instead (docs/recipe.md says how much of an edit).
Result<Replay> replay(Graph& graph, const Recipe& recipe, bool lenient = false);

}  // namespace jointer
