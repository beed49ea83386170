// Predicting the kernels that Inductor generates for a graph: prints one JSON object with, for each
// graph, in ms
//   nodes, kernels   their number
//   lower_ms         from the graph to loops and calls, CPU time
//   schedule_ms      from there to kernels in their order, CPU time
//   predict_ms       both, elapsed time; the halves of a pair at the same time, as in the window
//
// This is what an edit costs: nothing is kept from the graph before. The minimum of N rounds
// counts.
//
//   kernels_benchmark [--torch 2.15] [--rounds N] GRAPH...
//
// GRAPH: a capture, or the halves of a pair as FORWARD,BACKWARD. --torch: whose rules apply; the
// version that made the graph if it is not given.

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/parallel.h"
#include "core/graph/torch_version.h"
#include "core/kernels/kernels.h"
#include "core/kernels/lowering.h"
#include "core/open/open.h"
#include "tests/benchmarks/shares.h"
#include "tests/benchmarks/timing.h"

namespace {

using namespace jointer;
using namespace jointer::benchmarks;

struct Predicted {
  double lower_ms = 0, schedule_ms = 0;
  std::size_t kernels = 0;
};

Predicted predict(const Graph& graph, PartId part, TorchVersion torch) {
  Predicted result;
  kernels::Ir ir;
  kernels::Kernels scheduled;
  result.lower_ms =
      milliseconds_of_processor([&] { ir = kernels::lower(graph, part, torch, {}).value(); });
  result.schedule_ms = milliseconds_of_processor([&] { scheduled = kernels::schedule(ir, torch); });
  result.kernels = scheduled.kernels.size();
  return result;
}

std::string figures(const Graph& graph, TorchVersion torch, int rounds) {
  double lower = 0, schedule = 0, elapsed = 0;
  std::size_t kernels = 0;
  for (int round = 0; round < rounds; ++round) {
    Predicted first, second;
    const double start = now_ms(CLOCK_MONOTONIC);
    if (graph.is_pair())
      run_both([&] { first = predict(graph, kForwardPart, torch); },
               [&] { second = predict(graph, kBackwardPart, torch); });
    else
      first = predict(graph, PartId(0), torch);
    const auto update = [&](double& best, double ms) {
      best = round == 0 ? ms : std::min(best, ms);
    };
    update(elapsed, now_ms(CLOCK_MONOTONIC) - start);
    update(lower, first.lower_ms + second.lower_ms);
    update(schedule, first.schedule_ms + second.schedule_ms);
    kernels = first.kernels + second.kernels;
  }
  return fmt::format(
      R"({{"nodes":{},"kernels":{},"lower_ms":{:.3f},"schedule_ms":{:.3f},"predict_ms":{:.3f}}})",
      graph.order().size(), kernels, lower, schedule, elapsed);
}

}  // namespace

int main(int argc, char** argv) {
  int rounds = 9;
  std::optional<TorchVersion> torch;
  std::vector<std::string> paths;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--torch" && i + 1 < argc)
      torch = parse_torch_version(argv[++i]);
    else if (word == "--rounds" && i + 1 < argc)
      rounds = std::max(1, numbers(argv[++i]).front());
    else
      paths.emplace_back(word);
  }
  std::string answer;
  for (const std::string& path : paths) {
    const std::size_t comma = std::min(path.find(','), path.size());
    const Result<Graph> graph =
        open_graph({.path = path.substr(0, comma),
                    .backward = comma == path.size() ? "" : path.substr(comma + 1)});
    if (!graph) {
      fmt::print(stderr, "{}\n", graph.error().message);
      return 1;
    }
    answer += fmt::format("{}\"{}\":{}", answer.empty() ? "" : ",", path,
                          figures(*graph, torch.value_or(torch_version_of(*graph)), rounds));
  }
  fmt::print("{{{}}}\n", answer);
  return 0;
}
