#pragma once

#include <QString>
#include <QStringList>
#include <memory>

#include "core/pass/pipeline_run.h"

namespace jointer::views {

// The result of running one step once.
struct StepOutcome {
  quint64 step = 0;  // id in the draft
  StepResult result;
  std::shared_ptr<const Graph> before;  // `result.graph` is the graph after the step
  QStringList printed;                  // lines that the pass printed

  // Returns true if no edit leads from `before` to the result, as when a joint graph becomes a
  // pair.
  [[nodiscard]] bool is_another_graph() const { return !result.edit_refusal.empty(); }
};
using StepOutcomePtr = std::shared_ptr<const StepOutcome>;

struct StepFailure {
  quint64 step = 0;
  std::string text;         // the step as text
  Error error;              // starts with the pass's name
  QString reproducer;       // the reproducer's file; empty if none was written
  Assumptions assumptions;  // of the graph in that file, which cannot contain all of them
  QString no_reproducer;    // why no reproducer was written
  QStringList printed;
};

}  // namespace jointer::views
