#pragma once

// Groups the pane's tensors: a forest of rows, each for a range of the tensors in a separate order.
// No Qt.

#include <cstdint>
#include <string>
#include <vector>

#include "views/session/sac/sac_state.h"
#include "views/session/snapshot/places.h"

namespace jointer::views {

enum class SacGrouping : std::uint8_t { op, module, layer, tensor };

struct SacRow {
  std::string name;
  std::string key;  // stable across edits
  int parent = -1;
  // Tensors of the row and all rows below it: order[first .. last).
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

// By operator: in the order of the first call. By module: nested like the model. By tensor: without
// groups. By layer: adjacent elements of a numbered list whose tensors have the same places,
// operators and sizes share a row, and corresponding tensors share a row below it.
SacRows group_tensors(const SacState& state, const Places& places, SacGrouping grouping);

}  // namespace jointer::views
