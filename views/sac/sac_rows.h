#pragma once

// How the pane groups tensors: a forest of rows, each over a stretch of the tensors in an order of
// its own. No Qt.

#include <cstdint>
#include <string>
#include <vector>

#include "views/document/places.h"
#include "views/sac/sac_state.h"

namespace jointer::views {

enum class SacGrouping : std::uint8_t { op, module, layer, tensor };

struct SacRow {
  std::string name;
  std::string key;  // the same row after an edit has the same
  int parent = -1;
  // Tensors of it and of all below it: order[first .. last).
  std::size_t first = 0, last = 0;
  int tensor = -1;  // of a leaf: its index among the state's tensors
  int number = -1;  // of a layer: its first number
  int members = 1;  // how many identical layers it stands for
  friend bool operator==(const SacRow&, const SacRow&) = default;
};

struct SacRows {
  std::vector<SacRow> rows;  // a parent comes before its children
  std::vector<int> order;    // tensors, in the order of the leaves
  std::vector<int> row_of;   // the leaf of a tensor
};

// By operator in the order of the first call; by module as the model nests; by tensor without
// groups. By layer: neighbouring elements of a numbered list whose tensors have the same places,
// operators and sizes are one row, and the tensors at the same place in each of them are one row
// below it.
SacRows group_tensors(const SacState& state, const Places& places, SacGrouping grouping);

}  // namespace jointer::views
