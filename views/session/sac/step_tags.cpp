#include "views/session/sac/step_tags.h"

#include <utility>

namespace jointer::views {

std::shared_ptr<const TagsOutcome> StepTags::find(const SnapshotPtr& step) {
  if (step_ == step) return outcome_;
  step_ = step;
  outcome_.reset();
  applying_.start([step] { return outcome_of_tags(step->graph); },
                  [this](Result<TagsOutcome> outcome) {
                    if (!outcome) return;
                    outcome_ = std::make_shared<const TagsOutcome>(*std::move(outcome));
                    emit found();
                  });
  return nullptr;
}

}  // namespace jointer::views
