#pragma once

// Groups the tensors of the SAC pane into a forest of rows. The tensors are ordered so that those
// of each row are adjacent. Does not use Qt.

#include <cstdint>
#include <string>
#include <vector>

#include "views/session/sac/sac_state.h"
#include "views/session/snapshot/module_locations.h"

namespace jointer::views {

enum class SacGrouping : std::uint8_t { op, module, layer, tensor };

struct SacRow {
  std::string name;
  std::string key;  // stable across edits
  int parent = -1;
  // The tensors of the row and of all rows below it are order[first .. last).
  std::size_t first = 0, last = 0;
  int tensor = -1;  // for a leaf: index in the state's tensors
  int number = -1;  // of the module, or of the first layer in the row
  int members = 1;  // number of identical layers in the row
  friend bool operator==(const SacRow&, const SacRow&) = default;
};

struct SacRows {
  std::vector<SacRow> rows;  // parents precede their children
  std::vector<int> order;    // tensors in the order of the leaves
  std::vector<int> row_of;   // the leaf of each tensor
};

// By operator: one row per operator, in the order of their first calls. By module: nested like the
// model. By tensor: ungrouped. By layer: adjacent elements of a numbered list share a row if their
// tensors have the same places, operators and sizes; corresponding tensors share a row below it.
SacRows group_tensors(const SacState& state, const ModuleLocations& places, SacGrouping grouping);

}  // namespace jointer::views
