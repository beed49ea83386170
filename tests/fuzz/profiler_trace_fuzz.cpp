// Profiler traces, matched to a small graph: all matched values must be valid in the database.

#include "core/capture/profiler_trace.h"

#include "core/bench/calibrate.h"
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

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const PaddedBytes bytes(fuzz::as_text(data, size));
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
