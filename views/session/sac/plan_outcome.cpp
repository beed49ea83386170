#include "views/session/sac/plan_outcome.h"

#include <algorithm>
#include <utility>

namespace jointer::views {
namespace {

constexpr std::ptrdiff_t kNowhere = -1;

// For each step, the position of its call among the joint graph's steps, or kNowhere if the joint
// graph lacks the call or an earlier step already ran it.
std::vector<std::ptrdiff_t> joint_steps(const MemoryTimeline& joint,
                                        std::span<const NodeId> steps) {
  std::vector<std::ptrdiff_t> found(steps.size(), kNowhere);
  std::vector<char> has_run(joint.steps().size(), 0);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const auto at = steps[i] ? joint.step_of(steps[i]) : std::nullopt;
    if (at && std::exchange(has_run[*at], 1) == 0) found[i] = static_cast<std::ptrdiff_t>(*at);
  }
  return found;
}

// The longest common subsequence of the two orders, found by patience sorting.
std::vector<std::size_t> common_order(std::span<const std::ptrdiff_t> at) {
  std::vector<std::size_t> ends;  // for each length, where the best subsequence of that length ends
  std::vector<std::ptrdiff_t> before(at.size(), kNowhere);
  for (std::size_t i = 0; i < at.size(); ++i) {
    if (at[i] == kNowhere) continue;
    auto place = ends.end();
    if (!ends.empty() && at[i] < at[ends.back()])
      place = std::partition_point(ends.begin(), ends.end(),
                                   [&](std::size_t end) { return at[end] < at[i]; });
    if (place != ends.begin()) before[i] = static_cast<std::ptrdiff_t>(*(place - 1));
    if (place == ends.end())
      ends.push_back(i);
    else
      *place = i;
  }
  std::vector<std::size_t> run(ends.size());
  auto step = ends.empty() ? kNowhere : static_cast<std::ptrdiff_t>(ends.back());
  for (std::size_t i = run.size(); i-- > 0; step = before[run[i]])
    run[i] = static_cast<std::size_t>(step);
  return run;
}

}  // namespace

std::vector<double> place_steps(const MemoryTimeline& joint, std::span<const NodeId> steps) {
  const std::vector<std::ptrdiff_t> at = joint_steps(joint, steps);
  const auto length = static_cast<double>(joint.steps().size());
  std::vector<double> places;
  places.reserve(steps.size() + 1);
  const auto spread = [&places](std::size_t count, double from, double to) {
    for (std::size_t i = 0; i < count; ++i)
      places.push_back(from + (to - from) * static_cast<double>(i) / static_cast<double>(count));
  };
  double end = 0;
  std::vector<std::size_t> anchors = common_order(at);
  // Steps after the last anchor get the remaining space; if none remains, they share the anchor's
  // space.
  if (!anchors.empty() && at[anchors.back()] + 1 == std::ssize(joint.steps())) anchors.pop_back();
  for (const std::size_t anchor : anchors) {
    const auto next = static_cast<double>(at[anchor] + 1);
    spread(anchor + 1 - places.size(), end, next);
    end = next;
  }
  spread(steps.size() - places.size(), end, length);
  places.push_back(length);
  return places;
}

PlanOutcome place(PlanWhatIf::Outcome outcome, const MemoryTimeline& joint) {
  return {.figures = outcome.figures,
          .profile = std::move(outcome.profile),
          .places = place_steps(joint, outcome.steps)};
}

}  // namespace jointer::views
