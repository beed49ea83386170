// Exports a save plan as a text, and checks the text by reading it back.
//
// The lists are found and written, then applied to the graph and compared with the plan, which
// shows what they cannot express. Finally the text is imported into the graph as opened, the graph
// is partitioned, and the resulting plan and its peak are compared as well. In a flat training
// step, the tags are applied instead.

#include "core/policy/export.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/counted.h"
#include "core/base/units.h"
#include "core/edit/recipe.h"
#include "core/partition/pair_order.h"
#include "core/partition/plan_memory.h"
#include "core/policy/apply_step_tags.h"
#include "core/policy/import.h"
#include "core/policy/operator_list.h"
#include "core/policy/plan_makers.h"
#include "core/policy/python_operator.h"
#include "core/policy/tag_differences.h"
#include "core/policy/tag_edit.h"
#include "core/policy/tagging.h"
#include "core/policy/with_fsdp.h"

namespace jointer {
namespace {

constexpr std::array<std::pair<std::string_view, PolicyFormat>, 3> kFormats{{
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
      joint.title().empty() ? "this graph" : joint.title());
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

// Sentences about the differences between the plan and the tags that the list sets.
std::vector<std::string> differences_of(const Graph& tagged, const SavePlan& plan) {
  auto sentences = find_tag_differences(tagged, plan).sentences(tagged);
  if (!plan.offloaded.empty())
    sentences.push_back(counted(
        plan.offloaded.size(), "result is offloaded, which the list cannot express; a recipe can.",
        "results are offloaded, which the list cannot express; a recipe can."));
  return sentences;
}

// The graph `joint` with the tags of `opened`. Both have the same ids.
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

Result<PolicyExport> export_python(const Graph& joint, const SavePlan& plan, MemoryPolicy fsdp) {
  const SacOptions options = operator_list(joint, plan);
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
                               const Graph& opened) {
  switch (format) {
    case PolicyFormat::torchtitan:
      return export_python(with_tags_of(opened, joint), plan, fsdp_policy(opened));
    case PolicyFormat::selectors:
      return export_selectors(with_tags_of(opened, joint), plan, fsdp_policy(opened));
    case PolicyFormat::recipe:
      break;
  }
  return export_recipe(opened, plan);
}

// The properties of a plan that are compared after reading a text back.
struct Outcome {
  std::vector<NodeId> makers;  // the calls whose memory the plan saves
  std::size_t activations = 0;
  std::int64_t peak_bytes = 0;
};

Result<Outcome> outcome_of(const Graph& joint, const SavePlan& plan, const ReadBack& options) {
  const PairOrders orders(joint, options.partitioner);
  JOINTER_TRY(const PairOrder order, orders.order(plan));
  const auto activations = std::count_if(plan.saved.begin(), plan.saved.end(), [&](NodeId id) {
    return joint.node(id).kind == NodeKind::call;
  });
  SavePlan values = plan;
  values.saved_symbols.clear();
  return Outcome{.makers = plan_makers(joint, values).saved,
                 .activations = static_cast<std::size_t>(activations),
                 .peak_bytes = PlanMemory(orders, options.memory).evaluate(order).peak_bytes};
}

Result<Graph> tagged_with(const Graph& opened, const std::string& text) {
  JOINTER_TRY(const ImportedPolicy policy, import_policy(opened, text));
  Graph tagged = opened;
  for (const Edit& edit : policy.edits) JOINTER_CHECK(apply(tagged, edit));
  return tagged;
}

Result<Partition> solve_under(const Graph& opened, const std::string& text,
                              Partitioner partitioner) {
  JOINTER_TRY(const Graph tagged, tagged_with(opened, text));
  return partition(tagged, {.partitioner = partitioner});
}

// A sentence about the difference between two outcomes; empty if they are equal. `what`: "plan" or
// "step".
std::string outcome_text(std::string_view what, const Outcome& wanted, const Outcome& found) {
  if (found.makers == wanted.makers && found.peak_bytes == wanted.peak_bytes) return {};
  const auto count = [](std::size_t n) { return format_count(static_cast<std::int64_t>(n)); };
  const std::string peak = format_bytes(found.peak_bytes),
                    of_plan = format_bytes(wanted.peak_bytes);
  return fmt::format(
      "With this text, the {} has {} and saves {}.", what,
      peak == of_plan ? "the same peak" : fmt::format("a peak of {} instead of {}", peak, of_plan),
      found.activations == wanted.activations
          ? fmt::format("{}{}", counted(found.activations, "activation"),
                        found.makers == wanted.makers ? "" : ", some of them different")
          : fmt::format("{} instead of {}", counted(found.activations, "activation"),
                        count(wanted.activations)));
}

// Applies the tags of a flat training step. Here, Outcome::makers holds the saved values
// themselves.
Result<Outcome> outcome_of_step(const Graph& tagged, const MemoryOptions& memory) {
  Graph step = tagged;
  JOINTER_CHECK(apply_step_tags(step));
  JOINTER_TRY(SavePlan plan, plan_of_step(tagged, step));
  std::sort(plan.saved.begin(), plan.saved.end());
  const std::size_t count = plan.saved.size();
  return Outcome{.makers = std::move(plan.saved),
                 .activations = count,
                 .peak_bytes = MemoryTimeline(step, memory).peak_bytes()};
}

// The same as `difference` for a flat training step, whose tags no partitioner reads.
Result<std::string> step_difference(const SavePlan& plan, const Graph& opened,
                                    const std::string& text, const ReadBack& options) {
  Outcome wanted{
      .makers = plan.saved, .activations = plan.saved.size(), .peak_bytes = *options.step_peak};
  std::sort(wanted.makers.begin(), wanted.makers.end());
  JOINTER_TRY(const Graph tagged, tagged_with(opened, text));
  const Result<Outcome> found = outcome_of_step(tagged, options.memory);
  if (!found) return fmt::format("Applying this text fails: {}.", found.error().message);
  return outcome_text("step", wanted, *found);
}

// A sentence about the difference between the plan and the plan that results from the text; empty
// if they are equal.
Result<std::string> difference(const Graph& joint, const SavePlan& plan, const Graph& opened,
                               const std::string& text, const ReadBack& options) {
  const Result<Outcome> wanted = outcome_of(joint, plan, options);
  if (!wanted) return std::string();  // the plan cannot be applied: nothing to compare with
  const Result<Partition> again = solve_under(opened, text, options.partitioner);
  if (!again) return fmt::format("Partitioning with this text fails: {}.", again.error().message);
  JOINTER_TRY(const Outcome found, outcome_of(again->joint, again->plan, options));
  return outcome_text("plan", *wanted, found);
}

}  // namespace

std::string_view to_string(PolicyFormat format) {
  for (const auto& [name, known] : kFormats)
    if (known == format) return name;
  return {};
}

std::optional<PolicyFormat> parse_policy_format(std::string_view name) {
  for (const auto& [known, format] : kFormats)
    if (known == name) return format;
  return std::nullopt;
}

Result<PolicyExport> export_plan(const Graph& joint, const SavePlan& plan, PolicyFormat format,
                                 const Graph& opened, const ReadBack& read_back) {
  JOINTER_CHECK(check_taggable(joint));
  JOINTER_TRY(PolicyExport made, export_as(joint, plan, format, opened));
  if (opened.part(PartId(0)).kind == CaptureKind::joint) {
    JOINTER_TRY(std::string differs, difference(joint, plan, opened, made.text, read_back));
    if (!differs.empty()) made.differences.insert(made.differences.begin(), std::move(differs));
  } else if (read_back.step_peak && !made.differences.empty()) {
    JOINTER_TRY(std::string differs, step_difference(plan, opened, made.text, read_back));
    if (!differs.empty()) made.differences.insert(made.differences.begin(), std::move(differs));
  }
  if (format == PolicyFormat::torchtitan && !made.differences.empty()) {
    made.text += "\n# These lists do not express the whole plan:\n";
    for (const std::string& difference : made.differences)
      made.text += fmt::format("# - {}\n", difference);
  }
  return made;
}

}  // namespace jointer
