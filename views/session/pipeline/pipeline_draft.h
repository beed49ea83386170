#pragma once

#include <QObject>
#include <QString>
#include <optional>
#include <vector>

#include "core/pass/pipeline_text.h"
#include "core/workspace/workspace.h"

namespace jointer::views {

// A step of the pipeline being edited. It keeps its id when it is moved or changed.
struct DraftStep {
  quint64 id = 0;
  PipelineStep step;
};

// The pipeline that a user edits in one document. The draft does not use the registry: it does not
// detect errors, and stores invalid values as written.
class PipelineDraft : public QObject {
  Q_OBJECT
 public:
  using QObject::QObject;

  [[nodiscard]] const std::vector<DraftStep>& steps() const { return steps_; }
  [[nodiscard]] std::size_t size() const { return steps_.size(); }
  [[nodiscard]] bool empty() const { return steps_.empty(); }
  [[nodiscard]] Pipeline pipeline() const;
  // The current index of a step, or nullopt if it was removed.
  [[nodiscard]] std::optional<std::size_t> find(quint64 id) const;
  // The pipeline as text, one step per line.
  [[nodiscard]] QString text() const;

  // --- Changes: `changed` is emitted if anything changes ---

  // Steps that the draft already has keep their ids.
  void set_pipeline(const Pipeline& pipeline);
  // Inserts a step before the one at `place` (at the end if there is none) and returns the new id.
  quint64 insert(std::size_t place, PipelineStep step);
  quint64 append(PipelineStep step) { return insert(size(), std::move(step)); }
  void remove(std::size_t place);
  // Moves a step before the one that is currently at `gap`, or to the end if `gap` is the size.
  void move(std::size_t place, std::size_t gap);
  // Inserts a copy after the step and returns the copy's id, or 0 if there is no such step.
  quint64 duplicate(std::size_t place) {
    return place < steps_.size() ? insert(place + 1, steps_[place].step) : 0;
  }
  void enable(std::size_t place, bool enabled);
  // nullopt resets the parameter to its default.
  void set_argument(std::size_t place, const std::string& name, std::optional<PassValue> value);
  // Undoes the last change; at most 200 can be undone. There is no redo.
  void undo();
  [[nodiscard]] bool can_undo() const { return !past_.empty(); }

  // The draft in the form that a workspace stores. Includes the sources of passes, since passes may
  // not be available when the workspace is opened.
  [[nodiscard]] WorkspacePipeline saved() const;
  // Replaces the draft and clears its undo history. Keeps the steps if the text is invalid.
  void restore(const WorkspacePipeline& saved);
  // The source of a pass, as `saved` stores it; empty if it is not known. `set_source` emits
  // nothing.
  [[nodiscard]] QString source_of(const QString& pass) const;
  void set_source(const QString& pass, const QString& source);

 signals:
  void changed();

 private:
  // Records the current steps for undo. Successive changes with the same `what`, such as typed
  // letters, are undone together.
  void remember(const std::string& what = {});

  std::vector<DraftStep> steps_;
  std::vector<std::vector<DraftStep>> past_;
  std::string last_change_;
  std::vector<std::pair<std::string, std::string>> sources_;
  std::string extra_;
  quint64 last_id_ = 0;
};

}  // namespace jointer::views
