#pragma once

#include <memory>

#include "core/edit/edit.h"

namespace jointer {

// Applies several edits to one graph, each as `apply` does. As long as edits only change the order,
// reuses the data for checking legality.
class Editor {
 public:
  // The graph must outlive the editor, and only the editor may change it.
  explicit Editor(Graph& graph);
  // `dependencies`: the graph's; must stay valid until the first edit that does more than move
  // nodes.
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
