#pragma once

// Compares states of different documents, for example of two captures of the same model, or of a
// joint graph and a pair made from it. Uses no Qt widgets.

#include "views/compare/comparison.h"
#include "views/session/edit/edit_history.h"

namespace jointer::views {

// A state of a document: `baseline` after the edits in `history`.
struct StateOfDocument {
  QString name;
  SnapshotPtr snapshot, baseline;
  EditHistory history;
};

// The state as the program that runs, analyzed under `options`. A joint graph runs as the pair that
// its plan produces. Runs on a worker thread. Error (usage): the joint graph has no plan.
Result<StateOfDocument> as_run(StateOfDocument state, const AnalysisOptions& options);

// Both states are analyzed with the same options; a state that was analyzed with others is analyzed
// again. For a comparison with a pair, a joint graph is replaced by the pair that its plan
// produces. Nodes correspond as NodeMatch::closest finds. The plans are compared if each graph
// has one and nodes correspond by name. Runs on a worker thread. Error (usage): the graphs cannot
// be compared, or the joint graph has no plan.
Result<Comparison> compare_documents(StateOfDocument from, StateOfDocument to,
                                     const AnalysisOptions& options);

}  // namespace jointer::views
