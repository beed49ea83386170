#pragma once

// Compares states of different documents, such as two captures of the same model, or a joint graph
// and a pair made from it. Uses no Qt widgets.

#include <optional>

#include "views/compare/comparison.h"
#include "views/session/edit/edit_history.h"
#include "views/session/work/job.h"

namespace jointer::views {

// A state of a document: `snapshot` is the result of applying `history` to `baseline`.
struct StateOfDocument {
  QString name;
  SnapshotPtr snapshot, baseline;
  EditHistory history;
};

// Returns the state with the graph that a training step runs, analyzed with `options`: a joint
// graph is replaced by the pair that its plan produces, and the tags of a flat training step are
// applied. Call it on a worker thread. Error (usage): the joint graph has no plan; (run): a pass
// that orders the plan fails; (cancelled): `job` was cancelled.
Result<StateOfDocument> as_run(StateOfDocument state, const AnalysisOptions& options,
                               const Cancellation& job = {});

// Returns the state analyzed with this execution, which is added to its name. Call it on a worker
// thread. Error (usage): the graph cannot be executed in this way. Error (cancelled): `job` was
// cancelled.
Result<StateOfDocument> executed_as(StateOfDocument state, Execution execution,
                                    const Cancellation& job = {});

// Compares both states, analyzed with `options`; `second`, if given, is the execution of the second
// state. A state that was analyzed with different options is analyzed again. For a comparison with
// a pair, a joint graph is replaced by the pair that its plan produces. NodeMatch::closest
// determines which nodes correspond. The plans are compared if both graphs have one, are of the
// same kind (SacKind), and nodes correspond by name. Call it on a worker thread. Error (usage): the
// graphs cannot be compared, the joint graph has no plan, or the second graph cannot be executed as
// `second` says. Error (cancelled): `job` was cancelled.
Result<Comparison> compare_documents(StateOfDocument from, StateOfDocument to,
                                     const AnalysisOptions& options,
                                     std::optional<Execution> second = {},
                                     const Cancellation& job = {});

}  // namespace jointer::views
