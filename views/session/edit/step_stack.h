#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "views/session/edit/edit_step.h"

namespace jointer::views {

// The entries of an edit history and the current place in it: entries before the place are applied,
// and those after it have been undone.
class StepStack {
 public:
  StepStack() = default;
  StepStack(std::vector<EditStep> steps, int place) : steps_(std::move(steps)) { go_to(place); }

  [[nodiscard]] int count() const { return static_cast<int>(steps_.size()); }
  [[nodiscard]] int place() const { return place_; }
  [[nodiscard]] const EditStep& step(int index) const {
    return steps_[static_cast<std::size_t>(index)];
  }
  [[nodiscard]] EditStep& step(int index) { return steps_[static_cast<std::size_t>(index)]; }
  // The entries right before and right after the place, or null.
  [[nodiscard]] const EditStep* undoable() const {
    return place_ == 0 ? nullptr : &step(place_ - 1);
  }
  [[nodiscard]] const EditStep* redoable() const {
    return place_ == count() ? nullptr : &step(place_);
  }

  // Removes the entries after the place and adds this one, which counts as applied.
  void push(EditStep step) {
    steps_.erase(steps_.begin() + place_, steps_.end());
    steps_.push_back(std::move(step));
    ++place_;
  }
  void go_to(int place) { place_ = std::clamp(place, 0, count()); }

 private:
  std::vector<EditStep> steps_;
  int place_ = 0;
};

}  // namespace jointer::views
