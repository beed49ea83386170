#include "passes/bucketing/augmented_graph.h"

#include <algorithm>

namespace jointer {

Ancestors::Ancestors(const OverlapGraph& graph, std::span<const Place> order,
                     std::span<const std::pair<Place, Place>> more)
    : rank_(graph.size(), 0), first_(graph.size() + 1, 0) {
  for (std::size_t i = 0; i < order.size(); ++i) {
    rank_[order[i]] = static_cast<std::uint32_t>(i);
    first_[i + 1] = first_[i] + (i + 63) / 64;
  }
  bits_.assign(first_.back(), 0);
  const PlaceLists others = PlaceLists::of_pairs(more, graph.size());
  const auto take_over = [&](std::uint32_t row, Place input) {
    const std::uint32_t from = rank_[input];
    std::uint64_t* to = &bits_[first_[row]];
    const std::uint64_t* begin = bits_.data() + first_[from];
    const std::size_t words = first_[from + 1] - first_[from];
    for (std::size_t i = 0; i < words; ++i) to[i] |= begin[i];
    to[from / 64] |= std::uint64_t{1} << (from % 64);
  };
  for (const Place p : order) {
    const std::uint32_t row = rank_[p];
    // If the row already contains an input, it also contains the input's ancestors.
    for (const auto& inputs : {graph.inputs.of(p), others.of(p)})
      for (const Place input : inputs)
        if (!has(p, input)) take_over(row, input);
  }
}

AugmentedGraph::AugmentedGraph(const OverlapGraph& graph, const Ancestors& ancestors)
    : graph_(graph),
      ancestors_(ancestors),
      more_(graph.size()),
      set_(graph.size(), -1),
      marks_(graph.size(), 0) {}

void AugmentedGraph::add(Place place, Place dependency) {
  auto& more = more_[place];
  if (std::ranges::find(more, dependency) == more.end()) more.push_back(dependency);
}

void AugmentedGraph::remove(Place place, Place dependency) {
  std::erase(more_[place], dependency);
}

void AugmentedGraph::merge(Place of, Place place) {
  if (set_[of] < 0) {
    set_[of] = static_cast<std::int32_t>(sets_.size());
    sets_.push_back({of});
  }
  set_[place] = set_[of];
  sets_[static_cast<std::size_t>(set_[of])].push_back(place);
}

void AugmentedGraph::unmerge(Place place) {
  if (set_[place] < 0) return;
  std::erase(sets_[static_cast<std::size_t>(set_[place])], place);
  set_[place] = -1;
}

bool AugmentedGraph::has_path(Place from, Place to) {
  const auto sources = members(from);
  const auto is_source = [&](Place p) {
    return p == from || (set_[from] >= 0 && set_[p] == set_[from]);
  };
  ++mark_;
  stack_.assign(1, to);
  marks_[to] = mark_;
  bool found = false;
  const auto visit = [&](Place needed) {
    if (found || is_source(needed)) {
      found = true;
      return;
    }
    if (marks_[needed] == mark_) return;
    marks_[needed] = mark_;
    // Do not search beyond an ancestor of a source: it cannot depend on the source.
    for (const Place source : sources)
      if (ancestors_.has(source, needed)) return;
    stack_.push_back(needed);
  };
  while (!stack_.empty() && !found) {
    const Place at = stack_.back();
    stack_.pop_back();
    for (const Place member : members(at)) {
      for (const Place input : graph_.inputs.of(member)) visit(input);
      for (const Place other : more_[member]) visit(other);
    }
  }
  return found;
}

}  // namespace jointer
