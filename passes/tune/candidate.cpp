#include "passes/tune/candidate.h"

namespace jointer {

Pipeline Candidate::pipeline() const {
  Pipeline all;
  for (const Pipeline& section : sections) all.insert(all.end(), section.begin(), section.end());
  return all;
}

std::size_t Candidate::size() const {
  std::size_t steps = 0;
  for (const Pipeline& section : sections) steps += section.size();
  return steps;
}

Candidate without_step(Candidate candidate, std::size_t step) {
  for (Pipeline& section : candidate.sections) {
    if (step < section.size()) {
      section.erase(section.begin() + static_cast<std::ptrdiff_t>(step));
      break;
    }
    step -= section.size();
  }
  return candidate;
}

}  // namespace jointer
