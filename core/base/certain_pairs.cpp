// Pairs the elements of two sequences by name and order, without guesses.
//
// Steps
//   1. For each token, collect the elements of `a` and of `b` that have no partner. If there are
//      equally many in both, pair them one by one, in order.
//   2. Find a longest list of pairs that are in the same order in both sequences
//      (longest_increasing.h). It cuts both sequences into gaps.
//   3. Repeat step 1 in each gap. If that makes pairs, repeat steps 2 and 3.
//
// Step 1 follows the patience diff (B. Cohen), which pairs only lines that are unique in both
// texts. Tokens that are equally frequent are paired too, because the same program made both
// sequences.

#include "core/base/certain_pairs.h"

#include <map>

#include "core/base/longest_increasing.h"

namespace jointer {

void CertainPairs::add(std::uint32_t a, std::uint32_t b) {
  of_a_[a] = b;
  of_b_[b] = a;
}

bool CertainPairs::add_within(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b,
                              Range in_a, Range in_b) {
  struct Places {
    std::vector<std::uint32_t> a, b;
  };
  std::map<std::uint32_t, Places> places;
  for (std::uint32_t i = in_a.begin; i < in_a.end; ++i)
    if (a[i] != 0 && of_a_[i] == kNone) places[a[i]].a.push_back(i);
  if (places.empty()) return false;
  for (std::uint32_t i = in_b.begin; i < in_b.end; ++i)
    if (b[i] != 0 && of_b_[i] == kNone) places[b[i]].b.push_back(i);
  bool has_added = false;
  for (const auto& [token, at] : places) {
    if (at.a.size() != at.b.size()) continue;
    for (std::size_t i = 0; i < at.a.size(); ++i) add(at.a[i], at.b[i]);
    has_added = true;
  }
  return has_added;
}

void CertainPairs::add(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b) {
  const Range all_a{0, static_cast<std::uint32_t>(of_a_.size())};
  const Range all_b{0, static_cast<std::uint32_t>(of_b_.size())};
  add_within(a, b, all_a, all_b);
  for (bool has_added = true; has_added;) {
    has_added = false;
    Range in_a{0, 0}, in_b{0, 0};
    std::vector<Pair> anchors = in_order();
    anchors.emplace_back(all_a.end, all_b.end);
    for (const auto& [at_a, at_b] : anchors) {
      in_a.end = at_a;
      in_b.end = at_b;
      has_added = add_within(a, b, in_a, in_b) || has_added;
      in_a.begin = at_a + 1;
      in_b.begin = at_b + 1;
    }
  }
}

std::vector<CertainPairs::Pair> CertainPairs::in_order() const {
  std::vector<Pair> pairs;
  std::vector<std::uint32_t> partners;  // of the pairs, in `b`
  for (std::uint32_t i = 0; i < of_a_.size(); ++i) {
    if (of_a_[i] == kNone) continue;
    pairs.emplace_back(i, of_a_[i]);
    partners.push_back(of_a_[i]);
  }
  std::vector<Pair> list;
  for (const std::size_t i : longest_increasing(partners)) list.push_back(pairs[i]);
  return list;
}

}  // namespace jointer
