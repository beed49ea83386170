#include "core/partition/plan_difference.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "core/base/counted.h"
#include "core/base/units.h"
#include "core/graph/layers.h"
#include "core/graph/module_tree.h"
#include "core/graph/tuple_call.h"
#include "core/partition/plan_margin_text.h"

namespace jointer {
namespace {

// Describes values of one graph.
class Places {
 public:
  explicit Places(const Graph& graph) : graph_(graph), modules_(graph), layers_(graph, modules_) {}

  [[nodiscard]] PlanChangeRow describe(NodeId id) const {
    const Node& call = graph_.node(tuple_call(graph_, id));
    return {.name = std::string(graph_.name(id)),
            .target = std::string(graph_.target(call)),
            .module = modules_.module(modules_.of(id)).path,
            .layer = layers_.of(id),
            .from = {},
            .to = {},
            .change = {}};
  }

 private:
  const Graph& graph_;
  ModuleTree modules_;
  Layers layers_;
};

// Bytes and time that a plan takes for a value.
PlanAmounts amounts(const PlanRow* row) {
  if (row == nullptr) return {};
  return {.saved_bytes = row->saved_bytes,
          .offloaded_bytes = row->offloaded_bytes,
          .recompute_ns = row->recompute_ns};
}

PlanAmounts operator-(const PlanAmounts& a, const PlanAmounts& b) {
  return {.saved_bytes = a.saved_bytes - b.saved_bytes,
          .offloaded_bytes = a.offloaded_bytes - b.offloaded_bytes,
          .recompute_ns = a.recompute_ns - b.recompute_ns};
}

KeptAs kept_as(const PlanRow* row) {
  return row == nullptr ? KeptAs() : KeptAs(row->keep);
}

// Saved or offloaded.
bool is_kept(const PlanRow* row) {
  return row != nullptr && row->keep != Keep::recompute;
}

// The larger, the more prominent.
auto weight(const PlanAmounts& change) {
  return std::pair(std::max(std::abs(change.saved_bytes), std::abs(change.offloaded_bytes)),
                   std::abs(change.recompute_ns));
}

std::string with_sign(std::int64_t number, const std::string& text) {
  return number > 0 ? "+" + text : text;
}

// The first `max` transitions; the others are counted.
std::string list(const std::vector<PlanTransition>& all, std::string_view arrow, std::size_t max) {
  std::string text;
  std::size_t others = 0;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (i < max)
      text += (i > 0 ? ", " : "") + to_text(all[i], arrow);
    else
      others += all[i].count;
  if (others > 0) text += fmt::format(", {} more", format_count(static_cast<std::int64_t>(others)));
  return text;
}

}  // namespace

std::string_view to_text(KeptAs kept) {
  return kept ? participle(*kept) : "not needed";
}

PlanAmounts& PlanAmounts::operator+=(const PlanAmounts& other) {
  saved_bytes += other.saved_bytes;
  offloaded_bytes += other.offloaded_bytes;
  recompute_ns += other.recompute_ns;
  return *this;
}

PlanAmounts PlanDifference::total() const {
  PlanAmounts sum;
  for (const PlanChangeRow& row : rows) sum += row.change;
  return sum;
}

std::size_t PlanDifference::moved() const {
  return static_cast<std::size_t>(std::ranges::count_if(rows, &PlanChangeRow::moved));
}

PlanDifference plan_difference(const PlanSide& before, const PlanSide& after) {
  struct Found {
    const PlanRow* before = nullptr;
    const PlanRow* after = nullptr;
  };
  std::unordered_map<std::string_view, Found> by_name;
  for (const PlanRow& row : before.rows) by_name[before.graph.name(row.node)].before = &row;
  for (const PlanRow& row : after.rows) by_name[after.graph.name(row.node)].after = &row;

  // Sorted by position in the second graph; values that it lacks follow.
  std::vector<std::tuple<bool, std::size_t, const Found*>> changed;
  for (const auto& [name, found] : by_name) {
    const PlanAmounts change = amounts(found.after) - amounts(found.before);
    if (change == PlanAmounts() && (kept_as(found.before) == kept_as(found.after) ||
                                    (!is_kept(found.before) && !is_kept(found.after))))
      continue;
    const NodeId there = found.after != nullptr ? found.after->node : after.graph.find(name);
    changed.emplace_back(
        !there, there ? after.graph.position(there) : before.graph.position(found.before->node),
        &found);
  }
  std::ranges::sort(changed);
  PlanDifference difference;
  if (changed.empty()) return difference;
  const Places places_before(before.graph), places_after(after.graph);
  difference.rows.reserve(changed.size());
  for (const auto& [is_gone, position, found] : changed) {
    PlanChangeRow row = found->after != nullptr ? places_after.describe(found->after->node)
                                                : places_before.describe(found->before->node);
    row.from = kept_as(found->before);
    row.to = kept_as(found->after);
    row.change = amounts(found->after) - amounts(found->before);
    difference.rows.push_back(std::move(row));
  }
  return difference;
}

std::vector<PlanTransition> transitions(const PlanDifference& difference) {
  std::vector<std::size_t> all(difference.rows.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
  return transitions(difference, all);
}

std::vector<PlanTransition> transitions(const PlanDifference& difference,
                                        std::span<const std::size_t> rows) {
  std::map<std::pair<KeptAs, KeptAs>, PlanTransition> by_kind;
  for (const std::size_t i : rows) {
    const PlanChangeRow& row = difference.rows[i];
    PlanTransition& sum = by_kind[{row.from, row.to}];
    sum.from = row.from;
    sum.to = row.to;
    ++sum.count;
    sum.change += row.change;
  }
  std::vector<PlanTransition> found;
  for (auto& [kind, sum] : by_kind) found.push_back(sum);
  std::ranges::stable_sort(found, [](const PlanTransition& a, const PlanTransition& b) {
    return std::pair(a.from != a.to, weight(a.change)) >
           std::pair(b.from != b.to, weight(b.change));
  });
  return found;
}

std::vector<PlanChangeGroup> groups(const PlanDifference& difference, PlanGrouping grouping) {
  // By layer in numeric order, those without a layer last; by operator in alphabetical order.
  std::map<std::pair<std::uint64_t, std::string_view>, PlanChangeGroup> by_key;
  for (std::size_t i = 0; i < difference.rows.size(); ++i) {
    const PlanChangeRow& row = difference.rows[i];
    const bool is_layer = grouping == PlanGrouping::layer;
    const auto number = static_cast<std::uint64_t>(row.layer);  // Layers::kNone is the greatest
    const auto [at, is_new] =
        by_key.try_emplace(is_layer ? std::pair(number, std::string_view())
                                    : std::pair(std::uint64_t{0}, std::string_view(row.target)));
    PlanChangeGroup& group = at->second;
    if (is_new)
      group.name = !is_layer                    ? row.target
                   : row.layer == Layers::kNone ? "outside of layers"
                                                : fmt::format("layer {}", row.layer);
    if (row.moved()) ++group.moved;
    group.change += row.change;
    group.rows.push_back(i);
  }
  std::vector<PlanChangeGroup> found;
  found.reserve(by_key.size());
  for (auto& [key, group] : by_key) found.push_back(std::move(group));
  if (grouping == PlanGrouping::target)
    std::ranges::stable_sort(found, std::ranges::greater(),
                             [](const PlanChangeGroup& group) { return weight(group.change); });
  return found;
}

std::string to_text(const PlanAmounts& change) {
  std::string text;
  const auto add = [&](std::int64_t number, const std::string& amount) {
    if (number == 0) return;
    if (!text.empty()) text += ", ";
    text += with_sign(number, amount);
  };
  add(change.saved_bytes, format_bytes(change.saved_bytes));
  add(change.offloaded_bytes, format_bytes(change.offloaded_bytes) + " on the host");
  add(change.recompute_ns, format_ns(change.recompute_ns));
  return text;
}

std::string to_text(const PlanTransition& transition, std::string_view arrow) {
  const std::string count = format_count(static_cast<std::int64_t>(transition.count));
  std::string text = transition.from == transition.to
                         ? fmt::format("{} still {}", count, to_text(transition.to))
                         : fmt::format("{} {} {} {}", count, to_text(transition.from), arrow,
                                       to_text(transition.to));
  if (const std::string change = to_text(transition.change); !change.empty())
    text += fmt::format(" ({})", change);
  return text;
}

std::string counts_text(const PlanDifference& difference, std::span<const std::size_t> rows,
                        std::string_view arrow, std::size_t max) {
  std::vector<PlanTransition> all = transitions(difference, rows);
  for (PlanTransition& each : all) each.change = {};
  return list(all, arrow, max);
}

std::string summary(const PlanDifference& difference, std::string_view arrow, std::size_t max) {
  if (difference.empty()) return "No value is kept differently";
  return fmt::format("{} changed: {}", counted(difference.moved(), "value"),
                     list(transitions(difference), arrow, max));
}

}  // namespace jointer
