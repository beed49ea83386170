#pragma once

#include <QString>
#include <QStringList>
#include <memory>

#include "core/pass/pipeline_run.h"

namespace jointer::views {

// What one run of one step left behind; never changed afterwards.
struct StepOutcome {
  quint64 step = 0;  // of the draft
  StepResult result;
  std::shared_ptr<const Graph> before;  // `result.graph` is after it
  QStringList printed;                  // by a pass of others, line by line

  // Whether no edit leads from the one graph to the other: a pair out of a joint graph.
  [[nodiscard]] bool is_another_graph() const { return !result.edit_refusal.empty(); }
};
using StepOutcomePtr = std::shared_ptr<const StepOutcome>;

// Why one step failed.
struct StepFailure {
  quint64 step = 0;
  std::string text;       // of the step
  Error error;            // with the pass's name first
  QString reproducer;     // its file; empty where none was written
  QString no_reproducer;  // and why
  QStringList printed;
};

}  // namespace jointer::views
