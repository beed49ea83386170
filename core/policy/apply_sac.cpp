// apply_sac: decides by operator which results of the forward are saved.
//
// Steps, for the calls of the graph in program order:
//   1. getitem is skipped, because it belongs to the call whose result it reads.
//   2. A call that matches an every-nth rule is counted; every nth such call is PREFER_RECOMPUTE,
//      the others are MUST_SAVE. If several rules match a call, the first one applies.
//   3. A call of an operator in the list is MUST_SAVE.
//   4. Every other call is PREFER_RECOMPUTE.
//   5. The walk ends after the call that computes the first value of the output. Everything after
//      it counts as the backward.
// Each tag has ac_graph_id 0, so that the forward is one region. It replaces the call's existing
// tag; calls that get no tag keep theirs. fsdp_reshard_after_fwd runs later, as in upstream.
//
// A counter runs over the whole graph or per layer (layers.h). A per-layer counter restarts when a
// counted call is in a different layer from the previous counted call. Calls in no layer do not
// restart it.
//
// Cost: the number of nodes times the number of selectors and rules.
//
// Source: apply_sac of torchtitan's compiler toolkit (pull request 2377); the per-layer counter is
// that of the graph trainer's memory policy `eager` (pull request 3397). Deviations: n may be any
// positive number, the rule may apply to any operator (upstream: 2 and aten.mm), and selectors may
// name modules. One of upstream's defects is reproduced, because upstream's results depend on it:
// values that are written back to inputs come first among the outputs. In a mixture of experts, the
// first output is the token count of the first MoE layer, so the walk ends there, and most of the
// forward is left to the partitioner (in DeepSeek-V3 debug, the walk visits 385 of 1,937 calls).
// `whole_forward` fixes this.

#include <fmt/format.h>

#include <algorithm>

#include "core/base/counted.h"
#include "core/base/number_text.h"
#include "core/base/units.h"
#include "core/edit/refuse.h"
#include "core/edit/select.h"
#include "core/graph/layers.h"
#include "core/policy/python_operator.h"
#include "core/policy/sac_walk.h"
#include "core/policy/save_ops.h"
#include "core/policy/tag_edit.h"
#include "core/policy/tagging.h"

namespace jointer {
namespace {

constexpr std::string_view kPerLayer = "layer";

// A rule and its counter.
struct Count {
  EveryNth rule;
  std::vector<bool> counted;  // indexed by node id
  std::int64_t calls = 0, since_layer = 0;
  std::int64_t layer = Layers::kNone;

  MemoryPolicy next(std::int64_t layer_of_call) {
    if (rule.counter == EveryNth::Counter::per_layer && layer_of_call != Layers::kNone &&
        layer_of_call != layer) {
      layer = layer_of_call;
      since_layer = 0;
    }
    ++calls;
    return ++since_layer % rule.n == 0 ? MemoryPolicy::prefer_recompute : MemoryPolicy::must_save;
  }
};

Result<std::vector<Count>> make_counts(const Graph& graph, const SacOptions& options) {
  std::vector<Count> counts;
  for (const EveryNth& rule : options.every_nth) {
    if (rule.n < 1) return refuse("every_nth, {}: {} is not a positive number", rule.op, rule.n);
    Count count{.rule = rule, .counted = std::vector<bool>(graph.node_count(), false)};
    // An error means that no call of the graph matches, so there is nothing to count.
    if (const auto nodes = select(graph, rule.op))
      for (const NodeId id : *nodes) count.counted[id.index()] = true;
    counts.push_back(std::move(count));
  }
  return counts;
}

std::string pipeline_text(const SacOptions& options) {
  const SacOptions defaults;
  std::vector<std::string> members;
  if (!options.save.empty() || !options.default_list)
    members.push_back("save=" + pipeline_list(options.save));
  if (options.every_nth != defaults.every_nth) {
    std::vector<std::string> rules;
    for (const EveryNth& rule : options.every_nth) rules.push_back(to_text(rule));
    members.push_back("every_nth=" + pipeline_list(rules));
  }
  if (options.whole_forward) members.emplace_back("whole_forward=true");
  return members.empty() ? "apply_sac" : fmt::format("apply_sac{{{}}}", fmt::join(members, ","));
}

}  // namespace

std::string to_text(const EveryNth& rule) {
  return fmt::format("{}/{}{}", rule.op, rule.n,
                     rule.counter == EveryNth::Counter::per_layer ? "/layer" : "");
}

Result<EveryNth> parse_every_nth(std::string_view text) {
  EveryNth rule;
  std::string_view rest = text;
  const std::size_t last = rest.rfind('/');
  if (last != std::string_view::npos && rest.substr(last + 1) == kPerLayer) {
    rule.counter = EveryNth::Counter::per_layer;
    rest = rest.substr(0, last);
  }
  const std::size_t slash = rest.rfind('/');
  const std::string_view number =
      slash == std::string_view::npos ? std::string_view() : rest.substr(slash + 1);
  rule.n = number_of<decltype(rule.n)>(number).value_or(0);
  if (slash == 0 || rule.n < 1)
    return refuse("expected OPERATOR/N or OPERATOR/N/layer, such as aten.mm/2/layer, got `{}`",
                  text);
  rule.op = captured_operator(rest.substr(0, slash));
  return rule;
}

SacWalk sac_walk(const Graph& graph, bool whole_forward) {
  SacWalk walk;
  if (!whole_forward)
    for (const NodeId id : graph.order())
      if (graph.node(id).kind == NodeKind::output && !graph.inputs(id).empty())
        walk.last = graph.inputs(id).front();
  for (const OutputEntry& output : graph.part(PartId(0)).outputs) {
    if (!output.node) continue;
    walk.writes_back = output.role == Role::mutation && walk.last == output.node;
    break;
  }
  bool is_over = false;
  for (const NodeId id : graph.order()) {
    const Node& n = graph.node(id);
    if (n.kind == NodeKind::call && !graph.op(n).is_getitem) {
      if (is_over)
        walk.missed += n.phase == Phase::forward ? 1 : 0;
      else if (!whole_forward || n.phase == Phase::forward)
        walk.calls.push_back(id);
    }
    is_over = is_over || id == walk.last;
  }
  return walk;
}

Result<Edit> apply_sac(const Graph& graph, const SacOptions& options) {
  JOINTER_CHECK(check_taggable(graph));
  JOINTER_TRY(std::vector<Count> counts, make_counts(graph, options));
  std::vector<bool> saved;
  if (options.save.empty() && options.default_list) {
    saved = calls_of(graph, toolkit_save_ops());
  } else {
    JOINTER_TRY(saved, selected_by(graph, options.save));
  }
  const ModuleTree modules(graph);
  const Layers layers(graph, modules);
  const SacWalk walk = sac_walk(graph, options.whole_forward);
  TagPlan plan(graph);
  for (const NodeId id : walk.calls) {
    const auto count = std::find_if(counts.begin(), counts.end(),
                                    [&](const Count& each) { return each.counted[id.index()]; });
    MemoryPolicy policy =
        saved[id.index()] ? MemoryPolicy::must_save : MemoryPolicy::prefer_recompute;
    if (count != counts.end()) policy = count->next(layers.of(id));
    plan.set(id, policy, kForwardRegion);
  }
  Edit edit{.title = fmt::format("SAC: {} saved, {} recomputed",
                                 counted(plan.count(MemoryPolicy::must_save), "result"),
                                 format_count(plan.count(MemoryPolicy::prefer_recompute))),
            .by = pipeline_text(options),
            .changes = plan.changes(),
            .notes = {}};
  if (walk.last)
    edit.notes.push_back(
        fmt::format("The forward ends with {}, which computes the first value of the output.",
                    graph.name(walk.last)));
  if (walk.writes_back)
    edit.notes.push_back(fmt::format(
        "That value is written back to an input, so {} no tag, as in torchtitan; "
        "whole_forward tags {} too.",
        counted(walk.missed, "later call of the forward gets", "later calls of the forward get"),
        walk.missed == 1 ? "it" : "them"));
  for (const Count& count : counts)
    edit.notes.push_back(fmt::format("Counted {} of {}.",
                                     counted(static_cast<std::size_t>(count.calls), "call"),
                                     count.rule.op));
  return edit;
}

}  // namespace jointer
