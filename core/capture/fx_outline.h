#pragma once

// Finds the graphs in a text, and the lines of each graph. Private to core/capture/fx_*.cpp.

#include <cstddef>
#include <string_view>
#include <vector>

#include "core/capture/fx_lines.h"

namespace jointer::fx {

constexpr std::size_t kNoParent = static_cast<std::size_t>(-1);

struct GraphText {
  std::string_view name;           // of the enclosing class; empty if there is none
  bool is_listing = false;         // str(graph) instead of Python code
  std::size_t parent = kNoParent;  // the graph whose class encloses this one's
  Line head;                       // `def forward(...)` or `graph():`
  std::vector<Line> body;
};

// Returns every `forward`, whether inside a class or not, and every listing, ordered by first line.
// Skips other functions with all that is in them, and classes without a `forward`.
std::vector<GraphText> outline(std::string_view text, std::size_t first_number);

}  // namespace jointer::fx
