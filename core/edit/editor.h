#pragma once

#include <memory>

#include "core/edit/edit.h"

namespace jointer {

// Applies edits to one graph, as `apply` does, and keeps between them what legality is judged by
// for as long as only the order changes.
class Editor {
 public:
  // The graph must outlive it, and change through it alone.
  explicit Editor(Graph& graph);
  // With the graph's dependencies, which must outlive the next edit that does more than move.
  Editor(Graph& graph, const Dependencies& dependencies);
  ~Editor();
  Editor(const Editor&) = delete;
  Editor& operator=(const Editor&) = delete;

  // As `apply` in core/edit/edit.h.
  Result<Edit> apply(const Edit& edit);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace jointer
