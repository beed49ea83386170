#pragma once

// Distances in pixels that all panes share.

namespace jointer::views {

inline constexpr int kMargin = 8;
inline constexpr int kNarrowMargin = 6;  // around and inside tables, and bars above them
inline constexpr int kTableRowHeight = 22;

}  // namespace jointer::views
