// Records the size that graph chunking splits in two, as a symbol with its value, in
// custom["torchtitan_chunk_symbol_hints"] of every placeholder with that size. In a trace for graph
// chunking, the size of the batch or of the sequence is a symbol with a range from half the size to
// the full size.
//
// Steps. Find the symbols in dimension 0 (batch) or 1 (seq) of placeholders, each with its value
// during tracing or its upper bound. Mark the placeholders that have such a symbol in their shape.
// Cost: linear in the size of the graph.
//
// Source: torchtitan 0.3.0, experiments/graph_trainer/ep_chunk_pass.py. Deviations: if the capture
// does not contain the hint that torch was given for the symbol, the upper bound of the range is
// used, which is the same number; a graph without such a size stays unchanged (upstream refuses
// it).

#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <string_view>

#include "passes/ep_overlap/chunk_sizes.h"
#include "passes/ep_overlap/ep_overlap.h"
#include "passes/support/parameters.h"

namespace jointer {
namespace {

// The hints for the symbols in the placeholder's shape.
OrderedJson hints_of(const Graph& graph, NodeId id, const ChunkHints& hints) {
  OrderedJson own = OrderedJson::object();
  const Tensor* tensor = graph.single_tensor(graph.node(id));
  if (tensor == nullptr) return own;
  for (const auto& [symbol, hint] : hints)
    for (const Dim& size : graph.shape(*tensor))
      if (size.expression)
        for (const std::string& each : graph.expression(size.expression).symbols())
          if (each == symbol) own[symbol] = hint;
  return own;
}

Result<void> run_populate_chunk_dim_metadata(Graph& graph, const Arguments& arguments,
                                             PassContext& context) {
  if (graph.is_pair())
    return fail(Error::Kind::usage,
                "graph chunking requires a flat training step, not a forward/backward pair");
  const PartId part(0);
  const ChunkMode mode = arguments.text("mode") == "seq" ? ChunkMode::seq : ChunkMode::batch;
  const std::string_view size = mode == ChunkMode::seq ? "sequence length" : "batch size";
  Annotations marks(graph);
  JOINTER_TRY(const ChunkHints hints, find_chunk_hints(graph, part, marks, mode));
  if (hints.empty()) {
    context.decide("kept", fmt::format("No input has a symbolic {}; to use graph chunking, trace "
                                       "the step with --compile.ep_overlap.enabled.",
                                       size));
    return context.report(1);
  }
  for (const NodeId id : graph.order()) {
    Node& node = graph.node(id);
    if (node.kind != NodeKind::placeholder) continue;
    const OrderedJson own = hints_of(graph, id, hints);
    if (own.empty()) continue;
    OrderedJson custom = OrderedJson::object();
    if (node.custom) {
      auto parsed = parse_json(graph.text(node.custom), "custom");
      if (!parsed || !parsed->is_object())
        return fail(Error::Kind::input, "the annotations (`custom`) of {} are not a JSON object",
                    graph.name(id));
      custom = *std::move(parsed);
    }
    if (const auto was = custom.find(kChunkHints); was != custom.end() && *was == own) continue;
    custom[kChunkHints] = own;
    node.custom = graph.intern(write_json(custom));
    context.decide(graph, id, "marked",
                   fmt::format("Its size depends on {}, which graph chunking splits in two.",
                               own.begin().key()));
  }
  if (context.decisions().empty())
    context.decide("kept", fmt::format("The inputs with a symbolic {} are already marked.", size));
  return context.report(1);
}

}  // namespace

Pass populate_chunk_dim_metadata_pass() {
  return {
      .info = {.name = "populate_chunk_dim_metadata",
               .summary =
                   "Marks inputs whose batch or sequence dimension graph chunking splits in two.",
               .source = "torchtitan/experiments/graph_trainer/ep_chunk_pass.py",
               .stage = PassStage::joint,
               .parameters = {choice("mode", {"batch", "seq"}, "batch",
                                     "Dimension to split in two.")},
               .is_idempotent = true},
      .run = run_populate_chunk_dim_metadata};
}

}  // namespace jointer
