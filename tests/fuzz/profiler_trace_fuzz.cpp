// Profiler traces, matched to a small graph: all matched values must be valid in the database. As
// traces of compiled steps, their totals must add up.

#include "core/capture/profiler_trace.h"

#include "core/bench/calibrate.h"
#include "core/capture/compiled_trace.h"
#include "core/capture/measured_kernels.h"
#include "core/compiled/compiled_part.h"
#include "core/graph/literal.h"
#include "tests/fuzz/fuzz.h"

namespace {

using namespace jointer;

const Graph& graph() {
  static const Graph made = *parse_literal(R"(
    group tp: 0 1
    x: f32[8,16] = input
    w: f32[16,4] = parameter
    mm: f32[8,4] = aten.mm(x, w)
    ar: f32[8,4] = _c10d_functional.all_reduce(mm, 'sum', 'tp')
    r: f32[8,4] = aten.relu(mm)
    wt: f32[8,4] = _c10d_functional.wait_tensor(ar)
    out: f32[8,4] = aten.add.Tensor(wt, r)
    return [out]
  )");
  return made;
}

void check_compiled(const PaddedBytes& bytes) {
  const auto trace = read_compiled_trace("input", bytes);
  if (!trace) {
    fuzz::require(trace.error().message.starts_with("input: "), "an error without a place",
                  trace.error().message);
    return;
  }
  for (const TracedGraph& traced : trace->graphs) {
    fuzz::require(traced.runs > 0 && !traced.launches.empty(), "a compiled graph without a run");
    for (const TracedStream& stream : traced.streams)
      fuzz::require(stream.kernel_ns + stream.gap_ns - stream.overlap_ns == stream.span_ns,
                    "totals that do not add up");
  }
  static const CompiledPart part = compile_part(graph(), kForwardPart);
  const auto ties = tie_measured(*trace, graph(), part.ir, part.scheduled);
  if (!ties) return;
  fuzz::require(ties->graph < trace->graphs.size(), "a compiled graph that is none");
  for (const KernelMeasurement& kernel : ties->kernels)
    for (const std::size_t call : kernel.calls)
      fuzz::require(call < trace->graphs[ties->graph].calls.size(), "a call that is none");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const PaddedBytes bytes(fuzz::as_text(data, size));
  check_compiled(bytes);
  const auto match = match_profiler_trace(graph(), "input", bytes);
  if (!match) {
    fuzz::require(match.error().message.starts_with("input: "), "an error without a place",
                  match.error().message);
    return 0;
  }
  fuzz::require(match->matched <= match->nodes && match->passes > 0,
                "more was matched than there is");
  for (const MeasuredNode& node : match->measurement.nodes)
    fuzz::require(node.node.index() < graph().node_count() && node.end_ns >= node.start_ns,
                  "a node that is none, or ends before it starts");
  for (const auto& [work, ns] : cost_samples(graph(), match->measurement).nodes)
    fuzz::require(ns >= 0, "a negative cost", work);
  return 0;
}
