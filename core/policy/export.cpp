// Exports a save plan as text, and checks the text by reading it back.
//
// An operator set or selectors are found and written, then applied to the graph. The resulting tags
// are compared with the plan, which shows what the list cannot express. Then the text is imported
// into the graph as opened, the graph is partitioned (in a flat training step, the tags are
// applied), and the resulting plan and peak are compared with the exported ones. If no operator set
// expresses the plan, the same comparison chooses among several (nearest_list.h).

#include "core/policy/export.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "core/base/counted.h"
#include "core/base/name_table.h"
#include "core/base/units.h"
#include "core/edit/recipe.h"
#include "core/graph/title_in_text.h"
#include "core/partition/pair_order.h"
#include "core/partition/plan_memory.h"
#include "core/partition/plan_what_if.h"
#include "core/policy/apply_step_tags.h"
#include "core/policy/import.h"
#include "core/policy/nearest_list.h"
#include "core/policy/operator_list.h"
#include "core/policy/plan_makers.h"
#include "core/policy/python_operator.h"
#include "core/policy/tag_differences.h"
#include "core/policy/tag_edit.h"
#include "core/policy/tagging.h"
#include "core/policy/with_fsdp.h"

namespace jointer {
namespace {

constexpr NameTable<PolicyFormat, 3> kFormats{{
    {"torchtitan", PolicyFormat::torchtitan},
    {"selectors", PolicyFormat::selectors},
    {"recipe", PolicyFormat::recipe},
}};

std::string count_of(const Graph& graph, const std::string& op) {
  const std::array<std::string_view, 1> ops{op};
  const std::vector<bool> calls = calls_of(graph, ops);
  return counted(static_cast<std::size_t>(std::count(calls.begin(), calls.end(), true)), "call");
}

std::string write_python(const Graph& joint, const SacOptions& options) {
  std::string text = fmt::format(
      "# Results that the forward of {} saves for backward; every other result is recomputed.\n"
      "import torch\n\n",
      title_in_text(joint));
  if (options.save.empty()) {
    text += "SAVE_OPS = set()\n";
  } else {
    text += "SAVE_OPS = {\n";
    for (const std::string& op : options.save)
      text += fmt::format("    {},  # {}\n", python_operator(op), count_of(joint, op));
    text += "}\n";
  }
  if (!options.every_nth.empty()) {
    text +=
        "\n# Every nth call of these operators is recomputed, and the others are saved. Calls are\n"
        "# counted over the whole graph, or separately in each layer.\n"
        "RECOMPUTE_EVERY_NTH = {\n";
    for (const EveryNth& rule : options.every_nth)
      text += fmt::format("    {}: ({}, \"{}\"),  # {}\n", python_operator(rule.op), rule.n,
                          rule.counter == EveryNth::Counter::per_layer ? "layer" : "global",
                          count_of(joint, rule.op));
    text += "}\n";
  }
  return text;
}

// Describes the differences between the plan and the tags that the list sets, one sentence each.
std::vector<std::string> differences_of(const Graph& tagged, const SavePlan& plan) {
  auto sentences = find_tag_differences(tagged, plan).sentences(tagged);
  if (!plan.offloaded.empty())
    sentences.push_back(counted(
        plan.offloaded.size(), "result is offloaded, which the list cannot express; a recipe can.",
        "results are offloaded, which the list cannot express; a recipe can."));
  return sentences;
}

// Returns `joint` with the tags of `opened`. Both have the same ids.
Graph with_tags_of(const Graph& opened, const Graph& joint) {
  Graph graph = joint;
  for (const NodeId id : graph.order()) {
    const Node& from = opened.node(id);
    Node& to = graph.node(id);
    to.policy = from.policy;
    to.ac_graph_id = from.ac_graph_id;
    to.set(Node::has_ac_graph_id, from.has(Node::has_ac_graph_id));
  }
  return graph;
}

// The effect of a plan on the graph, and the values that it saves.
struct Outcome {
  PlanEffect effect;
  std::vector<NodeId> makers;  // the calls whose memory the plan saves, sorted
};

Result<Outcome> outcome_of(const Graph& joint, const SavePlan& plan, const ReadBack& options) {
  const auto activations = std::ranges::count_if(
      plan.saved, [&](NodeId id) { return joint.node(id).kind == NodeKind::call; });
  Outcome outcome{.effect = {.activations = static_cast<std::size_t>(activations)}, .makers = {}};
  if (options.costs.empty()) {
    const PairOrders orders(joint, options.partitioner);
    JOINTER_TRY(const PairOrder order, orders.order(plan));
    outcome.effect.peak_bytes = PlanMemory(orders, options.memory).evaluate(order).peak_bytes;
  } else {
    const PlanWhatIf what_if(joint, options.costs, std::vector<Flops>(joint.node_count()),
                             options.memory, options.simulation,
                             {.transfers = options.transfers, .partitioner = options.partitioner});
    JOINTER_TRY(const PlanFigures figures, what_if.figures(plan));
    outcome.effect.peak_bytes = figures.figures.peak_bytes;
    outcome.effect.step_ns = figures.figures.step_ns;
  }
  SavePlan values = plan;
  values.saved_symbols.clear();
  outcome.makers = plan_makers(joint, values).saved;
  std::ranges::sort(outcome.makers);
  return outcome;
}

Result<Graph> tagged_with(const Graph& opened, const std::string& text) {
  JOINTER_TRY(const ImportedPolicy policy, import_policy(opened, text));
  Graph tagged = opened;
  for (const Edit& edit : policy.edits) JOINTER_CHECK(apply(tagged, edit));
  return tagged;
}

// The outcome of applying the tags of a flat training step. Outcome::makers contains the saved
// values themselves.
Result<Outcome> outcome_of_step(const Graph& tagged, const MemoryOptions& memory) {
  Graph step = tagged;
  JOINTER_CHECK(apply_step_tags(step));
  JOINTER_TRY(SavePlan plan, plan_of_step(tagged, step));
  std::ranges::sort(plan.saved);
  const std::size_t count = plan.saved.size();
  return Outcome{
      .effect = {.activations = count, .peak_bytes = MemoryTimeline(step, memory).peak_bytes()},
      .makers = std::move(plan.saved)};
}

// Compares the exported plan with the plans that texts produce for the graph as opened.
class Judge {
 public:
  // `opened` must outlive this object.
  Judge(const Graph& joint, const SavePlan& plan, const Graph& opened, const ReadBack& options)
      : opened_(opened), options_(options) {
    if (is_joint()) {
      if (auto planned = outcome_of(joint, plan, options)) planned_ = *std::move(planned);
    } else if (options.step_peak) {
      planned_ =
          Outcome{.effect = {.activations = plan.saved.size(), .peak_bytes = *options.step_peak},
                  .makers = plan.saved};
      std::ranges::sort(planned_->makers);
    }
  }

  // False if the plan cannot be evaluated, or if the peak of the flat training step is not given.
  [[nodiscard]] bool can_compare() const { return planned_.has_value(); }

  // Returns the effects of the plan and of the text; nullopt if both save the same values with the
  // same peak. Error (usage): the text produces no plan.
  [[nodiscard]] Result<std::optional<TextEffect>> compare(const std::string& text) const {
    JOINTER_TRY(const Outcome found, outcome_with(text));
    if (found.makers == planned_->makers && found.effect.peak_bytes == planned_->effect.peak_bytes)
      return std::nullopt;
    return TextEffect{.of_plan = planned_->effect,
                      .of_text = found.effect,
                      .saves_others = found.makers != planned_->makers};
  }

  [[nodiscard]] Result<ListDistance> distance(const std::string& text) const {
    JOINTER_TRY(const Outcome found, outcome_with(text));
    const PlanEffect &is = found.effect, &wanted = planned_->effect;
    const auto apart = [](std::int64_t a, std::int64_t b) {
      return std::abs(static_cast<double>(a - b)) /
             static_cast<double>(std::max<std::int64_t>(b, 1));
    };
    return ListDistance{
        .figures = apart(is.peak_bytes, wanted.peak_bytes) + apart(is.step_ns, wanted.step_ns),
        .values = bytes_of_others(found.makers, planned_->makers) +
                  bytes_of_others(planned_->makers, found.makers)};
  }

  [[nodiscard]] std::string_view failure() const {
    return is_joint() ? "Partitioning with this text" : "Applying this text";
  }
  [[nodiscard]] std::string_view noun() const { return is_joint() ? "plan" : "step"; }

 private:
  [[nodiscard]] bool is_joint() const { return opened_.part(PartId(0)).kind == CaptureKind::joint; }
  // The total output bytes of the nodes that are not in `without`.
  [[nodiscard]] std::int64_t bytes_of_others(const std::vector<NodeId>& nodes,
                                             const std::vector<NodeId>& without) const {
    std::int64_t sum = 0;
    for (const NodeId id : nodes)
      if (!std::ranges::binary_search(without, id)) sum += opened_.output_bytes(opened_.node(id));
    return sum;
  }
  [[nodiscard]] Result<Outcome> outcome_with(const std::string& text) const {
    JOINTER_TRY(const Graph tagged, tagged_with(opened_, text));
    if (!is_joint()) return outcome_of_step(tagged, options_.memory);
    JOINTER_TRY(const Partition again, partition(tagged, {.partitioner = options_.partitioner}));
    return outcome_of(again.joint, again.plan, options_);
  }

  const Graph& opened_;
  ReadBack options_;
  std::optional<Outcome> planned_;
};

// `noun`: "plan" or "step".
std::string sentence(std::string_view noun, const TextEffect& effect) {
  const std::string peak = format_bytes(effect.of_text.peak_bytes),
                    of_plan = format_bytes(effect.of_plan.peak_bytes);
  const std::size_t activations = effect.of_text.activations;
  return fmt::format(
      "With this text, the {} has {} and saves {}.", noun,
      peak == of_plan ? "the same peak" : fmt::format("a peak of {} instead of {}", peak, of_plan),
      activations == effect.of_plan.activations
          ? fmt::format("{}{}", counted(activations, "activation"),
                        effect.saves_others ? ", some of which are different" : "")
          : fmt::format("{} instead of {}", counted(activations, "activation"),
                        format_count(effect.of_plan.activations)));
}

// Each try solves the graph once, so fewer lists are tried for large graphs.
std::size_t tries_for(const Graph& joint) {
  constexpr std::size_t kNodes = 400'000, kMin = 8, kMax = 40;
  return std::clamp(kNodes / std::max<std::size_t>(joint.order().size(), 1), kMin, kMax);
}

Result<PolicyExport> export_python(const Graph& joint, const SavePlan& plan, MemoryPolicy fsdp,
                                   const Judge& judge) {
  const SacOptions options = nearest_list(
      operator_rules(joint, plan),
      [&](const SacOptions& list) { return judge.distance(write_python(joint, list)); },
      judge.can_compare() ? tries_for(joint) : 0);
  JOINTER_TRY(const Edit edit, apply_sac_with_fsdp(joint, options, fsdp));
  Graph tagged = joint;
  JOINTER_CHECK(apply(tagged, edit));
  return PolicyExport{.text = write_python(joint, options),
                      .differences = differences_of(tagged, plan)};
}

Result<PolicyExport> export_selectors(const Graph& joint, const SavePlan& plan, MemoryPolicy fsdp) {
  const auto selectors = selector_list(joint, plan, fsdp);
  JOINTER_TRY(const Edit edit, memory_policy_with_fsdp(joint, "full", selectors, fsdp));
  Graph tagged = joint;
  JOINTER_CHECK(apply(tagged, edit));
  return PolicyExport{.text = (selectors.empty() ? std::string(kNoSelectors)
                                                 : fmt::format("{}", fmt::join(selectors, " | "))) +
                              '\n',
                      .differences = differences_of(tagged, plan)};
}

Result<PolicyExport> export_recipe(const Graph& joint, const SavePlan& plan) {
  JOINTER_TRY(const Edit edit, tag_as_planned(joint, plan));
  Graph after = joint;
  JOINTER_CHECK(apply(after, edit));
  return PolicyExport{
      .text = write_recipe(make_recipe(joint, after, {edit}, std::string(joint.title()))),
      .differences = {}};
}

Result<PolicyExport> export_as(const Graph& joint, const SavePlan& plan, PolicyFormat format,
                               const Graph& opened, const Judge& judge) {
  switch (format) {
    case PolicyFormat::torchtitan:
      return export_python(with_tags_of(opened, joint), plan, fsdp_policy(opened), judge);
    case PolicyFormat::selectors:
      return export_selectors(with_tags_of(opened, joint), plan, fsdp_policy(opened));
    case PolicyFormat::recipe:
      break;
  }
  return export_recipe(opened, plan);
}

}  // namespace

std::string_view to_string(PolicyFormat format) {
  return name_in(kFormats, format);
}

std::optional<PolicyFormat> parse_policy_format(std::string_view name) {
  return value_in(kFormats, name);
}

Result<PolicyExport> export_plan(const Graph& joint, const SavePlan& plan, PolicyFormat format,
                                 const Graph& opened, const ReadBack& read_back) {
  JOINTER_CHECK(check_taggable(joint));
  const Judge judge(joint, plan, opened, read_back);
  JOINTER_TRY(PolicyExport made, export_as(joint, plan, format, opened, judge));
  // In a flat training step, tags that match the plan always produce it.
  const bool is_step = opened.part(PartId(0)).kind != CaptureKind::joint;
  if (judge.can_compare() && !(is_step && made.differences.empty())) {
    const auto compared = judge.compare(made.text);
    made.gives_plan = compared && !*compared;
    if (!compared)
      made.differences.insert(
          made.differences.begin(),
          fmt::format("{} fails: {}.", judge.failure(), compared.error().message));
    else if (*compared)
      made.differences.insert(made.differences.begin(), sentence(judge.noun(), **compared));
    if (compared) made.effect = *compared;
  }
  if (format == PolicyFormat::torchtitan && !made.differences.empty()) {
    made.text += "\n# These lists do not express the whole plan:\n";
    for (const std::string& difference : made.differences)
      made.text += fmt::format("# - {}\n", difference);
  }
  return made;
}

}  // namespace jointer
