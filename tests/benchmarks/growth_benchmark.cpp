// Time of every pass by graph size: prints a table with the CPU time per node, in microseconds, for
// each built-in pass and each share of a capture, and the exponent of the growth from the smallest
// to the largest share (1: linear, 2: quadratic).
//
//   growth_benchmark [--backward] [--layers 2,8,32,61] [--pass NAME]... CAPTURE
//
// --layers: the shares, in layers; the last number is the number of layers of the whole graph.
// --backward: takes the backward half of a joint graph's minimum cut.
//
// If a pass refuses the graph, its row shows the reason. Exits 1 with a message if a pass grows
// faster than promised.

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
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

constexpr int kRounds = 3;                // the minimum counts
constexpr std::int64_t kEvaluations = 4;  // per search
constexpr double kMaxExponent = 1.5;
// Times below this on the largest share are noise.
constexpr double kMinMs = 1;

struct Options {
  bool backward = false;
  std::vector<int> layers{2, 8, 32, 61};
  std::vector<std::string> passes;
  std::string path;
};

Options read_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--backward")
      options.backward = true;
    else if (word == "--layers" && i + 1 < argc)
      options.layers = numbers(argv[++i]);
    else if (word == "--pass" && i + 1 < argc)
      options.passes.emplace_back(argv[++i]);
    else
      options.path = word;
  }
  return options;
}

// Milliseconds of CPU time, the minimum of several rounds.
Result<double> measure(const Pass& pass, const Graph& graph, const PassContext::Options& options) {
  std::vector<std::pair<std::string, PassValue>> given;
  if (pass.info.stage == PassStage::search) given = {{"evaluations", kEvaluations}};
  JOINTER_TRY(const Arguments arguments, Arguments::check(pass.info.parameters, given));
  double best = 0;
  for (int round = 0; round < kRounds; ++round) {
    Graph after = graph;
    PassContext context(options);
    Result<void> ran;
    const double ms = milliseconds_of_processor([&] { ran = pass.run(after, arguments, context); });
    JOINTER_CHECK(ran);
    best = round == 0 ? ms : std::min(best, ms);
  }
  return best;
}

// True if the pass keeps the promise.
bool print_row(const Pass& pass, const std::vector<Graph>& shares,
               const PassContext::Options& options) {
  std::string row = fmt::format("{:<46}", pass.info.name);
  std::vector<double> times;
  for (const Graph& share : shares) {
    const auto ms = measure(pass, share, options);
    if (!ms) {
      fmt::print("{} {}\n", row, ms.error().message);
      return true;
    }
    times.push_back(*ms);
    row += fmt::format("{:>9.2f}", *ms * 1e3 / static_cast<double>(share.order().size()));
  }
  const double exponent = std::log(times.back() / times.front()) /
                          std::log(static_cast<double>(shares.back().order().size()) /
                                   static_cast<double>(shares.front().order().size()));
  const bool is_kept = times.back() < kMinMs || exponent <= kMaxExponent;
  fmt::print("{}{:>11.1f}{:>10.2f}{}\n", row, times.back(), exponent, is_kept ? "" : "  MISSED");
  return is_kept;
}

// True if every pass keeps the promise.
Result<bool> run(const Options& options) {
  JOINTER_TRY(const Graph graph, open_share(options.path, options.backward));
  std::vector<Graph> shares;
  fmt::print("{}\n{:<46}", graph.title(), "microseconds per node, by nodes");
  for (const int layers : options.layers) {
    JOINTER_TRY(Graph share, first_share(graph, layers, options.layers.back()));
    fmt::print("{:>9}", share.order().size());
    shares.push_back(std::move(share));
  }
  fmt::print("{:>11}{:>10}\n", "all, ms", "exponent");
  PassContext::Options context;
  context.analysis.estimator.name = "simple";
  context.analysis.simulation.one_communication_stream = true;
  const PassRegistry registry = built_in_passes();
  std::string missed;
  for (const Pass& pass : registry.passes())
    if (options.passes.empty() || std::find(options.passes.begin(), options.passes.end(),
                                            pass.info.name) != options.passes.end())
      if (!print_row(pass, shares, context)) missed += " " + pass.info.name;
  if (!missed.empty())
    fmt::print(stderr, "growth_benchmark: the time of these grows faster than nodes^{}:{}\n",
               kMaxExponent, missed);
  return missed.empty();
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = read_options(argc, argv);
  const auto done = run(options);
  if (!done) fmt::print(stderr, "growth_benchmark: {}\n", done.error().message);
  return done && *done ? 0 : 1;
}
