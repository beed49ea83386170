#include "app/cli/commands/sac_why.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/cli/commands/plan_comparison.h"
#include "core/base/units.h"
#include "core/partition/plan_margin_text.h"

namespace jointer::cli {
namespace {

Decider decider_of_tag(const std::vector<Decider>& tags, NodeId id) {
  return id.index() < tags.size() ? tags[id.index()] : Decider::capture;
}

Json figures_json(const std::optional<Figures>& figures) {
  if (!figures) return {};
  return {{"peak_bytes", figures->peak_bytes}, {"step_ms", to_ms(figures->step_ns)}};
}

Json number(const std::optional<double>& value) {
  return value ? Json(*value) : Json();
}

Json name_json(const Graph& graph, NodeId id) {
  return id ? Json(graph.name(id)) : Json();
}

void add_margin(Json& json, const ValueMargin& margin, const Graph& graph) {
  json["bytes"] = margin.value.bytes;
  json["recompute_ms"] = margin.value.chain > 0 ? Json(to_ms(margin.value.recompute_ns)) : Json();
  json["copy_ms"] = to_ms(margin.copy_ns);
  json["value_bytes_per_us"] = number(margin.bytes_per_us);
  json["cutoff_bytes_per_us"] = number(margin.cutoff_bytes_per_us);
  const auto equal = [&](PlanAction action) {
    return margin.equal[static_cast<std::size_t>(action)];
  };
  json["equal"] = {{"count", margin.equal_count()},
                   {"saved", equal(PlanAction::save)},
                   {"recomputed", equal(PlanAction::recompute)},
                   {"offloaded", equal(PlanAction::offload)}};
  if (margin.exchange) {
    json["exchange"] = figures_json(margin.exchange->figures);
    json["exchange"]["with"] = graph.name(margin.exchange->with);
    json["exchange"]["keep"] = to_string(margin.exchange->action);
  } else {
    json["exchange"] = Json();
  }
  json["if_saved"] = figures_json(margin.choice(PlanAction::save).figures);
  json["if_recomputed"] = figures_json(margin.choice(PlanAction::recompute).figures);
  json["if_offloaded"] = figures_json(margin.choice(PlanAction::offload).figures);
  json["if_saved_too"] = name_json(graph, margin.if_saved_too);
  json["only_for"] = name_json(graph, margin.only_for);
}

void add_choices(Json& json, const SolverChoices& choices) {
  const auto torchs = [](const std::optional<SolverChoices::Torch>& made) {
    return made ? Json(to_string(made->action)) : Json();
  };
  const auto budget = [](const std::optional<SolverChoices::Torch>& made) {
    return made ? Json(made->budget) : Json();
  };
  json["solvers"] = {{"dp", torchs(choices.dp)},
                     {"greedy", torchs(choices.greedy)},
                     {"relaxation", action_json(choices.relaxation)}};
  json["solver_budgets"] = {{"dp", budget(choices.dp)}, {"greedy", budget(choices.greedy)}};
  json["flips_at"] = {
      {"peak_bytes", choices.relaxation_peak_bytes ? Json(*choices.relaxation_peak_bytes) : Json()},
      {"budget", number(choices.other_budget)}};
}

// Follows "Decided by" in a sentence; empty for a value without a tag, whose reason says that it
// has none.
std::string_view decider_text(Decider decider) {
  switch (decider) {
    case Decider::partitioner:
      return "the partitioner";
    case Decider::search:
      return "the search";
    case Decider::preset:
      return "the preset";
    case Decider::list:
      return "the policy";
    case Decider::user:
      return "the user";
    case Decider::capture:
      return "the capture";
    case Decider::untagged:
      break;
  }
  return "";
}

// Adds margins to answers about one plan. The solvers are compared only once, when the first value
// requires it.
class Margins {
 public:
  static Result<Margins> make(const ComparedPlan& plan) {
    JOINTER_TRY(PlanMargins margins, PlanMargins::make(plan.what_if, plan.comparison.plan));
    return Margins(plan, std::move(margins));
  }

  // Returns false if, under the plan, the backward does not read the value.
  Result<bool> add_to(WhyAnswer& why, NodeId id) {
    auto margin = margins_.of(id);
    if (!margin) return false;
    if (!solvers_) {
      JOINTER_TRY(solvers_, SolverComparison::make(plan_.graph, plan_.what_if, plan_.comparison));
    }
    JOINTER_TRY(why.choices, solvers_->of(id));
    why.budget = plan_.comparison.budget;
    for (MarginLine& line : explain_margin(plan_.graph, *margin))
      why.sentences.push_back(std::move(line.text));
    why.sentences.push_back(explain_choices(*why.choices, why.budget).text);
    why.margin = *std::move(margin);
    return true;
  }

 private:
  Margins(const ComparedPlan& plan, PlanMargins margins)
      : plan_(plan), margins_(std::move(margins)) {}

  const ComparedPlan& plan_;
  PlanMargins margins_;
  std::unique_ptr<SolverComparison> solvers_;
};

}  // namespace

Decider DecidedPlan::decider_of(NodeId id) const {
  if (const auto changed = changed_by.find(id); changed != changed_by.end()) return changed->second;
  const bool is_tagged = reasons[id.index()].kind == PlanReason::Kind::tagged;
  return is_tagged ? decider_of_tag(tags, id) : decider;
}

Result<std::vector<WhyAnswer>> explain_values(const DecidedPlan& decided,
                                              const std::vector<std::string>& names) {
  std::vector<WhyAnswer> found;
  if (names.empty()) return found;
  const Graph& joint = decided.plan.graph;
  const SavePlan& plan = decided.plan.comparison.plan;
  JOINTER_TRY(Margins margins, Margins::make(decided.plan));
  for (const std::string& name : names) {
    const NodeId id = joint.find(name);
    if (!id)
      return fail(Error::Kind::usage,
                  "option --why: there is no node {}; the partitioner may have removed it as dead "
                  "code, or merged it with an identical node (CSE)",
                  name);
    const PlanReason& reason = decided.reasons[id.index()];
    WhyAnswer why{.name = name, .action = "not needed", .reason = reason.text};
    if (joint.node(id).kind != NodeKind::call) why.action = kind_text(joint.node(id).kind);
    JOINTER_TRY(const bool is_needed, margins.add_to(why, id));
    if (is_needed) {
      why.action = to_string(why.margin->value.action);
      why.decider = decided.decider_of(id);
    } else if (std::ranges::find(plan.saved_symbols, id) != plan.saved_symbols.end()) {
      why.action = to_string(PlanAction::save);
    } else if (reason.kind != PlanReason::Kind::none && joint.node(id).kind == NodeKind::call) {
      why.action = to_string(PlanAction::recompute);  // a tuple or a number
      why.decider = decided.decider_of(id);
    }
    found.push_back(std::move(why));
  }
  return found;
}

std::string StepReasons::text(const StepValue& value) const {
  const auto choice = chosen.find(value.node);
  const bool is_tagged = value.reason == StepReason::tagged;
  if (is_tagged && choice != chosen.end()) return "chosen for " + choice->second.purpose;
  if (is_tagged && was_untagged(value)) return to_sentence(StepReason::untagged, {});
  return to_sentence(value.reason, tagged.node(value.node).policy);
}

Decider StepReasons::decider(const StepValue& value) const {
  if (value.reason == StepReason::applied) return Decider::capture;
  if (value.reason != StepReason::tagged) return Decider::untagged;
  if (const auto choice = chosen.find(value.node); choice != chosen.end()) return choice->second.by;
  return was_untagged(value) ? Decider::untagged : decider_of_tag(tags, value.node);
}

// True if a plan set the value's tag only to leave it as it was.
bool StepReasons::was_untagged(const StepValue& value) const {
  return value.node.index() < policies.size() && policies[value.node.index()] == MemoryPolicy::none;
}

Result<std::vector<WhyAnswer>> explain_step(const StepReasons& reasons, const ComparedPlan& plan,
                                            const std::vector<std::string>& names) {
  std::vector<WhyAnswer> found;
  if (names.empty()) return found;
  JOINTER_TRY(Margins margins, Margins::make(plan));
  for (const std::string& name : names) {
    const NodeId id = reasons.tagged.find(name);
    if (!id)
      return fail(Error::Kind::usage,
                  "option --why: there is no node {}; give the name of a node in the capture",
                  name);
    const Node& node = reasons.tagged.node(id);
    WhyAnswer why{.name = name, .action = "not needed", .reason = {}};
    const auto value = std::ranges::find(reasons.values, id, &StepValue::node);
    if (value != reasons.values.end()) {
      why.action = to_string(value->action);
      why.reason = reasons.text(*value);
      why.decider = reasons.decider(*value);
      JOINTER_CHECK(margins.add_to(why, id));
    } else if (node.kind != NodeKind::call) {
      why.action = kind_text(node.kind);
    }
    found.push_back(std::move(why));
  }
  return found;
}

Json to_json(const std::vector<WhyAnswer>& why, const Graph& graph) {
  Json rows = Json::array();
  for (const WhyAnswer& each : why) {
    Json row{{"node", each.name}, {"keep", each.action}, {"reason", each.reason}};
    row["decided_by"] = each.decider ? Json(decided_by(*each.decider)) : Json();
    if (each.margin) add_margin(row, *each.margin, graph);
    if (each.choices) add_choices(row, *each.choices);
    if (!each.sentences.empty()) row["sentences"] = each.sentences;
    rows.push_back(std::move(row));
  }
  return rows;
}

void print_why(const std::vector<WhyAnswer>& why) {
  for (const WhyAnswer& each : why) {
    fmt::print("\n{}: {}{}{}\n", each.name, each.action, each.reason.empty() ? "" : "; ",
               each.reason);
    for (const std::string& sentence : each.sentences) fmt::print("  {}\n", sentence);
    const std::string_view decider = each.decider ? decider_text(*each.decider) : "";
    if (!decider.empty()) fmt::print("  Decided by {}.\n", decider);
  }
}

}  // namespace jointer::cli
