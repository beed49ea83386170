#include "core/pass/graph_rules.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace jointer {
namespace {

enum class Shape : std::uint8_t { unknown, joint, pair, step, other };

Shape shape_of(const Graph& graph) {
  if (graph.is_pair()) return Shape::pair;
  if (graph.part_count() == 0) return Shape::other;
  switch (graph.part(PartId(std::size_t{0})).kind) {
    case CaptureKind::joint:
      return Shape::joint;
    case CaptureKind::train_step:
      return Shape::step;
    default:
      return Shape::other;
  }
}

std::string_view name_of(Shape shape) {
  static constexpr std::array<std::string_view, 5> kNames{
      "", "a joint graph", "a forward/backward pair", "a flat training step",
      "part of a training step"};
  return kNames[static_cast<std::size_t>(shape)];
}

// The kind of graph that a pass requires, and the kind that it returns.
struct ShapeRule {
  std::string_view pass;
  bool needs_joint = false;      // accepts only a joint graph
  bool needs_whole = false;      // accepts anything but a pair
  bool needs_pair = false;       // accepts only a pair
  Shape makes = Shape::unknown;  // unknown: the shape of the input
};
constexpr std::array kShapeRules{
    ShapeRule{.pass = "min_cut_partition", .needs_joint = true, .makes = Shape::pair},
    ShapeRule{.pass = "default_partition", .needs_joint = true, .makes = Shape::pair},
    ShapeRule{.pass = "fastest_plan", .needs_joint = true, .makes = Shape::pair},
    ShapeRule{.pass = "knapsack_budget", .needs_joint = true, .makes = Shape::pair},
    ShapeRule{.pass = "join", .needs_pair = true, .makes = Shape::joint},
    ShapeRule{.pass = "partition_joint_graph", .needs_whole = true, .makes = Shape::pair},
    ShapeRule{.pass = "multiplex_fw_bw_graph", .needs_pair = true, .makes = Shape::step},
    ShapeRule{.pass = "inductor_decomposition", .needs_whole = true},
    ShapeRule{.pass = "populate_chunk_dim_metadata", .needs_whole = true},
    ShapeRule{.pass = "ep_overlap_chunk", .needs_whole = true},
};

const ShapeRule* rule_of(std::string_view pass) {
  const auto* const found = std::ranges::find(kShapeRules, pass, &ShapeRule::pass);
  return found == kShapeRules.end() ? nullptr : found;
}

// The kind of graph that a pass requires, if `shape` is not of that kind; otherwise empty.
std::string_view need_of(const ShapeRule& rule, Shape shape) {
  if (rule.needs_joint && shape != Shape::joint) return name_of(Shape::joint);
  if (rule.needs_whole && shape == Shape::pair) return "an unpartitioned graph";
  if (rule.needs_pair && shape != Shape::pair) return name_of(Shape::pair);
  return {};
}

// True if a pass that has no rule may return a graph of a different shape.
bool may_reshape(const PassRegistry& registry, std::string_view name) {
  const Pass* pass = registry.find(name);
  if (pass == nullptr) return true;
  const PassInfo& info = pass->info;
  return info.stage == PassStage::partition || info.stage == PassStage::search ||
         info.source.starts_with("plugin: ") || info.source.starts_with("Python: ");
}

bool exchanges_tokens(const Graph& graph) {
  return std::ranges::any_of(graph.order(), [&](NodeId id) {
    return graph.target(graph.node(id)).starts_with("_c10d_functional.all_to_all_single");
  });
}

// True for ep_overlap_chunk if the step sets require_all_to_all, unless its pattern has no `*`.
// Such a pattern names one module, and the pass itself reports a better error.
bool needs_experts(const PipelineStep& step) {
  if (step.pass != "ep_overlap_chunk") return false;
  bool is_required = false;
  for (const auto& [name, value] : step.given) {
    if (const bool* required = value.as<bool>();
        name == "require_all_to_all" && required != nullptr)
      is_required = *required;
    const std::string* pattern = value.as<std::string>();
    if (name == "module_pattern" && pattern != nullptr && pattern->find('*') == std::string::npos)
      return false;
  }
  return is_required;
}

}  // namespace

std::vector<GraphMistake> find_graph_mistakes(const Graph& graph, const Pipeline& pipeline,
                                              const PassRegistry& registry) {
  std::vector<GraphMistake> found;
  Shape shape = shape_of(graph);
  std::string made_by;  // the step that produced the shape; empty if none did
  for (std::size_t i = 0; i < pipeline.size(); ++i) {
    const PipelineStep& step = pipeline[i];
    if (!step.is_enabled) continue;
    const ShapeRule* rule = rule_of(step.pass);
    if (rule == nullptr) {
      if (may_reshape(registry, step.pass)) shape = Shape::unknown;
      continue;
    }
    const std::string_view need =
        shape == Shape::unknown ? std::string_view() : need_of(*rule, shape);
    if (!need.empty())
      found.push_back(
          {i, fmt::format("{} needs {}, but {} {}", step.pass, need,
                          made_by.empty() ? "the graph is" : made_by + " makes", name_of(shape))});
    else if (shape != Shape::unknown && needs_experts(step) && !exchanges_tokens(graph))
      found.push_back(
          {i, fmt::format("{} splits modules that exchange tokens, but the graph uses no "
                          "expert parallelism: it has no all_to_all_single; leave the step out",
                          step.pass)});
    if (rule->makes != Shape::unknown) {
      shape = rule->makes;
      made_by = step.pass;
    }
  }
  return found;
}

Result<void> check_graph(const Graph& graph, const Pipeline& pipeline,
                         const PassRegistry& registry) {
  if (const auto mistakes = find_graph_mistakes(graph, pipeline, registry); !mistakes.empty())
    return fail(Error::Kind::usage, "{}", mistakes.front().message);
  return {};
}

}  // namespace jointer
