#include "views/modules/modules_pane.h"

#include "views/session/document/shown_range.h"
#include "views/session/sac/sac_session.h"

namespace jointer::views {

ModulesPane::ModulesPane(Document& document, QWidget* parent)
    : TablePaneOf(document, tr("Modules"), tr("Filter modules"), parent) {
  follow_range();
  add_histogram();
  connect(&document.sac(), &SacSession::changed, this, [this] { request_refresh(); });
  connect(&document.sac().tags(), &StepTags::found, this, [this] { request_refresh(); });
}

void ModulesPane::refresh() {
  set_empty_text(document().shown_range().range()
                     ? tr("No nodes run in this range. Press Esc to show the whole step.")
                     : tr("This graph has no nodes."));
  model_->set_snapshot(subject().shared_snapshot(), document().shown_range().figures(), saved());
}

std::optional<SavedValues> ModulesPane::saved() {
  const SnapshotPtr snapshot = subject().shared_snapshot();
  const SacStatePtr state = subject().sac().state();
  if (is_plan_for(state, snapshot->graph)) return saved_values_of(*state);
  if (sac_kind(snapshot->graph) != SacKind::step) return std::nullopt;
  const auto outcome = document().sac().tags().find(snapshot);
  return outcome ? std::optional(outcome->saved) : std::nullopt;
}

}  // namespace jointer::views
