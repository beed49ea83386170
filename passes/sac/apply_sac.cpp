// The apply_sac pass. core/policy/apply_sac.cpp describes the algorithm, its source and the
// deviations.

#include "core/edit/select.h"
#include "core/policy/tagging.h"
#include "passes/sac/sac.h"
#include "passes/support/edit_pass.h"
#include "passes/support/kept.h"
#include "passes/support/parameters.h"

namespace jointer {
namespace {

// For each node, the index of the rule that counts it; -1 if no rule does.
std::vector<int> counted_by(const Graph& graph, const std::vector<EveryNth>& rules) {
  std::vector<int> rule(graph.node_count(), -1);
  for (std::size_t i = rules.size(); i-- > 0;)
    if (const auto nodes = select(graph, rules[i].op))
      for (const NodeId id : *nodes) rule[id.index()] = static_cast<int>(i);
  return rule;
}

Result<void> run_apply_sac(Graph& graph, const Arguments& arguments, PassContext& context) {
  SacOptions options;
  options.save = arguments.texts("save");
  options.whole_forward = arguments.boolean("whole_forward");
  options.default_list = !arguments.has_value("save");
  options.every_nth.clear();
  for (const std::string& text : arguments.texts("every_nth")) {
    auto rule = parse_every_nth(text);
    if (!rule) return fail(rule.error().kind, "every_nth: {}", rule.error().message);
    options.every_nth.push_back(*std::move(rule));
  }
  const std::vector<int> rule = counted_by(graph, options.every_nth);
  return apply_tags(graph, apply_sac(graph, options), context, [&](NodeId id) -> std::string {
    const Node& n = graph.node(id);
    const int counted = rule[id.index()];
    if (counted >= 0) {
      const EveryNth& every = options.every_nth[static_cast<std::size_t>(counted)];
      return n.policy == MemoryPolicy::must_save
                 ? fmt::format("{} is saved, except for 1 in {} calls", every.op, every.n)
                 : fmt::format("1 in {} calls of {} is recomputed", every.n, every.op);
    }
    return n.policy == MemoryPolicy::must_save
               ? fmt::format("{} is in the set of operators to save", graph.target(n))
               : fmt::format("{} is not in the set of operators to save", graph.target(n));
  });
}

}  // namespace

Pass apply_sac_pass() {
  return {
      .info = {.name = "apply_sac",
               .summary =
                   "Tags results of the forward as saved or recomputed, using a set of operators "
                   "to save (replaced in torchtitan by tag_with_memory_policy in May 2026).",
               .source = "torchtitan/experiments/compiler_toolkit/passes.py",
               .stage = PassStage::joint,
               .parameters = {texts("save", PassValue(),
                                    "Operators to save, each an operator or FQN_PATTERN::operator; "
                                    "if not given, torchtitan's list."),
                              texts("every_nth", PassValue::List{"aten.mm.default/2"},
                                    "Operators of which every Nth call is recomputed: OPERATOR/N, "
                                    "or OPERATOR/N/layer to count per layer."),
                              flag("whole_forward", false,
                                   "Tag the whole forward instead of stopping after the call that "
                                   "computes the first output.")},
               .is_idempotent = true},
      .run = with_kept_decision("Every call of the forward already has its tag.", run_apply_sac)};
}

}  // namespace jointer
