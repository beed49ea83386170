// validate_flex_attn_annotation: checks that every flex_attention call and its backward are marked
// for regional compilation. Calls that are not compiled run slowly.
//
// A marked node has `compile_with_inductor` among its `custom` members, where
// torch.fx.traceback.annotate puts it. The first call without the mark is an error. A graph without
// flex_attention passes.
//
// Cost: linear in the number of nodes.
// Source: validate_flex_attn_annotation_pass of torchtitan's compiler toolkit. Deviations: none.

#include "core/graph/inductor_mark.h"
#include "passes/checks/checks.h"
#include "passes/support/flex_attention.h"
#include "passes/support/kept.h"

namespace jointer {
namespace {

Result<void> run_validate_flex_attn_annotation(Graph& graph, const Arguments&,
                                               PassContext& context) {
  for (const NodeId id : graph.order()) {
    const Node& n = graph.node(id);
    if (!is_flex_attention(graph, n)) continue;
    if (!is_annotated_for_inductor(graph, n))
      return fail(Error::Kind::usage,
                  "{} ({}) is not annotated with {}; call it under torch.fx.traceback.annotate, or "
                  "run annotate_flex_attention_for_regional_inductor first",
                  graph.name(id), graph.target(n), kInductorMark);
    context.decide(graph, id, "checked", "it is annotated");
  }
  return {};
}

}  // namespace

Pass validate_flex_attn_annotation_pass() {
  return {.info = {.name = "validate_flex_attn_annotation",
                   .summary = "Checks that every flex_attention is marked for regional compilation "
                              "(removed from torchtitan in May 2026).",
                   .source = "torchtitan/experiments/compiler_toolkit/passes.py",
                   .stage = PassStage::check,
                   .is_idempotent = true},
          .run = with_kept_decision("The graph has no flex_attention.",
                                    run_validate_flex_attn_annotation)};
}

}  // namespace jointer
