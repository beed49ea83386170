#pragma once

// Distances and heights shared by panes, in pixels.

namespace jointer::views {

inline constexpr int kMargin = 8;
inline constexpr int kNarrowMargin = 6;  // in tables, bars and plots
inline constexpr int kTableRowHeight = 22;

}  // namespace jointer::views
