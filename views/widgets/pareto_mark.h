#pragma once

#include <QPainter>
#include <QString>
#include <optional>

#include "core/partition/pareto.h"
#include "views/theme/theme.h"

namespace jointer::views {

inline constexpr int kMarkRadius = 4;  // pixels

// The kind of a point in the plot.
enum class ParetoKind : std::uint8_t {
  curve,            // found by a search
  budget,           // the plan of one of torch's activation budgets
  preset,           // the plan of one of upstream's policies
  named,            // a named state
  start,            // the plan that the search started from, if it is no longer the current one
  now,              // the current plan or, among pipelines, the graph without a pipeline
  pipeline,         // a pipeline, which may also change orders and buckets
  pipeline_preset,  // one of upstream's preset pipelines
  tuned,            // the best pipeline
};

struct ParetoMark {
  ParetoKind kind = ParetoKind::curve;
  QString name;  // "budget 0.42", "full", "before the merge"
  std::int64_t peak_bytes = 0, step_ns = 0;
  std::int64_t bound_ns = 0;  // no plan within this peak has a shorter step; 0 if not known
  std::optional<std::int64_t> reserved_bytes = {};  // nullopt if not known
  QString order = {};  // the passes that reorder the plan's graph; empty if there are none
  bool is_bound_of_any_order = false;  // the bound holds for any order; it ignores communication
  friend bool operator==(const ParetoMark&, const ParetoMark&) = default;
};

// The mark of a plan, without its lower bound.
ParetoMark mark_of(const ParetoPoint& point);

// Returns true for kinds of pipelines. Pipelines can change more than plans can, so plans and
// pipelines have separate fronts.
bool is_pipeline(ParetoKind kind);

// The name of a kind in the legend; empty if the labels of its marks explain it.
QString legend_text(ParetoKind kind);

// The color of a kind: one for plans and named states, one for pipelines, and one for the plan that
// a search started from and the current plan.
QColor color_of(ParetoKind kind, const Theme& theme);

void paint_symbol(QPainter& painter, ParetoKind kind, QPointF at, bool is_current,
                  const Theme& theme);

}  // namespace jointer::views
