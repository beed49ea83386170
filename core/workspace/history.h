#pragma once

// The edit history as data: the edits applied to a graph since it was opened, and the edits that
// were undone. Workspaces and journals store it, and the window builds its undo stack from it.

#include <cstddef>
#include <string>
#include <vector>

#include "core/base/json_text.h"
#include "core/base/result.h"
#include "core/edit/edit.h"

namespace jointer {

// A history entry, which the user can undo. Most entries append one edit. An entry that returns to
// a named state removes some edits and appends others.
struct HistoryEntry {
  std::string title;        // of the edit that it appends, or its own: "Go to “less memory”"
  std::size_t keep = 0;     // number of edits of the previous state that remain
  std::vector<Edit> edits;  // edits appended to those
  std::string extra = {};   // members that this version does not know: `"key":value,...`

  // The number of edits in the state after the entry.
  [[nodiscard]] std::size_t edits_after() const { return keep + edits.size(); }
  friend bool operator==(const HistoryEntry&, const HistoryEntry&) = default;
};

// A state to which the user has given a name.
struct KeptState {
  std::string name;
  std::vector<Edit> edits;  // from the baseline to this state
  std::string extra = {};
  friend bool operator==(const KeptState&, const KeptState&) = default;
};

struct History {
  std::vector<HistoryEntry> entries;  // applied and undone entries, in order
  std::size_t place = 0;              // number of applied entries
  std::vector<KeptState> states;

  // The edits from the baseline to the state after the first `after` entries.
  [[nodiscard]] std::vector<Edit> edits_at(std::size_t after) const;
  [[nodiscard]] std::vector<Edit> edits() const { return edits_at(place); }
  // The number of edits from the baseline to the current state.
  [[nodiscard]] std::size_t edit_count() const {
    return place == 0 ? 0 : entries[place - 1].edits_after();
  }
  // Appends an entry with this edit, and drops the undone entries.
  void add(Edit edit);
  void add(HistoryEntry entry);

  friend bool operator==(const History&, const History&) = default;
};

// An entry as JSON: just the edit if the entry only appends one edit of the same title and has no
// `extra`, otherwise an object with `title`, `keep` and `edits`. `edits_before` is the number of
// edits in the state before the entry. Error (input) of the functions that read: the JSON does not
// have this form, or `keep` or `place` is too large.
OrderedJson entry_to_json(const HistoryEntry& entry, std::size_t edits_before);
Result<HistoryEntry> entry_from_json(const OrderedJson& json, std::size_t edits_before);
OrderedJson states_to_json(const std::vector<KeptState>& states);
Result<std::vector<KeptState>> states_from_json(const OrderedJson& json);

// Write and read the members `edits`, `place` and `states` of an object; `states` may be missing.
void history_to_json(OrderedJson& object, const History& history);
Result<History> history_from_json(const OrderedJson& object);

}  // namespace jointer
