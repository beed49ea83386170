#pragma once

// What was done to a graph since it was opened, with what was undone: the undo stack as data. A
// workspace and a journal hold it; the window's stack is made from it.

#include <cstddef>
#include <string>
#include <vector>

#include "core/base/json_text.h"
#include "core/base/result.h"
#include "core/edit/edit.h"

namespace jointer {

// A step that a person can undo. Most add one edit to those before it; going back to a state that
// was kept takes some away and adds others.
struct HistoryStep {
  std::string title;        // of a step that is no single edit; else that of the edit
  std::size_t keep = 0;     // how many edits of the state before it stay
  std::vector<Edit> edits;  // that follow them
  std::string extra = {};
  friend bool operator==(const HistoryStep&, const HistoryStep&) = default;
};

// A state with a name.
struct KeptState {
  std::string name;
  std::vector<Edit> edits;  // from the graph as it was opened
  std::string extra = {};
  friend bool operator==(const KeptState&, const KeptState&) = default;
};

struct History {
  std::vector<HistoryStep> steps;  // done and undone
  std::size_t place = 0;           // how many are done
  std::vector<KeptState> states;

  // The edits that lead from the graph as it was opened to the state after so many steps.
  [[nodiscard]] std::vector<Edit> edits_at(std::size_t after) const;
  [[nodiscard]] std::vector<Edit> edits() const { return edits_at(place); }
  // A step that adds this edit, in place of what was undone.
  void add(Edit edit);
  void add(HistoryStep step);

  friend bool operator==(const History&, const History&) = default;
};

// A step as files hold it: that of one edit as the edit, any other with `keep` and `edits`.
OrderedJson step_to_json(const HistoryStep& step, std::size_t edits_before);
Result<HistoryStep> step_from_json(const OrderedJson& json, std::size_t edits_before);
OrderedJson states_to_json(const std::vector<KeptState>& states);
Result<std::vector<KeptState>> states_from_json(const OrderedJson& json);

// `edits`, `place`, `states` of an object.
void history_to_json(OrderedJson& object, const History& history);
Result<History> history_from_json(const OrderedJson& object);

}  // namespace jointer
