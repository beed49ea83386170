#pragma once

// The edits of a history that determine its plan and the plan's order.

#include <cstddef>
#include <string>

#include "views/session/edit/edit_history.h"
#include "views/session/sac/sac_state.h"

namespace jointer::views {

// Index of the last edit with a `by` for which `is_asked` is true; -1 if there is none.
std::ptrdiff_t last_edit(const EditHistory& history, const auto& is_asked) {
  for (std::size_t i = history.size(); i-- > 0;)
    if (is_asked(history[i]->edit.by)) return static_cast<std::ptrdiff_t>(i);
  return -1;
}
// Index of the last edit that requests a plan; -1 if there is none.
std::ptrdiff_t last_solve(const EditHistory& history);

bool sets_policies_only(const Edit& edit);

// The order of the plan of a graph of this kind, as passes: the order that belongs to the plan of
// the last search or list of changes. It stays in effect under later choices and moves, since its
// passes run on the pair, or the training step, that results from them. It ends if the graph is
// solved again, if an edit adds, removes or changes calls, or if one of its passes is run on the
// training step itself. Empty if there is none.
std::string order_in_effect(const EditHistory& history, SacKind kind);

// The effect of a history entry on the order of the plan.
struct OrderChange {
  bool is_dropped = false;
  std::string sentence;  // why the order is dropped, or that it stays although nodes move
};
// `before` and `after`: the histories before and after the entry.
OrderChange order_change(const EditHistory& before, const EditHistory& after, SacKind kind);

}  // namespace jointer::views
