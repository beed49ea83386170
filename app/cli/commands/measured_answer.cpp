#include "app/cli/commands/measured_answer.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "app/cli/commands/compiled_answer.h"
#include "app/cli/commands/names_text.h"
#include "app/cli/commands/predicted_kernels.h"
#include "app/cli/commands/table.h"
#include "core/base/checked.h"
#include "core/base/counted.h"
#include "core/base/index.h"
#include "core/base/units.h"
#include "core/capture/compiled_trace.h"
#include "core/capture/half_graph.h"
#include "core/capture/measured_kernels.h"
#include "core/capture/program_part.h"
#include "core/compiled/kernel_times.h"
#include "core/cost/estimator.h"
#include "core/kernels/lowering.h"

namespace jointer::cli {
namespace {

constexpr std::size_t kMaxSlowest = 20, kMaxNamed = 8, kMaxComputed = 4;

struct PredictedTimes {
  std::string estimator;
  std::vector<kernels::KernelTime> times;  // by kernel
};

Result<std::unique_ptr<Estimator>> estimator_for(const MeasuredRequest& request,
                                                 const CompiledTrace& trace, const Graph& graph) {
  EstimatorRequest wanted;
  wanted.device = request.device;
  if (wanted.device.empty()) wanted.device = device_id_in(trace.device);
  if (wanted.device.empty())
    wanted.device = graph.main_device() == DeviceType::cpu ? "cpu" : "h100";
  JOINTER_TRY(const DeviceDescription device, load_device(wanted.device));
  if (device.kernels) wanted.name = "kernels";
  return make_estimator(wanted);
}

Result<PredictedTimes> predict_times(const MeasuredRequest& request, const CompiledTrace& trace,
                                     const Graph& graph, const kernels::Ir& ir,
                                     const kernels::Kernels& made) {
  JOINTER_TRY(const std::unique_ptr<Estimator> estimator, estimator_for(request, trace, graph));
  const std::vector<NodeCost> costs = estimate_all(graph, *estimator);
  return PredictedTimes{estimator->description_of(costs),
                        kernels::kernel_times(graph, ir, made, costs, estimator->device())};
}

// The kernels of a compilation, or predicted ones, to which the calls in the trace are tied.
struct Base {
  Json answer;
  MeasuredKernels measured;
  PredictedTimes predicted;
};

Result<Base> base_of_artifacts(const MeasuredRequest& request, const CompiledTrace& trace,
                               const Graph& graph, PartId part) {
  Base base;
  JOINTER_TRY(const OpenedCompilation opened, open_compilation(request.artifacts, graph, part));
  base.answer = compiled_answer(opened, graph);
  JOINTER_TRY(base.measured, tie_measured(trace, opened.program()));
  const CompiledPart made = part_of_program(graph, opened.program(), part, opened.ties);
  JOINTER_TRY(base.predicted, predict_times(request, trace, graph, made.ir, made.scheduled));
  return base;
}

Result<Base> base_of_prediction(const MeasuredRequest& request, const CompiledTrace& trace,
                                const Graph& graph) {
  Base base;
  const kernels::Ir ir = kernels::lower(graph, request.torch);
  const kernels::Kernels made = kernels::schedule(ir, request.torch);
  base.answer = kernels_json(graph, made, request.torch);
  JOINTER_TRY(base.measured, tie_measured(trace, graph, ir, made));
  JOINTER_TRY(base.predicted, predict_times(request, trace, graph, ir, made));
  return base;
}

Json calls_json(const TracedGraph& graph, const MeasuredKernels& measured) {
  std::map<std::size_t, std::size_t> kernel_of;
  for (std::size_t i = 0; i < measured.kernels.size(); ++i)
    for (const std::size_t call : measured.kernels[i].calls) kernel_of[call] = i;
  Json calls = Json::array();
  for (std::size_t i = 0; i < graph.calls.size(); ++i) {
    const TracedCall& call = graph.calls[i];
    Json launches = Json::array();
    for (std::size_t k = call.first; k < call.first + call.count; ++k) {
      const TracedLaunch& launch = graph.launches[k];
      launches.push_back({{"name", launch.name},
                          {"stream", launch.stream},
                          {"start_ms", to_ms(launch.start_ns)},
                          {"ms", to_ms(launch.end_ns - launch.start_ns)},
                          {"gap_ms", to_ms(launch.gap_ns)}});
    }
    const auto kernel = kernel_of.find(i);
    calls.push_back({{"name", call.name},
                     {"ms", to_ms(call.ns)},
                     {"kernel", kernel == kernel_of.end() ? Json(nullptr) : Json(kernel->second)},
                     {"launches", std::move(launches)}});
  }
  return calls;
}

Json streams_json(const TracedGraph& graph) {
  Json streams = Json::array();
  for (const TracedStream& stream : graph.streams)
    streams.push_back({{"stream", stream.stream},
                       {"launches", stream.launches},
                       {"kernels_ms", to_ms(stream.kernel_ns)},
                       {"gaps_ms", to_ms(stream.gap_ns)},
                       {"overlap_ms", to_ms(stream.overlap_ns)},
                       {"span_ms", to_ms(stream.span_ns)}});
  return streams;
}

// The kernels that are measured together: one or, in a C++ function, several.
struct Function {
  std::size_t kernels = 0;
  std::int64_t bytes = 0, predicted_ns = 0;
};

// Indexed by kernel. A function is at the index of the kernel that has its measured time; the
// entries of its other kernels are empty.
std::vector<Function> functions_of(const Base& base, const Json& kernels) {
  std::vector<Function> functions(base.measured.kernels.size());
  for (std::size_t i = 0; i < functions.size(); ++i) {
    const std::int32_t other = base.measured.kernels[i].counted_in;
    Function& function = functions[other < 0 ? i : as_index(other)];
    ++function.kernels;
    function.bytes = saturating_add(function.bytes, kernels[i]["bytes"].get<std::int64_t>());
    function.predicted_ns = saturating_add(function.predicted_ns, base.predicted.times[i].ns);
  }
  return functions;
}

// Adds the measured and the predicted time to each kernel, and their sums to the answer.
void add_times(const TracedGraph& graph, const Base& base, Json& answer) {
  std::int64_t all_ns = 0, measured_ns = 0, predicted_ns = 0;
  for (const TracedCall& call : graph.calls) all_ns = saturating_add(all_ns, call.ns);
  const std::vector<Function> functions = functions_of(base, answer["kernels"]);
  std::size_t launching = 0, measured = 0;
  for (std::size_t i = 0; i < base.measured.kernels.size(); ++i) {
    const KernelMeasurement& tie = base.measured.kernels[i];
    const kernels::KernelTime& time = base.predicted.times[i];
    Json& kernel = answer["kernels"][i];
    launching += time.is_launch ? 1 : 0;
    measured += time.is_launch && tie.by != TiedBy::nothing ? 1 : 0;
    kernel["ms"] = tie.ns ? Json(to_ms(*tie.ns)) : Json(nullptr);
    kernel["predicted_ms"] = time.is_launch ? Json(to_ms(time.ns)) : Json(nullptr);
    kernel["tied_by"] =
        tie.by == TiedBy::nothing ? Json(nullptr) : Json(std::string(to_string(tie.by)));
    kernel["calls"] = tie.calls;
    if (tie.counted_in >= 0) kernel["counted_in"] = tie.counted_in;
    if (tie.by != TiedBy::nothing && (tie.ns || tie.counted_in >= 0))
      predicted_ns = saturating_add(predicted_ns, time.ns);
    if (!tie.ns) continue;
    measured_ns = saturating_add(measured_ns, *tie.ns);
    if (all_ns > 0) kernel["share"] = static_cast<double>(*tie.ns) / static_cast<double>(all_ns);
    if (*tie.ns > 0 && kernel["kind"] != "collective")
      kernel["gbps"] = static_cast<double>(functions[i].bytes) / static_cast<double>(*tie.ns);
    if (functions[i].kernels > 1)
      kernel["function"] = {{"kernels", functions[i].kernels},
                            {"bytes", functions[i].bytes},
                            {"predicted_ms", to_ms(functions[i].predicted_ns)}};
  }
  answer["launching_kernels"] = launching;
  answer["measured_kernels"] = measured;
  answer["calls_ms"] = to_ms(all_ns);
  answer["measured_ms"] = to_ms(measured_ns);
  answer["predicted_ms"] = to_ms(predicted_ns);
}

std::string ms_text(const Json& ms) {
  return ms.is_null() ? std::string("unknown") : format_ms(ms.get<double>());
}

Table slowest_table(const Json& kernels) {
  std::vector<const Json*> slowest;
  for (const Json& kernel : kernels)
    if (!kernel["ms"].is_null()) slowest.push_back(&kernel);
  std::ranges::stable_sort(slowest, std::greater<>(),
                           [](const Json* kernel) { return (*kernel)["ms"].get<double>(); });
  if (slowest.size() > kMaxSlowest) slowest.resize(kMaxSlowest);
  using enum Table::Align;
  Table table({{"slowest kernels", left},
               {"kind", left},
               {"measured", right},
               {"predicted", right},
               {"bytes", right},
               {"GB/s", right},
               {"share", right},
               {"computes", left}});
  for (const Json* each : slowest) {
    const Json& kernel = *each;
    const Json& sums = kernel.contains("function") ? kernel["function"] : kernel;
    table.add({kernel["name"].get<std::string>(), kernel["kind"].get<std::string>(),
               ms_text(kernel["ms"]), ms_text(sums["predicted_ms"]),
               format_bytes(sums["bytes"].get<std::int64_t>()),
               kernel.contains("gbps") ? format_significant(kernel["gbps"].get<double>()) : "",
               kernel.contains("share") ? format_percent(kernel["share"].get<double>()) : "",
               names_text(kernel["nodes"], kMaxComputed)});
  }
  return table;
}

Table stream_table(const Json& streams) {
  using enum Table::Align;
  Table table({{"stream", right},
               {"launches", right},
               {"kernels", right},
               {"gaps", right},
               {"overlap", right},
               {"first to last launch", right}});
  for (const Json& stream : streams)
    table.add({std::to_string(stream["stream"].get<std::int64_t>()),
               format_count(stream["launches"].get<std::int64_t>()), ms_text(stream["kernels_ms"]),
               ms_text(stream["gaps_ms"]), ms_text(stream["overlap_ms"]),
               ms_text(stream["span_ms"])});
  return table;
}

}  // namespace

Result<Json> measured_answer(const MeasuredRequest& request, const Graph& graph, PartId part) {
  JOINTER_TRY(const CompiledTrace trace, read_compiled_trace(request.trace));
  Base base;
  if (!request.artifacts.empty()) {
    JOINTER_TRY(base, base_of_artifacts(request, trace, graph, part));
  } else if (graph.is_pair()) {
    JOINTER_TRY(const Graph half, half_graph(graph, part));
    JOINTER_TRY(base, base_of_prediction(request, trace, half));
  } else {
    JOINTER_TRY(base, base_of_prediction(request, trace, graph));
  }
  const TracedGraph& traced = trace.graphs[base.measured.graph];
  Json answer = std::move(base.answer);
  const Json kernels_from = answer["source"];
  answer["source"] = "measured";
  answer["kernels_from"] = kernels_from;
  answer["device"] = trace.device;
  answer["estimator"] = base.predicted.estimator;
  add_times(traced, base, answer);
  answer["trace"] = {{"file", trace.label},
                     {"steps", trace.steps},
                     {"compiled_graphs", trace.graphs.size()},
                     {"compiled_graph", traced.key},
                     {"runs", traced.runs},
                     {"steps_of_runs", traced.steps},
                     {"other_runs", traced.other_runs},
                     {"span_ms", to_ms(traced.span_ns)},
                     {"outside_launches", trace.outside_launches},
                     {"outside_ms", to_ms(trace.outside_ns)}};
  answer["streams"] = streams_json(traced);
  answer["calls"] = calls_json(traced, base.measured);
  Json kernels = Json::array(), calls = Json::array();
  for (const std::size_t i : base.measured.untied_kernels)
    kernels.push_back(answer["kernels"][i]["name"]);
  for (const std::size_t i : base.measured.untied_calls) {
    const TracedCall& call = traced.calls[i];
    calls.push_back(call.name.empty() ? traced.launches[call.first].name : call.name);
  }
  answer["unmeasured_kernels"] = std::move(kernels);
  answer["untied_calls"] = std::move(calls);
  return answer;
}

void print_measured(const Json& answer) {
  const Json& trace = answer["trace"];
  const auto runs = trace["runs"].get<std::size_t>(),
             steps = trace["steps_of_runs"].get<std::size_t>();
  fmt::print("Measured on {}: {}{}, from {}\n", answer["device"].get<std::string>(),
             runs == 1 ? "one run" : fmt::format("median of {} runs", runs),
             steps == 0 ? "" : fmt::format(" in {}", counted(steps, "step")),
             trace["file"].get<std::string>());
  if (const auto others = trace["other_runs"].get<std::size_t>(); others > 0)
    fmt::print("left out: {} with different calls\n", counted(others, "run"));
  const std::string torch = answer["torch"].get<std::string>();
  fmt::print("kernels as {} {}\n",
             answer["kernels_from"] == "compiled" ? "compiled by" : "predicted for Inductor of",
             torch.empty() ? "an unknown version of torch" : "torch " + torch);
  fmt::print("{} of {} measured: {}; predicted for them: {} ({})\n\n",
             format_count(answer["measured_kernels"].get<std::int64_t>()),
             counted(answer["launching_kernels"].get<std::size_t>(), "kernel"),
             ms_text(answer["measured_ms"]), ms_text(answer["predicted_ms"]),
             answer["estimator"].get<std::string>());
  fmt::print("{}\n{}", stream_table(answer["streams"]).text(),
             slowest_table(answer["kernels"]).text());
  const auto line = [&](const char* key, std::string_view one, std::string_view several) {
    if (const Json& names = answer[key]; !names.empty())
      fmt::print("{}: {}\n", counted(names.size(), one, several), names_text(names, kMaxNamed));
  };
  fmt::print("\n");
  line("unmeasured_kernels", "kernel that is not in the trace",
       "kernels that are not in the trace");
  line("untied_calls", "call in the trace that matches no kernel",
       "calls in the trace that match no kernel");
  if (const auto outside = trace["outside_launches"].get<std::size_t>(); outside > 0)
    fmt::print("outside compiled graphs, in all steps: {}, {}\n",
               counted(outside, "launch", "launches"), ms_text(trace["outside_ms"]));
}

}  // namespace jointer::cli
