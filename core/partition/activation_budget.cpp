// Chooses the values to save under an activation budget from 0 to 1, as torch does in
// choose_saved_values_set (torch/_functorch/partitioners.py, 2.11 to 2.15).
//
// Terms
//   whole    the values that the minimum cut saves without a budget, which is budget 1. Saving only
//            the inputs is budget 0. A ratio is the position of a set's bytes on this scale; views
//            count in full.
//   bans     the values that the cut may not recompute, and why (ban_rules.cpp).
//
// Steps
//   1. Compute the whole. If it has no more bytes than the inputs, it is the result for every
//      budget above 0.
//   2. More aggressive: solve without the bans on values used far apart, on long fusible chains,
//      and on values that the backward materializes. This is the result if its ratio is below the
//      budget.
//   3. Aggressive: also without the allowlist; random, compute-intensive and reduction operators
//      stay banned. This is the result if its ratio is below the budget.
//   4. Collect the items, largest first: values that step 3 bans, that the backward needs, that
//      share no storage with an input, and that are not tagged MUST_SAVE or MUST_CPU_OFFLOAD. To
//      torch, all values without a storage share one, so tuples and numbers are not items if an
//      input is a number. The weight of an item is its share of the bytes between budgets 0 and 1;
//      its value is the FLOPs of its call as torch's "flops" estimator counts them, at least one.
//      Without items, the result is that of step 3 or, before torch 2.14, the inputs and the values
//      that would be items if they were not tagged.
//   5. Let the knapsack choose the items to save. Lift the bans on the others, unless they are
//      collectives, and solve the cut once more.
//
// The result may save less than the budget, as torch documents: the cut may find cheaper points
// than the saved items. It may also save more: collectives that the knapsack rejected stay saved,
// and so may values that are not items.
//
// Deviation: if there are no items, torch before 2.14 saves a tagged tuple as a whole, which
// autograd cannot do. Here the tuple's elements are saved.
//
// Cost: three cuts and, for the solver dp, its table once; a cut and a knapsack per budget.

#include "core/partition/activation_budget.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_set>

#include "core/base/units.h"
#include "core/cost/node_flops.h"
#include "core/graph/torch_version.h"
#include "core/partition/cut_off.h"
#include "core/partition/recompute_tags.h"

namespace jointer {
namespace {

constexpr double kGb = 1e9;

// The storage of the tensor that a node returns; none if the node returns a tuple or a number, as
// in torch.
StorageId storage_of(const Graph& graph, NodeId id) {
  const Tensor* t = graph.single_tensor(graph.node(id));
  return t != nullptr ? t->storage : StorageId{};
}

}  // namespace

ActivationBudget::ActivationBudget(const Graph& joint, const JointParts& parts,
                                   const MinCut& problem, const PartitionOptions& options)
    : joint_(joint), parts_(parts), problem_(problem), options_(options) {}

std::int64_t ActivationBudget::bytes(const std::vector<NodeId>& values) const {
  return std::accumulate(
      values.begin(), values.end(), std::int64_t{0},
      [&](std::int64_t sum, NodeId id) { return sum + problem_.bytes()[id.index()]; });
}

double ActivationBudget::ratio(const std::vector<NodeId>& values) const {
  return (static_cast<double>(bytes(values)) / kGb - min_gb_) / span_gb_;
}

Result<void> ActivationBudget::solve_cuts(const Watcher& watcher) {
  BanOptions bans;
  bans.used_far_apart = bans.long_fusible_chains = bans.materialized_in_backward = false;
  JOINTER_TRY(more_aggressive_, problem_.solve(bans, {}, watcher.part(0, 0.5)));
  bans.not_in_allowlist = false;
  JOINTER_TRY(aggressive_, problem_.solve(bans, {}, watcher.part(0.5, 0.9)));
  items_ = find_items(aggressive_->bans);
  return {};
}

ActivationBudget::Items ActivationBudget::find_items(const Bans& bans) const {
  std::unordered_set<StorageId> of_inputs;  // may contain "no storage", as in torch
  for (const NodeId input : parts_.forward_inputs) of_inputs.insert(storage_of(joint_, input));
  Items items;
  for (const NodeId id : bans.banned) {
    if (problem_.distance_to_backward()[id.index()] >= MinCut::kFar ||
        of_inputs.contains(storage_of(joint_, id)))
      continue;
    const bool is_tagged = is_tagged_to_save(joint_.node(id));
    (is_tagged ? items.must_save : items.nodes).push_back(id);
  }
  const auto bytes = problem_.bytes();
  Knapsack knapsack;
  std::stable_sort(items.nodes.begin(), items.nodes.end(),
                   [&](NodeId a, NodeId b) { return bytes[a.index()] > bytes[b.index()]; });
  for (const NodeId id : items.nodes) {
    knapsack.weights.push_back(static_cast<double>(bytes[id.index()]) / kGb / span_gb_);
    const std::int64_t flops = node_flops(joint_, joint_.node(id)).torch_registry;
    knapsack.values.push_back(static_cast<double>(std::max(flops, std::int64_t{1})));
  }
  items.knapsack = BudgetKnapsack(std::move(knapsack), options_.solver, options_.rounding);
  return items;
}

void ActivationBudget::add_elements(NodeId id, std::vector<NodeId>& saved) const {
  const Node& n = joint_.node(id);
  if (n.value.kind != Value::Kind::list && n.value.kind != Value::Kind::dict) {
    // An element that is itself tagged may already be in the list.
    if (std::find(saved.begin(), saved.end(), id) == saved.end()) saved.push_back(id);
    return;
  }
  for (const NodeId user : problem_.users().of(id))
    if (joint_.op(joint_.node(user)).is_getitem) add_elements(user, saved);
}

Result<BudgetedCut> ActivationBudget::choose(double budget, const Watcher& watcher) {
  if (!(budget >= 0 && budget <= 1))
    return fail(Error::Kind::usage, "an activation budget must be a number from 0 to 1, not {}",
                budget);
  if (budget == 0) return BudgetedCut{parts_.forward_inputs, std::nullopt, {}, {}};
  const auto answer = [](const CutSolution& cut) { return BudgetedCut{cut.saved, cut, {}, {}}; };
  if (!whole_) {
    JOINTER_TRY(whole_, problem_.solve({}, {}, watcher.part(0, 0.25)));
    min_gb_ = static_cast<double>(bytes(parts_.forward_inputs)) / kGb;
    span_gb_ = static_cast<double>(bytes(whole_->saved)) / kGb - min_gb_;
  }
  if (budget == 1 || span_gb_ <= 0) return answer(*whole_);
  if (!aggressive_) JOINTER_CHECK(solve_cuts(watcher.part(0.25, 0.7)));
  if (ratio(more_aggressive_->saved) < budget) return answer(*more_aggressive_);
  if (ratio(aggressive_->saved) < budget) return answer(*aggressive_);
  if (items_.nodes.empty()) {
    if (torch_version_of(joint_) >= TorchVersion{2, 14}) return answer(*aggressive_);
    BudgetedCut inputs{parts_.forward_inputs, std::nullopt, {}, {}};
    for (const NodeId id : items_.must_save) add_elements(id, inputs.saved);
    return inputs;
  }

  JOINTER_CHECK(watcher.at(0.7));
  JOINTER_TRY(const KnapsackAnswer decided, items_.knapsack.solve(budget));
  BudgetedCut chosen;
  std::vector<bool> allowed(joint_.node_count(), false);
  for (const std::size_t i : decided.recomputed) {
    allowed[items_.nodes[i].index()] = true;
    chosen.left.push_back(items_.nodes[i]);
  }
  for (const std::size_t i : decided.saved) chosen.in_knapsack.push_back(items_.nodes[i]);
  BanOptions bans;
  bans.used_far_apart = bans.long_fusible_chains = bans.materialized_in_backward = false;
  bans.not_in_allowlist = false;
  JOINTER_TRY(chosen.cut, problem_.solve(bans, allowed, watcher.part(0.8, 1)));
  chosen.saved = chosen.cut->saved;
  return chosen;
}

namespace {

// Explains why the knapsack saves some items and not others. The knapsack cannot distinguish items
// of the same bytes and FLOPs: if it saves only some of them, their order decides.
class BudgetReasons {
 public:
  BudgetReasons(const Graph& joint, const BudgetedCut& chosen, double budget)
      : joint_(joint), budget_(format_percent(budget)) {
    for (const NodeId id : chosen.in_knapsack) add(id, true);
    for (const NodeId id : chosen.left) add(id, false);
    std::vector<WeighedValue> values;
    for (const auto& [item, count] : counts_) {
      if (item.bytes == 0) continue;
      for (const bool is_left : {false, true})
        if (const auto of = static_cast<std::int64_t>(is_left ? count.left : count.saved); of > 0)
          values.push_back({.density = 1 / item.flops_per_byte(),
                            .bytes = item.bytes * of,
                            .is_recomputed = is_left});
    }
    if (const auto found = cut_off(std::move(values))) cut_off_ = 1 / found->density;
  }

  [[nodiscard]] std::string text(NodeId id, bool is_saved) const {
    const Item item = item_of(id);
    const Count& count = counts_.at(item);
    const std::string cost =
        fmt::format("{} for {}", format_bytes(item.bytes), flops_text(item.flops));
    if (count.saved > 0 && count.left > 0)
      return fmt::format(
          "one of {} equal values ({}), of which {} {} in a budget of {}; the choice among them is "
          "arbitrary",
          count.saved + count.left, cost, count.saved, count.saved == 1 ? "fits" : "fit", budget_);
    const std::string worth = fmt::format("{}worth saving under a budget of {}: {}",
                                          is_saved ? "" : "not ", budget_, cost);
    if (!cut_off_ || item.bytes == 0) return worth;
    const std::string density = flops_text(item.flops_per_byte()) + " per byte";
    const std::string up_to = flops_text(*cut_off_) + " per byte";
    if (is_saved && item.flops_per_byte() < *cut_off_)
      return fmt::format(
          "saved in the remainder of a budget of {}: {}, {}; values above {} are worth saving",
          budget_, cost, density, up_to);
    if (!is_saved && item.flops_per_byte() > *cut_off_)
      return fmt::format(
          "does not fit in the remainder of a budget of {}: {}, {}; values above {} are worth "
          "saving",
          budget_, cost, density, up_to);
    return fmt::format("{}, {}; values up to {} are recomputed", worth, density, up_to);
  }

 private:
  struct Item {
    std::int64_t bytes = 0, flops = 0;
    [[nodiscard]] double flops_per_byte() const {
      return static_cast<double>(std::max(flops, std::int64_t{1})) / static_cast<double>(bytes);
    }
    friend auto operator<=>(const Item&, const Item&) = default;
  };
  struct Count {
    std::size_t saved = 0, left = 0;
  };

  [[nodiscard]] Item item_of(NodeId id) const {
    const Node& node = joint_.node(id);
    return {.bytes = joint_.output_bytes(node), .flops = node_flops(joint_, node).torch_registry};
  }
  void add(NodeId id, bool is_saved) {
    Count& count = counts_[item_of(id)];
    ++(is_saved ? count.saved : count.left);
  }
  template <class Number>
  static std::string flops_text(Number flops) {
    return format_flops(static_cast<double>(flops));
  }

  const Graph& joint_;
  std::string budget_;
  std::map<Item, Count> counts_;
  std::optional<double> cut_off_;  // FLOPs per byte
};

}  // namespace

void explain_budget(const Graph& joint, const BudgetedCut& chosen, const SavePlan& plan,
                    const PartitionOptions& options, std::vector<PlanReason>& reasons) {
  std::vector<bool> is_saved(joint.node_count(), false);
  for (const NodeId id : plan.saved) is_saved[id.index()] = true;
  const BudgetReasons budget(joint, chosen, options.activation_budget);
  for (const NodeId id : chosen.in_knapsack)
    if (is_saved[id.index()])
      reasons[id.index()] = {PlanReason::Kind::knapsack, {}, budget.text(id, true)};
  for (const NodeId id : chosen.left) {
    PlanReason& reason = reasons[id.index()];
    if (is_saved[id.index()] || reason.kind == PlanReason::Kind::none) continue;
    reason = {PlanReason::Kind::knapsack, reason.node, budget.text(id, false)};
  }
}

}  // namespace jointer
