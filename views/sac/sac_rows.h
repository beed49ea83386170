#pragma once

// Groups the tensors in the pane into a forest of rows. Each row is a range in an order of the
// tensors made for this purpose. No Qt.

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
  // The tensors of the row and of all rows below it: order[first .. last).
  std::size_t first = 0, last = 0;
  int tensor = -1;  // for a leaf: index in the state's tensors
  int number = -1;  // for a layer: its first number
  int members = 1;  // number of identical layers in the row
  friend bool operator==(const SacRow&, const SacRow&) = default;
};

struct SacRows {
  std::vector<SacRow> rows;  // parents precede their children
  std::vector<int> order;    // tensors in the order of the leaves
  std::vector<int> row_of;   // the leaf of each tensor
};

// By operator, rows are in order of first call; by module, nested like the model; by tensor,
// ungrouped. By layer, adjacent elements of a numbered list share a row if their tensors have the
// same places, operators and sizes; their corresponding tensors share the rows below it.
SacRows group_tensors(const SacState& state, const ModuleLocations& places, SacGrouping grouping);

}  // namespace jointer::views
