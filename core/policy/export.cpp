// Saying a plan: the lists are found, written, and then read back and compared with the plan, so
// that what they do not say is found from what they do.

#include "core/policy/export.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/units.h"
#include "core/edit/recipe.h"
#include "core/policy/misfits.h"
#include "core/policy/operator_list.h"
#include "core/policy/tag_edit.h"
#include "core/policy/tagged.h"
#include "core/policy/tagging.h"

namespace jointer {
namespace {

constexpr std::array<std::pair<std::string_view, PolicyFormat>, 3> kFormats{{
    {"torchtitan", PolicyFormat::torchtitan},
    {"selectors", PolicyFormat::selectors},
    {"recipe", PolicyFormat::recipe},
}};

// As Python names the operator: a bare name is a higher-order one.
std::string python_operator(const std::string& name) {
  return (name.find('.') == std::string::npos ? "torch.ops.higher_order." : "torch.ops.") + name;
}

std::string count_of(const Graph& graph, const std::string& op) {
  const std::array<std::string_view, 1> ops{op};
  const std::vector<bool> calls = calls_of(graph, ops);
  return format_count(std::count(calls.begin(), calls.end(), true));
}

std::string write_python(const Graph& joint, const SacOptions& options,
                         const std::vector<std::string>& misfits) {
  std::string text = fmt::format(
      "# What the forward of {} saves for the backward; every other result is made again.\n"
      "import torch\n\n",
      joint.title().empty() ? "this graph" : joint.title());
  if (options.save.empty()) {
    text += "SAVE_OPS = set()\n";
  } else {
    text += "SAVE_OPS = {\n";
    for (const std::string& op : options.save)
      text += fmt::format("    {},  # {} calls\n", python_operator(op), count_of(joint, op));
    text += "}\n";
  }
  if (!options.every_nth.empty()) {
    text +=
        "\n# Of these every nth call is made again, and the others are saved. The calls are "
        "counted\n"
        "# over the whole graph, or anew in each layer.\n"
        "RECOMPUTE_EVERY_NTH = {\n";
    for (const EveryNth& rule : options.every_nth)
      text += fmt::format("    {}: ({}, \"{}\"),  # {} calls\n", python_operator(rule.op), rule.n,
                          rule.counter == EveryNth::Counter::per_layer ? "layer" : "global",
                          count_of(joint, rule.op));
    text += "}\n";
  }
  if (!misfits.empty()) {
    text += "\n# These lists do not say all of the plan:\n";
    for (const std::string& misfit : misfits) text += fmt::format("# - {}\n", misfit);
  }
  return text;
}

// What no list says, and what the graph with the list's tags shows.
std::vector<std::string> misfits_of(const Graph& tagged, const SavePlan& plan) {
  auto sentences = find_misfits(tagged, plan).sentences(tagged);
  if (!plan.offloaded.empty())
    sentences.push_back(
        fmt::format("{} results go to the host, which the list does not say; a recipe does.",
                    format_count(static_cast<std::int64_t>(plan.offloaded.size()))));
  return sentences;
}

Result<PolicyExport> export_python(const Graph& joint, const SavePlan& plan) {
  const SacOptions options = operator_list(joint, plan);
  JOINTER_TRY(const Graph tagged, tagged_with(joint, apply_sac(joint, options)));
  PolicyExport result{.text = {}, .misfits = misfits_of(tagged, plan)};
  result.text = write_python(joint, options, result.misfits);
  return result;
}

Result<PolicyExport> export_selectors(const Graph& joint, const SavePlan& plan) {
  const auto selectors = selector_list(joint, plan);
  JOINTER_TRY(const Graph tagged,
              tagged_with(joint, tag_with_memory_policy(joint, "full", selectors)));
  return PolicyExport{.text = fmt::format("{}\n", fmt::join(selectors, " | ")),
                      .misfits = misfits_of(tagged, plan)};
}

Result<PolicyExport> export_recipe(const Graph& joint, const SavePlan& plan) {
  JOINTER_TRY(const Edit edit, tag_as_planned(joint, plan));
  Graph after = joint;
  JOINTER_CHECK(apply(after, edit));
  return PolicyExport{
      .text = write_recipe(make_recipe(joint, after, {edit}, std::string(joint.title()))),
      .misfits = {}};
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

Result<PolicyExport> export_plan(const Graph& joint, const SavePlan& plan, PolicyFormat format) {
  JOINTER_CHECK(check_taggable(joint));
  switch (format) {
    case PolicyFormat::torchtitan:
      return export_python(joint, plan);
    case PolicyFormat::selectors:
      return export_selectors(joint, plan);
    case PolicyFormat::recipe:
      break;
  }
  return export_recipe(joint, plan);
}

}  // namespace jointer
