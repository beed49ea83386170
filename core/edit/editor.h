#pragma once

#include <memory>

#include "core/edit/edit.h"

namespace jointer {

// Applies several edits to one graph, each as `apply` does. While only the order changes, it reuses
// the data for checking legality.
class Editor {
 public:
  // The graph must outlive the editor, and only the editor may change it.
  explicit Editor(Graph& graph);
  // `dependencies`: of the graph; must outlive the first edit that does more than
  // move.
  Editor(Graph& graph, const Dependencies& dependencies);
  ~Editor();
  Editor(const Editor&) = delete;
  Editor& operator=(const Editor&) = delete;

  // Like `apply` in core/edit/edit.h.
  Result<Edit> apply(const Edit& edit);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace jointer
