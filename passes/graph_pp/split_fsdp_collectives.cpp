// Moves FSDP's collectives to separate graphs, so that a pipeline schedule can gather parameters
// and reduce gradients once for several microbatches.
//
// Forward. The graph `unshard` reads the shards and returns whole parameters: the result of the
// gather (fsdp_patterns.cpp), or the placeholder if the parameter is not gathered. The inputs of
// the graph `forward` are these values and the remaining inputs. Backward. The graph `backward`
// returns each gradient before its reduction, and the remaining outputs; the graph `reduce_grad`
// reads each of these gradients once and returns the reduced gradients. Waits without readers are
// dropped.
// Cost: linear in the number of edges.
//
// Source: torchtitan 0.3.0, experiments/graph_trainer/graph_pp/split_fsdp_collectives.py.

#include <algorithm>

#include "core/graph/complete.h"
#include "core/graph/derive.h"
#include "core/graph/users.h"
#include "passes/graph_pp/extract.h"
#include "passes/graph_pp/fsdp_patterns.h"
#include "passes/graph_pp/stages.h"

namespace jointer {
namespace {

Result<StageGraph> write_stage(const Graph& graph, PartId part, const Extraction& extraction,
                               CaptureKind kind, std::string role, std::string_view descriptions) {
  StageGraph made{.role = role, .graph = {}};
  write_extraction(graph, part, extraction, made.graph, kind,
                   graph.part(part).name + "." + std::move(role), descriptions);
  made.graph.set_title(made.graph.part(PartId(0)).name);
  JOINTER_CHECK(complete(made.graph, graph));
  return made;
}

}  // namespace

Result<std::vector<StageGraph>> split_forward_fsdp_collectives(
    const Graph& graph, const std::vector<NodeId>& parameters, const StageReasons& reasons) {
  JOINTER_TRY(const PartId part, part_of_kind(graph, CaptureKind::forward));
  const Users users(graph);
  JOINTER_TRY(const std::vector<NodeId> returned, returned_nodes(graph, part));
  std::vector<NodeId> whole;
  bool is_any = false;
  for (const NodeId id : parameters) {
    JOINTER_TRY(const std::vector<NodeId> outputs, find_unshard_outputs(graph, users, id));
    if (outputs.size() > 1)
      return fail(Error::Kind::usage,
                  "{} is gathered {} times; run deduplicate_fsdp_unshard_chains first",
                  graph.name(id), outputs.size());
    is_any |= !outputs.empty();
    whole.push_back(outputs.empty() ? id : outputs.front());
    reasons(graph, id, outputs.empty() ? "kept" : "unsharded",
            outputs.empty()
                ? "It is not gathered, so unshard returns it unchanged."
                : fmt::format("unshard gathers it and returns {}.", graph.name(outputs.front())));
  }
  if (!is_any) return std::vector<StageGraph>{};
  std::vector<NodeId> forward_given = whole;
  for (const NodeId id : placeholders(graph, part))
    if (std::ranges::find(parameters, id) == parameters.end()) forward_given.push_back(id);
  JOINTER_TRY(const Extraction unshard, extract(graph, part, parameters, whole, Waits::leave));
  JOINTER_TRY(const Extraction forward,
              extract(graph, part, std::move(forward_given), returned, Waits::leave));
  std::vector<StageGraph> made;
  JOINTER_TRY(StageGraph first,
              write_stage(graph, part, unshard, CaptureKind::forward, "unshard", {}));
  const StringId described = graph.node(output_node(graph, part)).desc;
  JOINTER_TRY(StageGraph second, write_stage(graph, part, forward, CaptureKind::forward, "forward",
                                             described ? graph.text(described) : ""));
  made.push_back(std::move(first));
  made.push_back(std::move(second));
  return made;
}

Result<std::vector<StageGraph>> split_backward_fsdp_collectives(const Graph& graph,
                                                                std::size_t parameter_gradients,
                                                                const StageReasons& reasons) {
  JOINTER_TRY(const PartId part, part_of_kind(graph, CaptureKind::backward));
  const Users users(graph);
  JOINTER_TRY(const ReturnedGradients returned,
              returned_gradients(graph, part, parameter_gradients));
  const std::vector<NodeId>& gradients = returned.of_parameters;
  std::vector<NodeId> whole, given;
  bool is_any = false;
  for (const NodeId id : gradients) {
    const NodeId reduced = id ? find_reduce_input(graph, users, id) : NodeId{};
    is_any |= bool(reduced);
    whole.push_back(reduced ? reduced : id);
    if (whole.back()) given.push_back(whole.back());
    if (id)
      reasons(graph, id, reduced ? "reduced" : "kept",
              reduced ? fmt::format("reduce_grad computes it from {}.", graph.name(reduced))
                      : "It is not reduced, so reduce_grad returns it unchanged.");
  }
  if (!is_any) return std::vector<StageGraph>{};
  std::vector<NodeId> backward_returned = whole;
  backward_returned.insert(backward_returned.end(), returned.others.begin(), returned.others.end());
  JOINTER_TRY(const Extraction backward, extract(graph, part, placeholders(graph, part),
                                                 std::move(backward_returned), Waits::leave));
  JOINTER_TRY(const Extraction reduce,
              extract(graph, part, unique_in_order(given), gradients, Waits::leave));
  const std::vector<std::string> all = output_descriptions(graph, part);
  std::vector<std::string> first;
  for (std::size_t i = 0; i < all.size(); ++i)
    first.push_back(i < parameter_gradients ? "null" : all[i]);
  std::vector<StageGraph> made;
  JOINTER_TRY(StageGraph kept, write_stage(graph, part, backward, CaptureKind::backward, "backward",
                                           join_descriptions(first, backward.outputs.size())));
  JOINTER_TRY(
      StageGraph last,
      write_stage(graph, part, reduce, CaptureKind::backward, "reduce_grad",
                  join_descriptions(std::span(all).first(std::min(parameter_gradients, all.size())),
                                    reduce.outputs.size())));
  made.push_back(std::move(kept));
  made.push_back(std::move(last));
  return made;
}

}  // namespace jointer
