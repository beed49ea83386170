// Passes that mark nodes for compilation, or report the nodes that upstream annotates. They change
// nothing else.
//
// annotate_flex_attention_for_regional_inductor marks each flex_attention call, its backward, their
// inputs that are graphs (the score and mask functions), and the nodes of those graphs.
// annotate_rmsnorm_for_regional_inductor marks each fused RMSNorm, its backward, and the getitems
// that read either. A mark is `compile_with_inductor` among the node's `custom` members:
// {"inductor_configs": {...}}, or {} if no configuration is given. regional_inductor compiles the
// marked nodes. The results of an RMSNorm compiled by Inductor may differ in the last bits.
//
// insert_kernel_annotations finds runs of consecutive nodes in the same module. Upstream inserts a
// call before and after each run, so that a profile of a captured CUDA graph names the module of
// each kernel. These calls are Python functions that compute nothing, and captures do not contain
// them. Here the graph stays unchanged, and the runs are only reported.
//
// The marks stay in the graph for later pipeline steps, and captures and recipes include them.
// However, recipes lack the marks of nodes in a constant that is a graph, because edits cannot
// change constants.
//
// Source: torchtitan 0.3.0, graph_trainer/inductor_passes.py, performance_passes.py, cudagraph.py.
// Cost: linear in the number of nodes.

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "core/base/counted.h"
#include "core/base/json_text.h"
#include "core/graph/inductor_mark.h"
#include "passes/compile/compile.h"
#include "passes/support/annotations.h"
#include "passes/support/flex_attention.h"
#include "passes/support/parameters.h"

namespace jointer {
namespace {

Result<OrderedJson> mark_with(const Arguments& arguments, const std::string& parameter) {
  OrderedJson mark = OrderedJson::object();
  if (!arguments.has_value(parameter)) return mark;
  JOINTER_TRY(OrderedJson configs, parse_json(arguments.text(parameter), parameter));
  if (!configs.is_object())
    return fail(Error::Kind::usage,
                "{}: expected a JSON object of Inductor's options, such as "
                "{{\"max_autotune\":true}}, got `{}`",
                parameter, arguments.text(parameter));
  mark["inductor_configs"] = std::move(configs);
  return mark;
}

// Returns true if this changes the node's mark. The other members of `custom` stay. Error (input):
// `custom` is not a JSON object.
Result<bool> set_mark(Graph& graph, NodeId id, const OrderedJson& mark) {
  OrderedJson custom = OrderedJson::object();
  if (graph.node(id).custom) {
    auto parsed = parse_json(graph.text(graph.node(id).custom), "custom");
    if (!parsed || !parsed->is_object())
      return fail(Error::Kind::input, "the annotations (`custom`) of {} are not a JSON object",
                  graph.name(id));
    custom = *std::move(parsed);
  }
  if (const auto was = custom.find(kInductorMark); was != custom.end() && *was == mark)
    return false;
  custom[kInductorMark] = mark;
  graph.node(id).custom = graph.intern(write_json(custom));
  return true;
}

// If the constant is a graph, marks its nodes and returns true if any mark changed. Returns
// std::nullopt if the constant is not a graph.
std::optional<bool> mark_subgraph(OrderedJson& constants, const std::string& name,
                                  const OrderedJson& mark) {
  const auto constant = constants.find(name);
  if (constant == constants.end() || !constant->is_object()) return std::nullopt;
  const auto subgraph = constant->find("subgraph");
  if (subgraph == constant->end() || !subgraph->is_object()) return std::nullopt;
  const auto nodes = subgraph->find("nodes");
  bool is_changed = false;
  if (nodes != subgraph->end() && nodes->is_array())
    for (OrderedJson& node : *nodes) {
      if (!node.is_object()) continue;
      OrderedJson& custom = node["custom"];
      if (custom.is_object() && custom.contains(kInductorMark) && custom[kInductorMark] == mark)
        continue;
      custom[kInductorMark] = mark;
      is_changed = true;
    }
  return is_changed;
}

Result<void> annotate_flex(Graph& graph, const Arguments& arguments, PassContext& context) {
  JOINTER_TRY(const OrderedJson mark, mark_with(arguments, "flex_compile_config"));
  JOINTER_TRY(const OrderedJson inner, mark_with(arguments, "mask_compile_config"));
  std::map<std::size_t, OrderedJson> constants;  // by part
  std::set<std::size_t> changed_parts;
  bool any = false;
  for (std::size_t part = 0; part < graph.part_count(); ++part)
    if (const std::string& text = graph.part(PartId(part)).constants; !text.empty()) {
      JOINTER_TRY(constants[part], parse_json(text, "constants"));
    }
  const std::vector<NodeId> order(graph.order().begin(), graph.order().end());
  for (const NodeId id : order) {
    if (!is_flex_attention(graph, graph.node(id))) continue;
    any = true;
    JOINTER_TRY(const bool is_new, set_mark(graph, id, mark));
    if (is_new) context.decide(graph, id, "marked", "regional_inductor compiles it.");
    const std::size_t part = graph.node(id).part.index();
    const std::vector<NodeId> inputs(graph.inputs(id).begin(), graph.inputs(id).end());
    for (const NodeId input : inputs) {
      if (graph.node(input).kind != NodeKind::get_attr) continue;
      const std::string name(graph.target(graph.node(input)));
      if (!constants.contains(part)) continue;
      const std::optional<bool> is_changed = mark_subgraph(constants[part], name, inner);
      if (!is_changed) continue;
      if (*is_changed) changed_parts.insert(part);
      JOINTER_TRY(const bool is_marked, set_mark(graph, input, mark));
      if (is_marked || *is_changed)
        context.decide(graph, input, "marked", fmt::format("{} calls it.", graph.name(id)));
    }
  }
  for (const std::size_t part : changed_parts)
    graph.part(PartId(part)).constants = write_json(constants[part]);
  if (context.decisions().empty())
    context.decide("kept", any ? "Every flex_attention is already marked."
                               : "The graph has no flex_attention.");
  return context.report(1);
}

Result<void> annotate_rmsnorm(Graph& graph, const Arguments& arguments, PassContext& context) {
  JOINTER_TRY(const OrderedJson mark, mark_with(arguments, "rmsnorm_compile_config"));
  std::vector<bool> is_norm(graph.node_count(), false);
  bool any = false;
  const std::vector<NodeId> order(graph.order().begin(), graph.order().end());
  for (const NodeId id : order) {
    const Node& n = graph.node(id);
    if (n.kind != NodeKind::call) continue;
    const std::string_view target = graph.target(n);
    is_norm[id.index()] = target == "aten._fused_rms_norm.default" ||
                          target == "aten._fused_rms_norm_backward.default";
    const auto inputs = graph.inputs(id);
    const bool takes_result =
        target == "_operator.getitem" && !inputs.empty() && is_norm[inputs.front().index()];
    if (!is_norm[id.index()] && !takes_result) continue;
    any = true;
    JOINTER_TRY(const bool is_new, set_mark(graph, id, mark));
    if (is_new)
      context.decide(graph, id, "marked",
                     takes_result ? "It reads a result of a compiled RMSNorm."
                                  : "regional_inductor compiles it into one kernel.");
  }
  if (context.decisions().empty())
    context.decide(
        "kept", any ? "Every fused RMSNorm is already marked." : "The graph has no fused RMSNorm.");
  return context.report(1);
}

Result<void> find_kernel_scopes(Graph& graph, const Arguments&, PassContext& context) {
  PassTable table{.title = "Kernel annotations",
                  .columns = {{"module", PassTable::Unit::text},
                              {"last", PassTable::Unit::text},
                              {"nodes", PassTable::Unit::count}}};
  Annotations marks(graph);
  std::string module, first;
  NodeId last;
  std::int64_t nodes = 0;
  const auto close = [&] {
    if (module.empty()) return;
    table.rows.push_back({first, {module, std::string(graph.name(last)), nodes}});
  };
  for (const NodeId id : graph.order()) {
    const std::string here = marks.text(id, "module_fqn");
    if (here != module) {
      close();
      module = here;
      first = graph.name(id);
      nodes = 0;
    }
    ++nodes;
    last = id;
  }
  close();
  if (table.rows.empty()) {
    context.decide("kept", "The graph does not record which modules its nodes belong to.");
    return {};
  }
  context.decide("found", fmt::format("{} would be annotated; the graph is unchanged.",
                                      counted(table.rows.size(), "run of nodes in one module",
                                              "runs of nodes in the same module")));
  context.add_table(std::move(table));
  return context.report(1);
}

Pass pass_of(std::string name, std::string summary, std::string source, bool keeps_numerics,
             std::vector<Parameter> parameters, decltype(Pass::run) run) {
  return {.info = {.name = std::move(name),
                   .summary = std::move(summary),
                   .source = "torchtitan/experiments/graph_trainer/" + std::move(source),
                   .stage = PassStage::compile,
                   .parameters = std::move(parameters),
                   .keeps_numerics = keeps_numerics,
                   .is_idempotent = true},
          .run = std::move(run)};
}

}  // namespace

Pass annotate_flex_attention_for_regional_inductor_pass() {
  return pass_of(
      "annotate_flex_attention_for_regional_inductor",
      "Marks flex_attention and its functions for regional_inductor.", "inductor_passes.py", true,
      {text("flex_compile_config", {},
            "Inductor's options for flex_attention, as a JSON object; none: its defaults."),
       text("mask_compile_config", {},
            "Inductor's options for the score and mask functions, as a JSON object; none: its "
            "defaults.")},
      annotate_flex);
}

Pass annotate_rmsnorm_for_regional_inductor_pass() {
  return pass_of("annotate_rmsnorm_for_regional_inductor",
                 "Marks fused RMSNorms for regional_inductor.", "performance_passes.py", false,
                 {text("rmsnorm_compile_config", {},
                       "Inductor's options for RMSNorm, as a JSON object; none: its defaults.")},
                 annotate_rmsnorm);
}

Pass insert_kernel_annotations_pass() {
  return pass_of("insert_kernel_annotations",
                 "Reports the runs of nodes that torchtitan annotates with their module, so that "
                 "profiles of a captured CUDA graph show it.",
                 "cudagraph.py", true, {}, find_kernel_scopes);
}

}  // namespace jointer
