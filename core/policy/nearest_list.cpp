// Finds the operator set for which the partitioner's plan is nearest to a given plan.
//
// Tags do not determine a plan: the partitioner drops saved values that nothing reads, and the
// values saved for one operator affect those that must be recomputed for another. Lists are
// therefore compared by their plans.
//
// Steps
//   1. Start with the nearer of two lists. One has the first rule of each operator, which saves
//      about as many bytes as the plan; the other has, for each operator, the rule that is right
//      for the most bytes.
//   2. Replace the rule of one operator, and keep the change if it makes the plan nearer. Begin
//      with the operator whose first rule is wrong for the most bytes. Repeat until no change
//      helps, the tries are used up, or a list produces the plan itself.
//
// Cost: that of solving the graph at most `max_tries` times.

#include "core/policy/nearest_list.h"

#include <algorithm>
#include <optional>

namespace jointer {

SacOptions nearest_list(const std::vector<OperatorRules>& rules,
                        const std::function<Result<ListDistance>(const SacOptions&)>& distance,
                        std::size_t max_tries) {
  std::vector<std::size_t> chosen(rules.size(), 0), right(rules.size(), 0), order;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const std::vector<OperatorRule>& each = rules[i].rules;
    if (each.size() > 1) order.push_back(i);
    right[i] = static_cast<std::size_t>(
        std::ranges::min_element(each, {}, &OperatorRule::wrong_bytes) - each.begin());
  }
  if (max_tries < 2) return list_of(rules, right);
  std::ranges::stable_sort(order, std::ranges::greater(),
                           [&](std::size_t i) { return rules[i].rules.front().wrong_bytes; });
  std::size_t tries = 0;
  std::optional<ListDistance> best;
  // Tries a list. Returns true if it is the nearest so far.
  const auto is_nearer = [&](const std::vector<std::size_t>& list) {
    ++tries;
    const Result<ListDistance> found = distance(list_of(rules, list));
    if (!found || (best && *found >= *best)) return false;
    best = *found;
    return true;
  };
  const auto is_over = [&] { return tries >= max_tries || best == ListDistance{}; };
  is_nearer(chosen);
  if (right != chosen && !is_over() && is_nearer(right)) chosen = right;
  for (bool improved = true; improved;) {
    improved = false;
    for (const std::size_t i : order)
      for (std::size_t other = 0; other < rules[i].rules.size(); ++other) {
        if (is_over()) return list_of(rules, chosen);
        const std::size_t was = chosen[i];
        if (other == was) continue;
        chosen[i] = other;
        if (is_nearer(chosen))
          improved = true;
        else
          chosen[i] = was;
      }
  }
  return list_of(rules, chosen);
}

}  // namespace jointer
