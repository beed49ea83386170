#pragma once

// How drawings respond to the mouse and the keyboard.

namespace jointer::views {

inline constexpr int kDragDistance = 4;    // in pixels, before a press becomes a drag
inline constexpr double kZoomStep = 1.25;  // per notch of the wheel, or key press

}  // namespace jointer::views
