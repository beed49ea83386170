#pragma once

#include <QObject>
#include <QString>
#include <optional>
#include <vector>

#include "core/pass/pipeline_text.h"
#include "core/workspace/workspace.h"

namespace jointer::views {

// A step of a pipeline that is being edited: the id stays its own while it is moved and changed.
struct DraftStep {
  quint64 id = 0;
  PipelineStep step;
};

// The pipeline that a person edits beside one document. Knows no registry: what is wrong with it is
// found elsewhere, and a wrong value stays as it was written.
class PipelineDraft : public QObject {
  Q_OBJECT
 public:
  using QObject::QObject;

  [[nodiscard]] const std::vector<DraftStep>& steps() const { return steps_; }
  [[nodiscard]] std::size_t size() const { return steps_.size(); }
  [[nodiscard]] bool empty() const { return steps_.empty(); }
  [[nodiscard]] Pipeline pipeline() const;
  // The place of a step, nothing if it is gone.
  [[nodiscard]] std::optional<std::size_t> find(quint64 id) const;
  // A step a line.
  [[nodiscard]] QString text() const;

  // --- Changing: `changed` follows, unless nothing does ---
  // Steps that stay what they were keep their ids.
  void set_pipeline(const Pipeline& pipeline);
  // Before the step at `place`; its id.
  quint64 insert(std::size_t place, PipelineStep step);
  quint64 append(PipelineStep step) { return insert(size(), std::move(step)); }
  void remove(std::size_t place);
  // So that it stands before what is at `gap` now.
  void move(std::size_t place, std::size_t gap);
  // Its copy stands right after it.
  quint64 duplicate(std::size_t place);
  void enable(std::size_t place, bool enabled);
  // None given: as by default.
  void set_argument(std::size_t place, const std::string& name, std::optional<PassValue> value);
  // The steps before the last change; what was taken back can not be done again.
  void take_back();
  [[nodiscard]] bool can_take_back() const { return !past_.empty(); }

  // What a workspace keeps. Where passes come from is kept although they may not be there.
  [[nodiscard]] WorkspacePipeline kept() const;
  // In place of what there is; text that is no pipeline is left out.
  void restore(const WorkspacePipeline& kept);
  [[nodiscard]] QString source_of(const QString& pass) const;
  void set_source(const QString& pass, const QString& source);

 signals:
  void changed();

 private:
  // What one thing changes that is typed letter by letter is taken back at once.
  void remember(const std::string& what = {});

  std::vector<DraftStep> steps_;
  std::vector<std::vector<DraftStep>> past_;
  std::string last_change_;
  std::vector<std::pair<std::string, std::string>> sources_;
  std::string extra_;
  quint64 last_id_ = 0;
};

}  // namespace jointer::views
