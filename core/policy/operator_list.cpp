// Finds the operator set that expresses a save plan.
//
// Terms: a call counts if its result is saved or recomputed (plan_makers.h), since an unneeded
// result may be tagged either way. Calls with FSDP's tags do not count, nor do the inputs of the
// recomputed ones, which are saved because they belong to a region with a lower number.
//
// Steps, for each operator with a saved call that counts:
//   1. The possible rules are: list the operator; leave it out; or recompute every nth of its calls
//      in apply_sac's order, for each n from 2 to kMaxN, counted over the whole graph or per layer.
//   2. A rule that is right for every call that counts comes first.
//   3. The nearest rules are kept: those that come closest to the bytes that the plan saves and,
//      among equals, those that are wrong for the fewest bytes. The rules that list the operator or
//      leave it out are always kept. nearest_list.h chooses among the rules by the plans that they
//      produce. Wrongly tagged calls are reported as differences.
// If every operator has a rule as in step 2 and the partitioner follows the tags, the list
// expresses the plan, and no list with fewer operators does.
//
// Cost: linear in the calls, for each n up to kMaxN.

#include "core/policy/operator_list.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <tuple>

#include "core/graph/layers.h"
#include "core/policy/plan_makers.h"
#include "core/policy/sac_walk.h"

namespace jointer {
namespace {

constexpr std::int64_t kMaxN = 16;
constexpr std::size_t kNearest = 3;  // maximum number of nearest rules per operator

enum class Fate : std::uint8_t { free, saved, rerun };

struct Call {
  NodeId node;
  Fate fate = Fate::free;
};

class Lister {
 public:
  Lister(const Graph& joint, const SavePlan& plan)
      : graph_(joint), modules_(joint), layers_(joint, modules_) {
    const PlanMakers makers = plan_makers(joint, plan);
    std::vector<Fate> fates(joint.node_count(), Fate::free);
    for (const NodeId id : makers.saved) fates[id.index()] = Fate::saved;
    for (const NodeId id : makers.rerun)
      fates[id.index()] = fates[id.index()] == Fate::saved ? Fate::free : Fate::rerun;
    const std::vector<bool> decided = decided_by_fsdp();
    for (const NodeId id : sac_walk(joint, true).calls)
      by_operator_[joint.node(id).target].push_back(
          {id, decided[id.index()] ? Fate::free : fates[id.index()]});
  }

  std::vector<OperatorRules> run() {
    std::vector<OperatorRules> all;
    for (const auto& [op, calls] : by_operator_) {
      if (std::ranges::none_of(calls, [](const Call& c) { return c.fate == Fate::saved; }))
        continue;
      all.push_back({graph_.op(op).name, rules_for(graph_.op(op).name, calls)});
    }
    std::ranges::sort(all, {}, &OperatorRules::op);
    return all;
  }

 private:
  [[nodiscard]] std::vector<bool> decided_by_fsdp() const {
    const auto is_tagged = [&](NodeId id) {
      const Node& n = graph_.node(id);
      return n.policy != MemoryPolicy::none && n.ac_graph_id == kFsdpRegion;
    };
    std::vector<bool> decided(graph_.node_count(), false);
    for (const NodeId id : graph_.order()) {
      if (!is_tagged(id)) continue;
      decided[id.index()] = true;
      if (graph_.node(id).policy == MemoryPolicy::must_save) continue;
      for (const NodeId input : graph_.inputs(id)) decided[input.index()] = true;
    }
    return decided;
  }

  [[nodiscard]] OperatorRule judged(OperatorRule rule, const std::vector<Call>& calls) const {
    std::int64_t count = 0, layer = Layers::kNone;
    for (const Call& call : calls) {
      bool saves = rule.save;
      if (rule.every_nth) {
        const std::int64_t of_call = layers_.of(call.node);
        if (rule.every_nth->counter == EveryNth::Counter::per_layer && of_call != Layers::kNone &&
            of_call != layer) {
          layer = of_call;
          count = 0;
        }
        saves = ++count % rule.every_nth->n != 0;
      }
      if (call.fate == Fate::free || saves == (call.fate == Fate::saved)) continue;
      const std::int64_t bytes =
          std::max<std::int64_t>(graph_.output_bytes(graph_.node(call.node)), 1);
      rule.wrong_bytes += bytes;
      rule.more_bytes += saves ? bytes : -bytes;
    }
    return rule;
  }

  [[nodiscard]] std::vector<OperatorRule> rules_for(const std::string& op,
                                                    const std::vector<Call>& calls) const {
    std::vector<OperatorRule> rules{judged({.save = true, .every_nth = {}}, calls),
                                    judged({.save = false, .every_nth = {}}, calls)};
    for (const auto counter : {EveryNth::Counter::global, EveryNth::Counter::per_layer})
      for (std::int64_t n = 2; n <= kMaxN; ++n)
        rules.push_back(
            judged({.every_nth = EveryNth{.op = op, .n = n, .counter = counter}}, calls));
    const std::vector<OperatorRule> whole(rules.begin(), rules.begin() + 2);
    const auto is_same = [](const OperatorRule& a, const OperatorRule& b) {
      return a.more_bytes == b.more_bytes && a.wrong_bytes == b.wrong_bytes;
    };
    std::ranges::stable_sort(rules, {}, [](const OperatorRule& rule) {
      return std::tuple(rule.wrong_bytes > 0, std::abs(rule.more_bytes), rule.wrong_bytes,
                        rule.more_bytes);
    });
    // Rules with equal amounts usually have the same effect; for example, an n beyond the number of
    // calls saves every call.
    rules.erase(std::unique(rules.begin(), rules.end(), is_same), rules.end());
    rules.resize(std::min(rules.size(), kNearest));
    for (const OperatorRule& rule : whole)
      if (std::ranges::none_of(rules, [&](const OperatorRule& r) { return is_same(r, rule); }))
        rules.push_back(rule);
    return rules;
  }

  const Graph& graph_;
  ModuleTree modules_;
  Layers layers_;
  std::map<OperatorId, std::vector<Call>> by_operator_;  // each in program order
};

}  // namespace

std::vector<OperatorRules> operator_rules(const Graph& joint, const SavePlan& plan) {
  return Lister(joint, plan).run();
}

SacOptions list_of(const std::vector<OperatorRules>& rules, std::span<const std::size_t> chosen) {
  SacOptions options{.save = {}, .every_nth = {}, .default_list = false, .whole_forward = true};
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const OperatorRule& rule = rules[i].rules[chosen[i]];
    if (rule.every_nth)
      options.every_nth.push_back(*rule.every_nth);
    else if (rule.save)
      options.save.push_back(rules[i].op);
  }
  return options;
}

}  // namespace jointer
