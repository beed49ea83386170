#pragma once

#include <QObject>
#include <memory>

#include "views/session/sac/step_state.h"
#include "views/session/work/task.h"

namespace jointer::views {

// The outcome of a flat training step's tags, for panes that show it before the SAC session is
// started. The tags are applied on a worker thread, once per graph.
class StepTags : public QObject {
  Q_OBJECT
 public:
  // The outcome of the step's tags; null if it is not known. Starts applying the tags, unless the
  // latest call was for the same step. `found` follows unless they cannot be applied.
  std::shared_ptr<const TagsOutcome> find(const SnapshotPtr& step);
  // The outcome if it is known, otherwise null. Starts nothing.
  [[nodiscard]] std::shared_ptr<const TagsOutcome> known(const SnapshotPtr& step) const {
    return step_ == step ? outcome_ : nullptr;
  }

 signals:
  // The outcome for the latest step is known.
  void found();

 private:
  SnapshotPtr step_;                            // of the latest call
  std::shared_ptr<const TagsOutcome> outcome_;  // of its tags
  Task<TagsOutcome> applying_;
};

}  // namespace jointer::views
