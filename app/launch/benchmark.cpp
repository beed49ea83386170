#include "app/launch/benchmark.h"

#include <algorithm>

#include "app/launch/baseline.h"
#include "app/launch/captures.h"
#include "app/launch/machine.h"
#include "app/launch/memory_need.h"
#include "app/launch/nsys.h"
#include "core/base/bytes.h"
#include "core/bench/memory_of_run.h"
#include "core/bench/step_of_run.h"
#include "core/capture/native_writer.h"
#include "core/cost/device.h"
#include "core/cost/gpu_properties.h"
#include "core/open/open.h"
#include "core/open/open_ranks.h"
#include "core/process/temporary_folder.h"

namespace jointer {
namespace {

bool verifies_itself(const BenchmarkRequest& request) {
  return request.baseline.graph == request.program.graph &&
         request.baseline.backward == request.program.backward;
}

// Ranks read native captures from disk. Writes graphs in other formats, and an edited graph, to
// `folder` as native captures.
Result<BenchmarkRequest> with_native_files(const Graph& graph, BenchmarkRequest request,
                                           const TemporaryFolder& folder, ProgramSource source) {
  const bool is_edited = source == ProgramSource::graph;
  const bool has_baseline = !request.baseline.empty() && (is_edited || !verifies_itself(request));
  ConvertRequest convert{.files = request.program,
                         .graph_index = request.graph_index,
                         .assumptions = graph.assumptions(),
                         .ranks = rank_numbers(request),
                         .opened = &graph,
                         .name = "graph"};
  if (is_edited) {
    request.program = {folder.path("edited.json"), ""};
    JOINTER_CHECK(write_bytes(request.program.graph, write_native(graph)));
  } else {
    JOINTER_TRY(request.program, native_files(convert, folder));
  }
  if (has_baseline) {
    convert.files = request.baseline;
    convert.opened = nullptr;
    convert.name = "baseline";
    JOINTER_TRY(request.baseline, native_files(convert, folder));
  } else if (!request.baseline.empty()) {
    request.baseline = request.program;
  }
  request.graph_index.reset();
  return request;
}

// If each rank has its own program, the collectives of the programs must match, since ranks would
// otherwise wait for each other until the timeout.
Result<void> check_programs(const BenchmarkRequest& request, const Assumptions& assumptions) {
  const std::vector<int> ranks = rank_numbers(request);
  if (request.solo || ranks.size() < 2 || !has_file_per_rank(request.program)) return {};
  std::vector<RankFiles> files;
  files.reserve(ranks.size());
  for (const int rank : ranks)
    files.push_back({.path = path_of_rank(request.program.graph, rank),
                     .backward = path_of_rank(request.program.backward, rank),
                     .index = request.graph_index,
                     .assumptions = assumptions,
                     .rank = rank});
  JOINTER_TRY(const std::vector<RankProgram> programs, open_ranks(files));
  JOINTER_TRY(const SpmdReport report, check_spmd(rank_graphs(programs)));
  if (report.mismatch)
    return input_error("the collectives of the ranks do not match: {}", report.mismatch->sentence);
  return {};
}

// Checks the outputs of the first rank's graph against those of its baseline (check_baseline), if
// that is another file.
Result<void> check_outputs(const Graph& graph, const BenchmarkRequest& request) {
  if (request.baseline.empty() || verifies_itself(request)) return {};
  const int rank = rank_numbers(request).front();
  JOINTER_TRY(const Graph baseline,
              open_graph({.path = path_of_rank(request.baseline.graph, rank),
                          .backward = path_of_rank(request.baseline.backward, rank),
                          .index = request.graph_index,
                          .assumptions = graph.assumptions()}));
  return check_baseline(graph, baseline);
}

// The device type that the ranks reported or, if none did, the one that they most likely used.
DeviceType likely_device(const BenchmarkResult& result) {
  const auto reported = device_that_ran(result);
  return reported ? *reported : device_of_run(result.request, this_machine());
}

// The GPU properties of the first rank that reported enough to describe its GPU; null if none did.
const GpuProperties* gpu_of(const BenchmarkResult& result) {
  for (const RankResult& rank : result.ranks)
    if (rank.started && rank.started->gpu && can_describe(*rank.started->gpu))
      return &*rank.started->gpu;
  return nullptr;
}

Result<Analysis> estimate(const Graph& graph, const BenchmarkResult& result,
                          EstimatorRequest estimator) {
  const DeviceType runs_on = likely_device(result);
  if (estimator.device.empty()) estimator.device = device_id_in(result.device());
  if (const GpuProperties* gpu = gpu_of(result); estimator.device.empty() && gpu != nullptr)
    estimator.device = device_text(*gpu);
  if ((estimator.device.empty() || estimator.device == "cpu") && runs_on == DeviceType::cpu)
    estimator.device =
        cpu_of_rank_text(threads_per_rank(result.request, this_machine()),
                         result.request.solo ? 1 : std::max(1, result.request.ranks));
  return analyze(
      graph, {.memory = memory_of_run(result.request, runs_on), .estimator = std::move(estimator)});
}

// A note if the GPU that ran the benchmark has no built-in description, so that times are estimated
// from its properties or for another GPU; otherwise empty.
std::string other_device(const BenchmarkResult& result, const EstimatorRequest& estimator,
                         const Analysis& analysis, const RunHints& hints) {
  const std::string ran = result.device();
  if (ran.empty() || !estimator.device.empty() || !device_id_in(ran).empty() ||
      likely_device(result) == DeviceType::cpu || estimator.name.starts_with("measured"))
    return {};
  const std::string_view advice = hints.device, before_advice = advice.empty() ? "" : "; ";
  if (gpu_of(result) != nullptr)
    return fmt::format(
        "{} has no built-in description: times are estimated from its multiprocessors, clocks and "
        "memory bus{}{}",
        ran, before_advice, advice);
  return fmt::format("{} has no built-in description: times are estimated for {}{}{}", ran,
                     analysis.device.name, before_advice, advice);
}

}  // namespace

Result<BenchmarkOutcome> run_benchmark(const Graph& graph, const FittedRequest& fitted,
                                       const EstimatorRequest& estimator,
                                       const LaunchOptions& options, ProgramSource source) {
  if (source == ProgramSource::files && options.compares_ranks)
    JOINTER_CHECK(check_programs(fitted.request, graph.assumptions()));
  JOINTER_CHECK(check_outputs(graph, fitted.request));
  JOINTER_TRY(const TemporaryFolder folder, TemporaryFolder::make("jointer-bench-"));
  JOINTER_TRY(const BenchmarkRequest files,
              with_native_files(graph, fitted.request, folder, source));
  if (options.is_cancelled && options.is_cancelled())
    return fail(Error::Kind::cancelled, "interrupted before the ranks were started");
  JOINTER_TRY(BenchmarkResult result, launch(files, options));
  // Record the original request, since the files written for the ranks are deleted.
  result.request = fitted.request;
  for (RankResult& rank : result.ranks)
    rank.notes.insert(rank.notes.begin(), fitted.notes.begin(), fitted.notes.end());
  note_reports(result);
  JOINTER_TRY(Analysis analysis, estimate(graph, result, estimator));
  if (std::string note = other_device(result, estimator, analysis, fitted.hints); !note.empty())
    result.ranks.front().notes.push_back(std::move(note));
  result.predicted = prediction_of(analysis);
  result.predicted.step_ns = step_of_run(graph, analysis, result.request);
  result.conclude(graph, analysis);
  return BenchmarkOutcome{std::move(result), std::move(analysis)};
}

}  // namespace jointer
