#pragma once

#include <QStringList>

#include "views/graph/ladder_model.h"
#include "views/graph/ladder_view.h"

namespace jointer::views {

// Hover text for a row, a node or a rung; empty if none is under the pointer.
QStringList hit_lines(const LadderModel& model, const LadderHit& hit);

}  // namespace jointer::views
