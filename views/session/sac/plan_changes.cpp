#include "views/session/sac/plan_changes.h"

#include <algorithm>
#include <utility>

#include "views/session/sac/ordered_plan.h"
#include "views/session/text/node_text.h"
#include "views/session/text/number_text.h"

namespace jointer::views {
namespace {

constexpr const char* kArrow = "\u2192";

PlanSide side_of(const SacState& state) {
  return {state.base ? state.base->partition.joint : state.snapshot->graph, state.rows};
}

}  // namespace

PlanChangesPtr changes_between(const SacState& from, const SacState& to) {
  return std::make_shared<const PlanChanges>(
      PlanChanges{.from = from.figures,
                  .to = to.figures,
                  .difference = plan_difference(side_of(from), side_of(to))});
}

Result<PlanChangesPtr> changes_in_order(const SacState& from, const SacState& to) {
  PlanChanges changes = *changes_between(from, to);
  JOINTER_TRY(changes.from.figures, figures_in_order(from));
  JOINTER_TRY(changes.to.figures, figures_in_order(to));
  return std::make_shared<const PlanChanges>(std::move(changes));
}

QString summary_text(const PlanChanges& changes) {
  // The only hyphens are the signs of amounts.
  return to_qstring(summary(changes.difference, kArrow)).replace(QChar(u'-'), QChar(kMinus));
}

QString transition_text(const PlanChangeRow& row) {
  const auto words = [](MaybeAction kept) { return to_qstring(to_text(kept)); };
  return row.moved() ? QStringLiteral("%1 %2 %3")
                           .arg(words(row.from), QString::fromUtf8(kArrow), words(row.to))
                     : words(row.to);
}

QString counts_text(const PlanDifference& difference, std::span<const std::size_t> rows) {
  return to_qstring(jointer::counts_text(difference, rows, kArrow));
}

bool changes_plan(const Edit& edit) {
  return parse_solve(edit.by).has_value() ||
         std::ranges::any_of(edit.changes, [](const Change& change) {
           return std::holds_alternative<SetPolicy>(change);
         });
}

}  // namespace jointer::views
