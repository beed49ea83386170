// Finds the operator list that expresses a save plan.
//
// Terms: a call counts if its result is saved or recomputed (plan_makers.h). An unneeded result may
// be tagged either way. Calls that FSDP's tags decide do not count: the tagged ones, and their
// inputs, which are saved because they belong to a region with a lower number.
//
// Steps, for every operator with a saved call that counts:
//   1. If none of its calls is recomputed, list the operator.
//   2. If some are, try the rules "every nth is recomputed" over all calls of the operator in
//      apply_sac's order, with n from 2 on, over the whole graph and then by layer. Use the first
//      rule that is right for every call that counts.
//   3. If no rule fits, list the operator if more of its bytes are saved than recomputed. The
//      wrongly tagged calls are differences to report.
// If step 3 was not needed, the list is the only one for its operators, and therefore the shortest.
//
// Cost: linear in the calls for each n tried, up to kMaxN.

#include "core/policy/operator_list.h"

#include <algorithm>
#include <map>
#include <optional>

#include "core/graph/layers.h"
#include "core/policy/plan_makers.h"
#include "core/policy/sac_walk.h"

namespace jointer {
namespace {

constexpr std::int64_t kMaxN = 16;

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

  SacOptions run() {
    SacOptions options{.save = {}, .every_nth = {}, .default_list = false, .whole_forward = true};
    for (const auto& [op, calls] : by_operator_) {
      const auto count = [&, &all = calls](Fate fate) {
        return std::count_if(all.begin(), all.end(),
                             [&](const Call& call) { return call.fate == fate; });
      };
      if (count(Fate::saved) == 0) continue;
      const std::string name = graph_.op(op).name;
      if (count(Fate::rerun) == 0) {
        options.save.push_back(name);
      } else if (auto rule = find_rule(name, calls)) {
        options.every_nth.push_back(*std::move(rule));
      } else if (bytes(calls, Fate::saved) > bytes(calls, Fate::rerun)) {
        options.save.push_back(name);
      }
    }
    std::sort(options.save.begin(), options.save.end());
    std::sort(options.every_nth.begin(), options.every_nth.end(),
              [](const EveryNth& a, const EveryNth& b) { return a.op < b.op; });
    return options;
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

  [[nodiscard]] bool fits(const EveryNth& rule, const std::vector<Call>& calls) const {
    std::int64_t count = 0, layer = Layers::kNone;
    return std::all_of(calls.begin(), calls.end(), [&](const Call& call) {
      const std::int64_t of_call = layers_.of(call.node);
      if (rule.counter == EveryNth::Counter::per_layer && of_call != Layers::kNone &&
          of_call != layer) {
        layer = of_call;
        count = 0;
      }
      const bool reruns = ++count % rule.n == 0;
      return call.fate == Fate::free || reruns == (call.fate == Fate::rerun);
    });
  }

  [[nodiscard]] std::optional<EveryNth> find_rule(const std::string& op,
                                                  const std::vector<Call>& calls) const {
    for (const auto counter : {EveryNth::Counter::global, EveryNth::Counter::per_layer})
      for (std::int64_t n = 2; n <= kMaxN; ++n)
        if (EveryNth rule{.op = op, .n = n, .counter = counter}; fits(rule, calls)) return rule;
    return std::nullopt;
  }

  [[nodiscard]] std::int64_t bytes(const std::vector<Call>& calls, Fate fate) const {
    std::int64_t sum = 0;
    for (const Call& call : calls)
      if (call.fate == fate) sum += graph_.output_bytes(graph_.node(call.node));
    return sum;
  }

  const Graph& graph_;
  ModuleTree modules_;
  Layers layers_;
  std::map<OperatorId, std::vector<Call>> by_operator_;  // in program order
};

}  // namespace

SacOptions operator_list(const Graph& joint, const SavePlan& plan) {
  return Lister(joint, plan).run();
}

}  // namespace jointer
