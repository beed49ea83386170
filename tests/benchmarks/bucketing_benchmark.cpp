// Scaling of autobucketing_reordering: prints one JSON object with, for each capture and each
// requested share of it,
//   nodes, collectives   their number
//   ms                   CPU time of the pass alone
//   exposed_before_ns, exposed_after_ns, peak_before_bytes, peak_after_bytes
// and `peak_rss_bytes` of the process so far.
//
//   bucketing_benchmark [--backward] [--layers 2,8,32,61] [--estimator simple] CAPTURE...
//
// --backward: takes the backward half of a joint graph's minimum cut.
// --layers: measures a share of the graph for each number; the last number is the whole graph.

#include <fmt/core.h>
#include <sys/resource.h>

#include <string>
#include <string_view>
#include <vector>

#include "core/pass/pipeline_run.h"
#include "passes/built_in.h"
#include "tests/benchmarks/shares.h"
#include "tests/benchmarks/timing.h"

namespace {

using namespace jointer;
using namespace jointer::benchmarks;

struct Options {
  bool backward = false;
  std::vector<int> layers{1};
  std::string estimator = "simple";
  std::vector<std::string> paths;
};

Options read_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--backward")
      options.backward = true;
    else if (word == "--layers" && i + 1 < argc)
      options.layers = numbers(argv[++i]);
    else if (word == "--estimator" && i + 1 < argc)
      options.estimator = argv[++i];
    else
      options.paths.emplace_back(word);
  }
  return options;
}

Result<std::string> measure(const Graph& graph, const Options& options) {
  PassContext::Options context_options;
  context_options.analysis.estimator.name = options.estimator;
  context_options.analysis.simulation.one_communication_stream = true;
  const PassRegistry registry = built_in_passes();
  const Pass& pass = *registry.find("autobucketing_reordering");
  JOINTER_TRY(const Arguments arguments, Arguments::check(pass.info.parameters, {}));
  JOINTER_TRY(const StepFigures before, step_figures(graph, context_options.analysis));
  Graph after = graph;
  PassContext context(context_options);
  Result<void> ran;
  const double ms = milliseconds_of_processor([&] { ran = pass.run(after, arguments, context); });
  JOINTER_CHECK(ran);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  JOINTER_TRY(const StepFigures done, step_figures(after, context_options.analysis));
  return fmt::format(
      R"({{"nodes":{},"collectives":{},"ms":{:.1f},"exposed_before_ns":{},"exposed_after_ns":{},)"
      R"("peak_before_bytes":{},"peak_after_bytes":{},"peak_rss_bytes":{}}})",
      graph.order().size(), before.collectives, ms, before.figures.exposed_ns,
      done.figures.exposed_ns, before.figures.peak_bytes, done.figures.peak_bytes,
      usage.ru_maxrss * 1024L);
}

Result<std::string> figures(const std::string& path, const Options& options) {
  JOINTER_TRY(const Graph graph, open_share(path, options.backward));
  std::string all;
  for (const int layers : options.layers) {
    JOINTER_TRY(const Graph share, first_share(graph, layers, options.layers.back()));
    JOINTER_TRY(const std::string one, measure(share, options));
    all += fmt::format("{}\"{}\":{}", all.empty() ? "" : ",", layers, one);
  }
  return fmt::format("{{{}}}", all);
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = read_options(argc, argv);
  std::string all;
  for (const std::string& path : options.paths) {
    const auto one = figures(path, options);
    if (!one) {
      fmt::print(stderr, "{}: {}\n", path, one.error().message);
      return 1;
    }
    all += fmt::format("{}\"{}\":{}", all.empty() ? "" : ",\n", path, *one);
  }
  fmt::print("{{{}}}\n", all);
  return 0;
}
