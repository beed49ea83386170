// Sets up the search for save plans, identically for the command line and the window.
//
//   - The search runs on the graph as min_cut sees it, with the tags in effect: budgets are
//     min_cut's, and a chosen point is partitioned by min_cut.
//   - So every plan is judged by min_cut's pair. Only the current plan has the figures of the
//     pair that its partitioner made, since the user sees those.
//   - "Slower" means compared with the step time of the current plan, which the user sees before
//     starting a search, not with that of the joint graph, which no pair may reach.
//   - A search begins with the current plan and with upstream's presets, each solved by min_cut
//     under its tags. If the user has set a policy, searches for a limit leave out the presets,
//     whose tags differ. On the curve they are shown for comparison.

#include "core/policy/trade_off.h"

#include <utility>

#include "core/base/checked.h"
#include "core/edit/edit.h"
#include "core/partition/random_states.h"
#include "core/policy/with_fsdp.h"

namespace jointer {
namespace {

constexpr double kPercent = 100;

// Removes from a plan made after a different clean-up the nodes that the clean-up of this graph
// erased.
void keep_live(const Graph& joint, SavePlan& plan) {
  for (auto* ids : {&plan.saved, &plan.saved_symbols, &plan.offloaded, &plan.redrawn})
    std::erase_if(*ids, [&](NodeId id) { return !joint.is_live(id); });
}

}  // namespace

Result<std::unique_ptr<TradeOff>> TradeOff::make(const Graph& graph, const Estimates& estimates,
                                                 TradeOffOptions options) {
  options.partition.partitioner = Partitioner::min_cut;
  options.partition.activation_budget = PartitionOptions().activation_budget;
  JOINTER_TRY(Partition solved, jointer::partition(graph, options.partition));
  std::unique_ptr<TradeOff> made(new TradeOff(std::move(solved), std::move(options)));
  const Graph& joint = made->partition_.joint;
  made->what_if_ = std::make_unique<PlanWhatIf>(
      joint, estimates.costs, estimates.flops, estimates.memory, estimates.simulation,
      PlanWhatIfOptions{.transfers = estimates.transfers, .partitioner = Partitioner::min_cut});
  made->set_now(std::move(made->options_.now));
  made->find_presets(graph);
  if (made->options_.has_policy) made->policies_ = policies_of(graph);
  return made;
}

void TradeOff::set_now(ParetoPoint now) {
  keep_live(partition_.joint, now.plan);
  options_.now = std::move(now);
}

void TradeOff::find_presets(const Graph& graph) {
  for (const std::string& name : upstream_presets()) {
    if (!options_.partition.watcher.at(0)) return;
    Graph tagged = graph;
    const auto edit = preset_with_fsdp(tagged, name, options_.fsdp);
    if (!edit || !apply(tagged, *edit)) continue;
    auto solved = jointer::partition(tagged);
    if (!solved) continue;
    solved->plan.redrawn = tagged_to_redraw(solved->joint);
    keep_live(partition_.joint, solved->plan);
    const auto figures = what_if_->figures(solved->plan);
    if (figures)
      presets_.push_back(
          {.budget = -1, .name = name, .plan = std::move(solved->plan), .figures = *figures});
  }
}

ParetoRequest TradeOff::request(bool with_presets) const {
  ParetoRequest request{.partition = options_.partition,
                        .given = {options_.now},
                        .max_budgets = options_.max_budgets,
                        .policies = policies_,
                        .offload = options_.offload,
                        .memory = options_.memory,
                        .effort = options_.effort,
                        .found = options_.found};
  // The joint graph already has the tags in effect.
  request.partition.ignore_tags = false;
  request.given.insert(request.given.end(), options_.known.begin(), options_.known.end());
  if (with_presets) request.given.insert(request.given.end(), presets_.begin(), presets_.end());
  return request;
}

Result<ParetoCurve> TradeOff::curve() const {
  return pareto(partition_.joint, *what_if_, request(true));
}

Result<Fit> TradeOff::fastest_within(std::int64_t peak_bytes) const {
  return jointer::fastest_within(partition_.joint, *what_if_, peak_bytes,
                                 request(!options_.has_policy));
}

std::int64_t TradeOff::longest_step(double percent) const {
  return saturating_whole(static_cast<double>(options_.now.figures.figures.step_ns) *
                          (1 + percent / kPercent));
}

Result<Fit> TradeOff::smallest_within(double percent) const {
  return jointer::smallest_within(partition_.joint, *what_if_, longest_step(percent),
                                  request(!options_.has_policy));
}

Partition TradeOff::partition_by(const SavePlan& plan, const std::string& why) const {
  Partition made = partition_;
  std::vector<bool> before(made.joint.node_count(), false);
  std::vector<bool> after = before;
  for (const NodeId id : made.plan.saved) before[id.index()] = true;
  for (const NodeId id : plan.saved) after[id.index()] = true;
  for (std::size_t i = 0; i < before.size(); ++i)
    if (before[i] != after[i] && made.joint.node(NodeId(i)).kind == NodeKind::call)
      made.reasons[i] = {PlanReason::Kind::knapsack, {}, why};
  made.plan = plan;
  return made;
}

}  // namespace jointer
