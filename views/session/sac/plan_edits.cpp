#include "views/session/sac/plan_edits.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "core/pass/pipeline_text.h"
#include "core/policy/decider.h"

namespace jointer::views {
namespace {

// Applying tags also runs the passes of the order, each as an edit.
bool is_pass_of(const std::string& order, const Edit& edit) {
  const auto pipeline = parse_pipeline(order);
  return pipeline && std::ranges::any_of(*pipeline, [&](const PipelineStep& step) {
           return to_text(step) == edit.by;
         });
}

// Why the order does not apply after this edit, as the end of a sentence; empty if it does.
std::string why_order_ends(const std::string& order, const Edit& edit, SacKind kind) {
  if (parse_solve(edit.by))
    return "the graph is solved again, and the new plan is in its own order";
  if (!keeps_calls(edit))
    return kind == SacKind::step
               ? "the edit adds, removes or changes calls, as applying the tags does, which then "
                 "runs the passes of the order"
               : "the edit adds, removes or changes calls, for which no order has been searched";
  if (kind == SacKind::step && !sets_policies_only(edit) && is_pass_of(order, edit))
    return "a pass of the order has been run on the training step itself";
  return {};
}

// The order that the edits before `end` determine, and the first edit that ends it, or `end`.
struct OrderOfHistory {
  std::string passes;
  std::size_t ended_by = 0;
};
OrderOfHistory order_of_history(const EditHistory& history, SacKind kind) {
  OrderOfHistory found{.ended_by = history.size()};
  const std::ptrdiff_t last = last_edit(history, sets_order);
  if (last < 0) return found;
  auto at = static_cast<std::size_t>(last);
  found.passes = order_of(without_solve(history[at]->edit.by));
  while (++at < history.size())
    if (!why_order_ends(found.passes, history[at]->edit, kind).empty()) {
      found.ended_by = at;
      break;
    }
  return found;
}

}  // namespace

std::ptrdiff_t last_solve(const EditHistory& history) {
  return last_edit(history, parse_solve);
}

bool sets_policies_only(const Edit& edit) {
  return std::ranges::all_of(
      edit.changes, [](const Change& change) { return std::holds_alternative<SetPolicy>(change); });
}

std::string order_in_effect(const EditHistory& history, SacKind kind) {
  OrderOfHistory found = order_of_history(history, kind);
  return found.ended_by < history.size() ? std::string() : std::move(found.passes);
}

OrderChange order_change(const EditHistory& before, const EditHistory& after, SacKind kind) {
  const std::string order = order_in_effect(before, kind);
  if (order.empty() || before.size() >= after.size() ||
      !std::equal(before.begin(), before.end(), after.begin()))
    return {};
  // The plan was replaced by one that a later search found.
  if (last_edit(after, sets_order) != last_edit(before, sets_order)) return {};
  const OrderOfHistory found = order_of_history(after, kind);
  if (found.ended_by < after.size())
    return {true, fmt::format("The order found for the plan ({}) ends here: {}.", order,
                              why_order_ends(order, after[found.ended_by]->edit, kind))};
  const bool moves =
      !std::all_of(after.begin() + static_cast<std::ptrdiff_t>(before.size()), after.end(),
                   [](const DoneEditPtr& done) { return sets_policies_only(done->edit); });
  if (!moves) return {};
  return {false, fmt::format("The order found for the plan stays: its passes ({}) run on the {} "
                             "after this edit, and may move the same nodes.",
                             order, kind == SacKind::step ? "training step" : "pair")};
}

}  // namespace jointer::views
