// The passes for graph_trainer's pipeline parallelism. If a pass splits a graph into several
// graphs, `keep` selects the graph that remains. partition_joint_graph returns a pair.

#include "passes/graph_pp/graph_pp.h"

#include <fmt/core.h>

#include "core/base/counted.h"
#include "passes/graph_pp/extract.h"
#include "passes/graph_pp/stages.h"
#include "passes/support/parameters.h"

namespace jointer {
namespace {

StageReasons tell(PassContext& context) {
  return [&context](const Graph& graph, NodeId node, std::string action, std::string reason) {
    context.decide(graph, node, std::move(action), std::move(reason));
  };
}

// Replaces the graph with the stage graph whose role is `role`. If `stages` is empty, the graph
// stays unchanged.
Result<void> keep(Graph& graph, std::vector<StageGraph> stages, const std::string& role,
                  std::string_view why_none, PassContext& context) {
  if (stages.empty()) context.decide("kept", std::string(why_none));
  if (context.decisions().empty())
    context.decide("split", "No values are passed between the graphs.");
  for (StageGraph& each : stages)
    if (each.role == role) graph = std::move(each.graph);
  return context.report(1);
}

// The number of forward outputs: the argument or, if it is not given, the number of outputs before
// the first gradient.
std::size_t forward_outputs(const Graph& graph, const Arguments& arguments) {
  if (arguments.has_value("forward_outputs"))
    return static_cast<std::size_t>(arguments.integer("forward_outputs"));
  const auto& outputs = graph.part(PartId(0)).outputs;
  std::size_t count = 0;
  while (count < outputs.size() && outputs[count].role != Role::gradient) ++count;
  return count;
}

Result<void> run_partition(Graph& graph, const Arguments& arguments, PassContext& context) {
  std::vector<std::string> backward = arguments.texts("backward_inputs");
  if (backward.empty())
    for (const NodeId id : placeholders(graph, PartId(0)))
      if (graph.node(id).role == Role::tangent) backward.emplace_back(graph.name(id));
  JOINTER_TRY(Graph pair, partition_joint_graph(graph, forward_outputs(graph, arguments), backward,
                                                tell(context)));
  if (context.decisions().empty())
    context.decide("kept",
                   "Nothing is saved, because the backward reads nothing from the forward.");
  graph = std::move(pair);
  return context.report(1);
}

// The number of parameter gradients, which are the first outputs of the backward: the argument or,
// if it is not given, the number of outputs up to the last one with a target.
Result<std::size_t> parameter_gradients(const Graph& graph, const Arguments& arguments) {
  if (arguments.has_value("parameter_gradients"))
    return static_cast<std::size_t>(arguments.integer("parameter_gradients"));
  JOINTER_TRY(const PartId part, part_of_kind(graph, CaptureKind::backward));
  const auto& outputs = graph.part(part).outputs;
  std::size_t count = 0;
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (!outputs[i].target.empty()) count = i + 1;
  return count;
}

Result<void> run_di_dw(Graph& graph, const Arguments& arguments, PassContext& context) {
  JOINTER_TRY(const std::size_t gradients, parameter_gradients(graph, arguments));
  JOINTER_TRY(std::vector<StageGraph> stages, split_di_dw_graph(graph, gradients, tell(context)));
  return keep(graph, std::move(stages), arguments.text("keep"),
              "The backward returns no gradients of inputs, so it is not split.", context);
}

Result<void> run_forward_fsdp(Graph& graph, const Arguments& arguments, PassContext& context) {
  std::vector<NodeId> parameters;
  JOINTER_TRY(const PartId part, part_of_kind(graph, CaptureKind::forward));
  const auto inputs = placeholders(graph, part);
  if (arguments.has_value("parameters")) {
    const auto count = static_cast<std::size_t>(arguments.integer("parameters"));
    if (count > inputs.size())
      return fail(Error::Kind::usage, "parameters={}: the forward has only {}", count,
                  counted(inputs.size(), "input"));
    parameters.assign(inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(count));
  } else {
    for (const NodeId id : inputs)
      if (graph.node(id).role == Role::parameter) parameters.push_back(id);
  }
  JOINTER_TRY(std::vector<StageGraph> stages,
              split_forward_fsdp_collectives(graph, parameters, tell(context)));
  return keep(graph, std::move(stages), arguments.text("keep"),
              "No parameter is gathered, so the forward is not split.", context);
}

Result<void> run_backward_fsdp(Graph& graph, const Arguments& arguments, PassContext& context) {
  JOINTER_TRY(const std::size_t gradients, parameter_gradients(graph, arguments));
  JOINTER_TRY(std::vector<StageGraph> stages,
              split_backward_fsdp_collectives(graph, gradients, tell(context)));
  return keep(graph, std::move(stages), arguments.text("keep"),
              "No gradient is reduced, so the backward is not split.", context);
}

Result<void> run_multiplex(Graph& graph, const Arguments&, PassContext& context) {
  JOINTER_TRY(Graph made, multiplex_fw_bw_graph(graph, tell(context)));
  if (context.decisions().empty()) context.decide("kept", "The backward has no calls.");
  graph = std::move(made);
  return context.report(1);
}

Parameter gradient_count() {
  return optional_count("parameter_gradients",
                        "Number of backward outputs that are gradients of parameters, which come "
                        "first; none: the number that the capture records.");
}

Pass pass(std::string name, std::string summary, std::string_view file,
          std::vector<Parameter> parameters, decltype(Pass::run) run) {
  return {.info = {.name = std::move(name),
                   .summary = std::move(summary),
                   .source = fmt::format("torchtitan/experiments/graph_trainer/graph_pp/{}", file),
                   .stage = PassStage::partition,
                   .parameters = std::move(parameters)},
          .run = std::move(run)};
}

}  // namespace

std::vector<Pass> graph_pp_passes() {
  return {pass("multiplex_fw_bw_graph",
               "Combines the backward of one microbatch and the forward of another into one graph.",
               "graph_multiplex.py", {}, run_multiplex),
          pass("partition_joint_graph",
               "Splits a pipeline stage's joint graph into a forward and a backward, as "
               "graph_trainer does.",
               "partition.py",
               {optional_count("forward_outputs",
                               "Number of forward outputs; none: those before the first "
                               "gradient."),
                texts("backward_inputs",
                      "Placeholders that only the backward reads; empty: the tangents.")},
               run_partition),
          pass("split_backward_fsdp_collectives",
               "Splits the reductions of gradients off a pipeline stage's backward.",
               "split_fsdp_collectives.py",
               {choice("keep", {"backward", "reduce_grad"}, "backward", "The graph to keep."),
                gradient_count()},
               run_backward_fsdp),
          pass("split_di_dw_graph",
               "Splits a pipeline stage's backward into the gradients of inputs and the gradients "
               "of parameters.",
               "split_di_dw.py",
               {choice("keep", {"backward_input", "backward_weight"}, "backward_input",
                       "The graph to keep."),
                gradient_count()},
               run_di_dw),
          pass("split_forward_fsdp_collectives",
               "Splits the gathers of parameters off a pipeline stage's forward.",
               "split_fsdp_collectives.py",
               {choice("keep", {"unshard", "forward"}, "forward", "The graph to keep."),
                optional_count("parameters",
                               "Number of forward inputs that are parameters, which come first; "
                               "none: the inputs that the capture marks as parameters.")},
               run_forward_fsdp)};
}

}  // namespace jointer
