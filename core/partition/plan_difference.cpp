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

// The bytes and the time that a plan spends on a value.
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

MaybeAction kept_as(const PlanRow* row) {
  return row == nullptr ? MaybeAction() : MaybeAction(row->action);
}

// True if the value is saved or offloaded.
bool has_storage(MaybeAction kept) {
  return kept && *kept != PlanAction::recompute;
}

// How the backward obtains a storage, given how it obtains two values in it.
MaybeAction joined(MaybeAction a, MaybeAction b) {
  for (const PlanAction action : {PlanAction::save, PlanAction::offload, PlanAction::recompute})
    if (a == action || b == action) return action;
  return {};
}

// The change of all values that share a storage.
struct StorageChange {
  bool is_gone = false;  // the second graph lacks the node
  std::size_t position = 0;
  bool describes_after = false;  // `node` is in the second graph
  NodeId node = {};
  MaybeAction from = {}, to = {};
  PlanAmounts amounts = {};
};

// Joins the values of two plans whose nodes have the same name, and then those that share a storage
// in either graph.
class SharedStorages {
 public:
  SharedStorages(const PlanSide& before, const PlanSide& after) : before_(before), after_(after) {
    for (const PlanRow& row : before.rows) value(before.graph.name(row.node)).before = &row;
    for (const PlanRow& row : after.rows) value(after.graph.name(row.node)).after = &row;
    parents_.resize(values_.size());
    for (std::size_t i = 0; i < parents_.size(); ++i) parents_[i] = i;
    is_of_input_.assign(values_.size(), false);
    join(before.graph, &Both::before);
    join(after.graph, &Both::after);
  }

  // Sorted by position in the second graph; values that it lacks follow.
  std::vector<StorageChange> changes() {
    // Indexed by root: the values that share a storage.
    std::map<std::size_t, std::vector<std::size_t>> storages;
    for (std::size_t i = 0; i < values_.size(); ++i) storages[root(i)].push_back(i);
    std::vector<StorageChange> changes;
    for (const auto& [first, values] : storages) {
      const StorageChange change = change_of(values);
      const bool is_free = change.amounts == PlanAmounts();
      const bool is_same =
          change.from == change.to || (!has_storage(change.from) && !has_storage(change.to));
      if (!is_free || !(is_same || is_of_input_[first])) changes.push_back(change);
    }
    const auto key = [](const StorageChange& change) {
      return std::pair(change.is_gone, change.position);
    };
    std::ranges::sort(changes, {}, key);
    return changes;
  }

 private:
  struct Both {
    std::string_view name;
    const PlanRow* before = nullptr;
    const PlanRow* after = nullptr;
    [[nodiscard]] bool is_kept() const {
      return has_storage(kept_as(before)) || has_storage(kept_as(after));
    }
  };

  Both& value(std::string_view name) {
    const auto [at, is_new] = by_name_.try_emplace(name, values_.size());
    if (is_new) values_.push_back({.name = name});
    return values_[at->second];
  }

  [[nodiscard]] std::size_t root(std::size_t i) {
    while (parents_[i] != i) i = parents_[i] = parents_[parents_[i]];
    return i;
  }

  // The storage of a node that returns one tensor; none for other nodes.
  static StorageId storage(const Graph& graph, NodeId id) {
    const Node& n = graph.node(id);
    if (n.value.kind != Value::Kind::tensor) return {};
    const StorageId storage = graph.tensors(n).front().storage;
    return storage ? graph.real_storage(storage) : storage;
  }

  void join(const Graph& graph, const PlanRow* Both::*side) {
    std::unordered_map<StorageId, std::size_t> first;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      // A value that this plan does not need may still be in the graph.
      const PlanRow* row = values_[i].*side;
      const NodeId node = row != nullptr ? row->node : graph.find(values_[i].name);
      const StorageId in = node ? storage(graph, node) : StorageId{};
      if (!in) continue;
      const auto [at, is_new] = first.try_emplace(in, i);
      if (is_new) continue;
      const std::size_t a = root(at->second), b = root(i);
      is_of_input_[a] = is_of_input_[a] || is_of_input_[b];
      parents_[b] = a;
    }
    for (const NodeId id : graph.order()) {
      const Node& n = graph.node(id);
      if (n.part != PartId(0) || n.kind == NodeKind::call || n.kind == NodeKind::output) continue;
      if (const StorageId in = storage(graph, id))
        if (const auto at = first.find(in); at != first.end())
          is_of_input_[root(at->second)] = true;
    }
  }

  // The position and node of a value's row; `change_of` fills in the policies and amounts.
  [[nodiscard]] StorageChange place_of(const Both& value) const {
    if (value.after != nullptr)
      return {.position = after_.graph.position(value.after->node),
              .describes_after = true,
              .node = value.after->node};
    const NodeId was = value.before->node;
    const NodeId is = after_.graph.find(before_.graph.name(was));
    return {.is_gone = !is,
            .position = is ? after_.graph.position(is) : before_.graph.position(was),
            .node = was};
  }

  [[nodiscard]] StorageChange change_of(const std::vector<std::size_t>& values) const {
    const auto key = [this](std::size_t i) {
      const StorageChange place = place_of(values_[i]);
      return std::tuple(!values_[i].is_kept(), place.is_gone, place.position);
    };
    StorageChange sum = place_of(values_[std::ranges::min(values, {}, key)]);
    for (const std::size_t i : values) {
      const auto& [name, before, after] = values_[i];
      sum.from = joined(sum.from, kept_as(before));
      sum.to = joined(sum.to, kept_as(after));
      sum.amounts += amounts(after) - amounts(before);
    }
    return sum;
  }

  const PlanSide &before_, &after_;
  std::vector<Both> values_;
  std::unordered_map<std::string_view, std::size_t> by_name_;
  std::vector<std::size_t> parents_;
  std::vector<bool> is_of_input_;  // by root: the storage belongs to an input or a constant
};

// The size of a change, by which changes are sorted.
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
  if (others > 0) text += fmt::format(", {} more", format_count(others));
  return text;
}

}  // namespace

std::string_view to_text(MaybeAction kept) {
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
  PlanDifference difference;
  const std::vector<StorageChange> changes = SharedStorages(before, after).changes();
  if (changes.empty()) return difference;
  const Places places_before(before.graph), places_after(after.graph);
  difference.rows.reserve(changes.size());
  for (const StorageChange& change : changes) {
    PlanChangeRow row =
        (change.describes_after ? places_after : places_before).describe(change.node);
    row.from = change.from;
    row.to = change.to;
    row.change = change.amounts;
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
  std::map<std::pair<MaybeAction, MaybeAction>, PlanTransition> by_kind;
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
  // Layers in numeric order, with values without a layer last; operators in alphabetical order.
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

namespace {

// Equal for corresponding values of identical layers.
using LayerKey = std::tuple<std::string, std::string_view, MaybeAction, MaybeAction, std::int64_t,
                            std::int64_t, std::int64_t>;

LayerKey layer_key(const PlanChangeRow& row) {
  return {path_in_any_layer(row.module),
          row.target,
          row.from,
          row.to,
          row.change.saved_bytes,
          row.change.offloaded_bytes,
          row.change.recompute_ns};
}

// The rows of a layer by their keys: independent calls of identical layers may be in a different
// order.
std::multimap<LayerKey, std::size_t> by_key(const PlanDifference& difference,
                                            const PlanChangeGroup& layer) {
  std::multimap<LayerKey, std::size_t> rows;
  for (const std::size_t i : layer.rows) rows.emplace(layer_key(difference.rows[i]), i);
  return rows;
}

// Layers that are alike, with their rows by key.
struct Fold {
  PlanChangeLayers layers;
  std::vector<std::multimap<LayerKey, std::size_t>> rows;

  [[nodiscard]] bool continues_with(std::int64_t layer,
                                    const std::multimap<LayerKey, std::size_t>& next) const {
    return layers.first != Layers::kNone &&
           layer == layers.first + static_cast<std::int64_t>(layers.members) &&
           std::ranges::equal(rows.front(), next, {},
                              &std::pair<const LayerKey, std::size_t>::first,
                              &std::pair<const LayerKey, std::size_t>::first);
  }
  void add(PlanChangeGroup group, std::multimap<LayerKey, std::size_t> next) {
    layers.all.moved += group.moved;
    layers.all.change += group.change;
    layers.all.rows.insert(layers.all.rows.end(), group.rows.begin(), group.rows.end());
    rows.push_back(std::move(next));
    layers.members = rows.size();
  }
  // The entries are in the order of the first layer's rows.
  PlanChangeLayers finish() {
    if (layers.members == 1) return std::move(layers);
    std::map<std::size_t, std::vector<std::size_t>> entries;
    std::vector<std::multimap<LayerKey, std::size_t>::const_iterator> at;
    for (const auto& layer : rows) at.push_back(layer.begin());
    while (at.front() != rows.front().end()) {
      std::vector<std::size_t>& entry = entries[at.front()->second];
      for (auto& each : at) entry.push_back((each++)->second);
    }
    for (auto& [first, entry] : entries) layers.entries.push_back(std::move(entry));
    return std::move(layers);
  }
};

}  // namespace

std::vector<PlanChangeLayers> folded_layers(const PlanDifference& difference) {
  std::vector<Fold> folds;
  for (PlanChangeGroup& group : groups(difference, PlanGrouping::layer)) {
    const std::int64_t layer = difference.rows[group.rows.front()].layer;
    auto rows = by_key(difference, group);
    if (folds.empty() || !folds.back().continues_with(layer, rows)) {
      Fold& fold = folds.emplace_back();
      fold.layers.all.name = group.name;
      fold.layers.first = layer;
    }
    folds.back().add(std::move(group), std::move(rows));
  }
  std::vector<PlanChangeLayers> found;
  found.reserve(folds.size());
  for (Fold& fold : folds) found.push_back(fold.finish());
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
  const std::string count = format_count(transition.count);
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
  if (difference.empty()) return "No values changed";
  return fmt::format("{} changed: {}", counted(difference.moved(), "value"),
                     list(transitions(difference), arrow, max));
}

}  // namespace jointer
