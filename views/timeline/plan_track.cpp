#include "views/timeline/plan_track.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace jointer::views {

// Interpolates between the starts of two adjacent steps of the memory timeline of the graph on the
// axis.
double PlanTrack::position(std::size_t step) const {
  const double place = outcome_.places[step];
  const auto whole = static_cast<std::size_t>(place);
  const std::size_t steps = data_.point_count() / 2;
  const auto edge = [&](std::size_t joint_step) {
    return static_cast<double>(joint_step < steps ? data_.position(point_of_step(joint_step))
                                                  : data_.length());
  };
  if (whole >= steps) return edge(steps);
  const double begin = edge(whole);
  return begin + (edge(whole + 1) - begin) * (place - static_cast<double>(whole));
}

std::size_t PlanTrack::step_at(double at) const {
  std::size_t low = 0, high = step_count();
  while (low + 1 < high) {
    const std::size_t middle = std::midpoint(low, high);
    (position(middle) <= at ? low : high) = middle;
  }
  return low;
}

std::size_t PlanTrack::largest_step(double begin, double end) const {
  std::size_t step = step_at(begin);
  // Include steps without extent that begin at the start of the range.
  while (step > 0 && position(step) == begin && position(step - 1) == begin) --step;
  std::size_t largest = step;
  while (++step < step_count() && position(step) < end)
    if (bytes(step) > bytes(largest)) largest = step;
  return largest;
}

std::vector<MemoryRun> PlanTrack::columns(const AxisView& axis) const {
  std::vector<MemoryRun> runs;
  const double end = axis.to_pixel(static_cast<double>(data_.length()));
  const auto first = static_cast<int>(std::lround(axis.left()));
  const auto last = static_cast<int>(std::lround(std::min(axis.left() + axis.width(), end)));
  for (int x = first; x < last; ++x) {
    const std::size_t step = largest_step(axis.to_position(x), axis.to_position(x + 1));
    if (!runs.empty() && runs.back().point == step)
      runs.back().right = x + 1;
    else
      runs.push_back({.left = x, .right = x + 1, .point = step});
  }
  return runs;
}

std::size_t PlanTrack::peak_step() const {
  std::size_t peak = 0;
  for (std::size_t step = 1; step < step_count(); ++step)
    if (bytes(step) > bytes(peak)) peak = step;
  return peak;
}

}  // namespace jointer::views
