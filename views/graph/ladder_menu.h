#pragma once

#include <QAction>
#include <QMenu>

#include "views/graph/ladder_model.h"
#include "views/graph/ladder_selection.h"
#include "views/graph/ladder_view.h"

namespace jointer::views {

// Adds the commands for the row or node at a position, if there is one. For a node, also adds
// entries for `node_actions`, which select the node and then trigger the action. The model and the
// selection must outlive the menu.
void add_ladder_actions(QMenu& menu, LadderModel& model, LadderSelection& selection,
                        const LadderHit& hit, const QList<QAction*>& node_actions);

}  // namespace jointer::views
