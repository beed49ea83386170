// Passes that choose how the graph is run, and inductor_decomposition, which changes the graph. It
// does so in Python, because only torch has the decomposition table. The other passes in this file
// change nothing. All of them except custom_codegen, which has no effect here, select a backend of
// the runner or a CUDA graph; `jointer bench --passes` reads this choice from the pipeline
// (pipeline_backend.h). Upstream's rules for the order of these passes are in
// core/pass/pipeline_rules.h.
//
// Source: torchtitan 0.3.0, graph_trainer; for inductor_decomposition, its predecessor, the
// compiler toolkit. Deviations of cudagraph: it is ignored on the CPU, which has no CUDA graphs.

#include "passes/compile/compile.h"

#include "core/base/counted.h"
#include "core/base/units.h"
#include "core/edit/select.h"
#include "core/graph/inductor_mark.h"
#include "passes/support/parameters.h"

namespace jointer {
namespace {

constexpr std::string_view kGraphTrainer = "torchtitan/experiments/graph_trainer/";

PassInfo info_of(std::string name, std::string summary, std::string_view file,
                 std::vector<Parameter> parameters = {}) {
  return {.name = std::move(name),
          .summary = std::move(summary),
          .source = fmt::format("{}{}", kGraphTrainer, file),
          .stage = PassStage::compile,
          .parameters = std::move(parameters),
          .keeps_numerics = false,
          .is_idempotent = true};
}

Result<void> mark_regions(Graph& graph, const Arguments& arguments, PassContext& context) {
  std::vector<bool> is_marked(graph.node_count(), false);
  for (const std::string& selector : arguments.texts("mark")) {
    JOINTER_TRY(const std::vector<NodeId> nodes, select(graph, selector));
    for (const NodeId id : nodes) is_marked[id.index()] = true;
  }
  std::size_t count = 0;
  for (const NodeId id : graph.order()) {
    const bool annotated = is_annotated_for_inductor(graph, graph.node(id));
    // A call's annotated constants are compiled with the call.
    if (graph.node(id).kind != NodeKind::call || (!annotated && !is_marked[id.index()])) continue;
    context.decide(graph, id, "compiled",
                   annotated ? "it is annotated with compile_with_inductor" : "`mark` selects it");
    ++count;
  }
  if (count == 0)
    context.decide(
        "kept",
        "There is nothing to compile: no call is annotated with compile_with_inductor or selected "
        "by `mark`. To annotate calls, run annotate_flex_attention_for_regional_inductor or "
        "annotate_rmsnorm_for_regional_inductor first.");
  else
    context.decide("compiled",
                   fmt::format("The graph is unchanged: `jointer bench --passes` compiles {}.",
                               counted(count, "call in it", "calls in it")));
  return {};
}

Pass regional_inductor_pass() {
  return {.info = info_of(
              "regional_inductor",
              "Compiles the calls that are annotated with compile_with_inductor; the others are "
              "interpreted.",
              "inductor_passes.py",
              {texts("mark", "More calls to compile: node names or FQN_PATTERN::operator.")}),
          .run = mark_regions};
}

Pass full_inductor_compilation_pass() {
  return {.info = info_of("full_inductor_compilation", "Compiles the whole graph with Inductor.",
                          "inductor_passes.py"),
          .run = [](Graph&, const Arguments&, PassContext& context) -> Result<void> {
            context.decide("compiled",
                           "`jointer bench --passes` compiles the whole graph; Inductor does not "
                           "keep outputs bitwise equal.");
            return {};
          }};
}

Pass cudagraph_pass() {
  PassInfo info =
      info_of("cudagraph", "Captures the run as a CUDA graph and replays it.", "cudagraph.py");
  info.keeps_numerics = true;
  return {.info = std::move(info),
          .run = [](Graph& graph, const Arguments&, PassContext& context) -> Result<void> {
            if (graph.main_device() == DeviceType::cpu) {
              context.decide("kept",
                             "The graph is on the CPU, which has no CUDA graphs: `jointer bench "
                             "--passes` skips this pass there.");
              return {};
            }
            context.decide(
                "captured",
                "`jointer bench --passes` captures a step and replays it in the measured steps.");
            return {};
          }};
}

Pass custom_codegen_pass() {
  PassInfo info = info_of("custom_codegen",
                          "Changes nothing here; in torchtitan, it writes the Python code that "
                          "torch generates for the graph to a file.",
                          "custom_codegen.py");
  info.keeps_numerics = true;
  return {.info = std::move(info),
          .run = [](Graph&, const Arguments&, PassContext& context) -> Result<void> {
            context.decide(
                "kept",
                "In torchtitan, this pass replaces the code that torch generates, for profilers "
                "and debuggers; `jointer bench` runs the graph's nodes, not that code.");
            return {};
          }};
}

Pass inductor_decomposition_pass() {
  PassInfo info = info_of("inductor_decomposition",
                          "Decomposes operators with Inductor's decomposition table, in Python "
                          "(removed from torchtitan in May 2026).",
                          "");
  info.source = "torchtitan/experiments/compiler_toolkit/passes.py";
  return {
      .info = std::move(info),
      .run = [](Graph& graph, const Arguments&, PassContext& context) -> Result<void> {
        if (graph.is_pair())
          return fail(
              Error::Kind::usage,
              "the pass must run before partitioning, but the graph is a forward/backward pair");
        const std::size_t before = graph.order().size();
        JOINTER_TRY(graph,
                    context.run_python(graph, "jointer.decomposition:inductor_decomposition"));
        context.decide("changed", fmt::format("{} became {}.", counted(before, "node"),
                                              format_count(std::ssize(graph.order()))));
        return {};
      }};
}

}  // namespace

std::vector<Pass> compile_passes() {
  return {
      annotate_flex_attention_for_regional_inductor_pass(),
      annotate_rmsnorm_for_regional_inductor_pass(),
      cudagraph_pass(),
      custom_codegen_pass(),
      full_inductor_compilation_pass(),
      inductor_decomposition_pass(),
      insert_kernel_annotations_pass(),
      regional_inductor_pass(),
  };
}

}  // namespace jointer
