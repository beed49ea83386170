// Finds selectors with which the memory policy `full` expresses a save plan.
//
// `full` recomputes everything except some values, such as those at the borders of layers
// (memory_policies.cpp), so only the other calls that the plan saves need a selector. Patterns are
// generated from these calls' modules, from wide to narrow:
//   *::OP, layers.*.attention.*::OP (every prefix), layers.*.attention.wq::OP, and the same with
//   the layer's own number.
// A pattern is allowed if the plan recomputes none of the calls that it matches. Until every call
// has a selector or no pattern helps, choose the allowed pattern that matches the most calls
// without a selector and, among equals, the shortest. If a saved and a recomputed call have the
// same module and operator, no selector can distinguish them, which is reported as a difference.
//
// If more is saved, `full` may stop saving values at borders. These values get selectors in another
// round; there are at most kMaxRounds.
//
// For each operator, a round adds at most 1 + ln(calls) times as many selectors as the fewest of
// these patterns that match its calls. Cost per round: the calls times the depth of their modules,
// times the selectors.

#include <algorithm>
#include <map>
#include <set>

#include "core/edit/select.h"
#include "core/graph/module_tree.h"
#include "core/policy/operator_list.h"
#include "core/policy/plan_makers.h"
#include "core/policy/tag_differences.h"
#include "core/policy/with_fsdp.h"

namespace jointer {
namespace {

constexpr int kMaxRounds = 4;

// Escapes the pattern characters in a path.
std::string escaped(std::string_view path) {
  std::string out;
  for (const char c : path) {
    if (c == '*' || c == '?' || c == '[')
      out += fmt::format("[{}]", c);
    else
      out += c;
  }
  return out;
}

// Returns the module patterns that match a path, widest first.
std::vector<std::string> module_patterns(const std::string& path) {
  std::vector<std::string> patterns{"*"};
  const std::string plain = escaped(path);
  for (const std::string& text : {with_number_wildcards(plain), plain}) {
    if (text.empty()) continue;
    for (std::size_t dot = text.find('.'); dot != std::string::npos; dot = text.find('.', dot + 1))
      patterns.push_back(text.substr(0, dot) + ".*");
    patterns.push_back(text);
  }
  return patterns;
}

class Selectors {
 public:
  Selectors(const Graph& joint, const SavePlan& plan) : graph_(joint), modules_(joint) {
    const PlanMakers makers = plan_makers(joint, plan);
    std::vector<bool> saved(joint.node_count(), false);
    for (const NodeId id : makers.saved) saved[id.index()] = true;
    for (const NodeId id : makers.rerun)
      if (!saved[id.index()]) rerun_[joint.node(id).target].insert(modules_.of(id));
  }

  void cover(const std::vector<NodeId>& calls) {
    std::map<OperatorId, std::vector<NodeId>> by_operator;
    for (const NodeId id : calls) by_operator[graph_.node(id).target].push_back(id);
    for (const auto& [op, those] : by_operator) cover(op, those);
  }

  [[nodiscard]] std::vector<std::string> chosen() const { return {chosen_.begin(), chosen_.end()}; }

 private:
  void cover(OperatorId op, const std::vector<NodeId>& calls) {
    std::map<std::string, std::set<NodeId>> candidates;  // by module pattern
    for (const NodeId id : calls)
      for (std::string& pattern : module_patterns(path_of(modules_.of(id))))
        candidates[std::move(pattern)].insert(id);
    while (true) {
      const auto best = std::ranges::max_element(candidates, [](const auto& a, const auto& b) {
        if (a.second.size() != b.second.size()) return a.second.size() < b.second.size();
        return a.first.size() > b.first.size();
      });
      if (best == candidates.end() || best->second.empty()) return;
      const auto [pattern, covered] = *best;
      candidates.erase(best);
      if (matches_rerun(op, pattern)) continue;
      chosen_.insert(fmt::format("{}::{}", pattern, graph_.op(op).name));
      for (auto& [other, nodes] : candidates)
        for (const NodeId id : covered) nodes.erase(id);
    }
  }

  [[nodiscard]] bool matches_rerun(OperatorId op, const std::string& pattern) const {
    const auto it = rerun_.find(op);
    return it != rerun_.end() && std::any_of(it->second.begin(), it->second.end(), [&](ModuleId m) {
             return module_matches(pattern, path_of(m));
           });
  }

  [[nodiscard]] const std::string& path_of(ModuleId module) const {
    return modules_.module(module).path;
  }

  const Graph& graph_;
  ModuleTree modules_;
  std::map<OperatorId, std::set<ModuleId>> rerun_;  // modules with recomputed calls
  std::set<std::string> chosen_;
};

}  // namespace

std::vector<std::string> selector_list(const Graph& joint, const SavePlan& plan,
                                       MemoryPolicy fsdp) {
  Selectors selectors(joint, plan);
  std::vector<std::string> chosen;
  for (int round = 0; round < kMaxRounds; ++round) {
    const auto edit = memory_policy_with_fsdp(joint, "full", chosen, fsdp);
    Graph tagged = joint;
    if (!edit || !apply(tagged, *edit)) break;
    selectors.cover(find_tag_differences(tagged, plan).lost);
    auto now = selectors.chosen();
    if (now == chosen) break;
    chosen = std::move(now);
  }
  return chosen;
}

}  // namespace jointer
