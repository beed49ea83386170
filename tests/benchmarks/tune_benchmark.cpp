// auto_tune on a real graph: prints one JSON object with
//   unedited         the graph as opened
//   presets          step and peak of each preset's passes that apply to the graph, with no limit
//                    and within the unedited peak
//   tuned            the result of a search within the unedited peak: its steps, step and peak;
//                    the number of candidates, and candidates per second of wall and CPU time
//   as_good_after_s  when its step was as short as that of the fastest preset, whose peak may be
//                    higher than the unedited one; -1 if never
//   unasked_ms       the longest CPU time in which a search does not check for cancellation
//   cancel_ms        from cancelling to the end of the search, the maximum of several
//   peak_rss_bytes   of the process
// Exits 1 with a message if a preset within the unedited peak has a shorter step than the result.
//
//   tune_benchmark [--seconds 30] [--threads 2] [--seed 0] CAPTURE[,BACKWARD]

#include <fmt/core.h>
#include <sys/resource.h>

#include <algorithm>
#include <ctime>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "core/open/open.h"
#include "passes/built_in.h"
#include "passes/presets/presets.h"
#include "passes/tune/tuner.h"
#include "tests/benchmarks/timing.h"

namespace {

using namespace jointer;
using namespace jointer::benchmarks;
using Json = nlohmann::ordered_json;

struct Settings {
  double seconds = 30;
  std::size_t threads = 2;
  std::uint64_t seed = 0;
  OpenRequest graph;
};

Settings read_settings(int count, char** values) {
  Settings settings;
  for (int i = 1; i < count; ++i) {
    const std::string_view word = values[i];
    if (word == "--seconds" && i + 1 < count)
      settings.seconds = std::stod(values[++i]);
    else if (word == "--threads" && i + 1 < count)
      settings.threads = std::stoul(values[++i]);
    else if (word == "--seed" && i + 1 < count)
      settings.seed = std::stoul(values[++i]);
    else if (const std::size_t comma = word.find(','); comma != std::string_view::npos)
      settings.graph = {.path = std::string(word.substr(0, comma)),
                        .backward = std::string(word.substr(comma + 1))};
    else
      settings.graph.path = word;
  }
  return settings;
}

double seconds_now() {
  return now_ms(CLOCK_MONOTONIC) / 1e3;
}

Json row(const StepFigures& figures) {
  return {{"step_ms", static_cast<double>(figures.figures.step_ns) / 1e6},
          {"exposed_ms", static_cast<double>(figures.figures.exposed_ns) / 1e6},
          {"peak_bytes", figures.figures.peak_bytes}};
}

// The shortest steps of the presets.
struct Best {
  std::int64_t any_ns = std::int64_t{1} << 62;
  std::int64_t within_ns = std::int64_t{1} << 62;  // within the unedited peak
};

// The presets' passes that are searched too: for a pair, those after a partitioner.
Json presets(const Graph& graph, const PassRegistry& registry, std::int64_t unedited_peak,
             Best& best) {
  Json rows;
  for (const PipelinePreset& preset : pipeline_presets()) {
    auto all = parse_pipeline(preset.pipeline);
    Pipeline pipeline;
    for (PipelineStep& step : *all) {
      const PassStage stage = registry.find(step.pass)->info.stage;
      const bool is_joint = stage == PassStage::joint || stage == PassStage::fsdp ||
                            stage == PassStage::partition || stage == PassStage::check;
      if (stage != PassStage::compile && !(graph.is_pair() && is_joint))
        pipeline.push_back(std::move(step));
    }
    for (const bool limited : {false, true}) {
      PassContext::Options options;
      if (limited) options.peak_limit = unedited_peak;
      const auto run = run_pipeline(graph, pipeline, registry, options);
      if (!run || run->error) continue;
      const StepFigures figures =
          run->steps.empty() ? *step_figures(graph, {}) : run->steps.back().after;
      rows[preset.name][limited ? "within_the_unedited_peak" : "as_it_is"] = row(figures);
      best.any_ns = std::min(best.any_ns, figures.figures.step_ns);
      if (figures.figures.peak_bytes <= unedited_peak)
        best.within_ns = std::min(best.within_ns, figures.figures.step_ns);
    }
  }
  return rows;
}

Json tuned(const Graph& graph, const PassRegistry& registry, const Settings& settings,
           std::int64_t best_preset_ns, std::optional<std::int64_t>& found_ns, Json& answer) {
  TuneOptions options;
  options.evaluations = 1000000;
  options.seconds = settings.seconds;
  options.threads = settings.threads;
  options.seed = settings.seed;
  const double begin = seconds_now(), processor = now_ms(CLOCK_PROCESS_CPUTIME_ID);
  double as_good = -1, last_better = 0;
  std::int64_t best_ns = -1;
  const auto result = tune(graph, registry, options, [&](const TuneProgress& progress) {
    if (!progress.so_far.winner) return;
    const std::int64_t ns = progress.so_far.winner->figures.figures.step_ns;
    if (ns != best_ns) last_better = seconds_now() - begin;
    best_ns = ns;
    if (as_good < 0 && ns <= best_preset_ns) as_good = seconds_now() - begin;
  });
  if (!result || !result->winner) return nullptr;
  found_ns = result->winner->figures.figures.step_ns;
  const double wall = seconds_now() - begin;
  const double busy = (now_ms(CLOCK_PROCESS_CPUTIME_ID) - processor) / 1e3;
  const auto all = static_cast<double>(result->evaluated + result->taken_apart);
  answer["unedited"] = row(result->unedited.figures);
  answer["as_good_after_s"] = as_good;
  Json json = row(result->winner->figures);
  json["passes"] = to_text(result->winner->pipeline);
  json["candidates"] = result->evaluated;
  json["taken_apart"] = result->taken_apart;
  json["found_after_s"] = last_better;
  json["seconds"] = wall;
  json["per_second"] = all / wall;
  json["per_processor_second"] = all / busy;
  return json;
}

double cancel_ms(const Graph& graph, const PassRegistry& registry, const Settings& settings) {
  double worst = 0;
  for (const double after : {0.05, 0.4, 0.9, 1.7, 2.3, 3.1}) {
    TuneOptions options;
    options.evaluations = 1000000;
    options.threads = settings.threads;
    const double begin = seconds_now();
    options.context.is_cancelled = [&] { return seconds_now() - begin > after; };
    (void)tune(graph, registry, options);
    worst = std::max(worst, 1e3 * (seconds_now() - begin - after));
  }
  return worst;
}

// The longest time in which a search does not check for cancellation. CPU time, so that other work
// on a busy machine does not count.
double unasked_ms(const Graph& graph, const PassRegistry& registry) {
  TuneOptions options;
  options.evaluations = 100;
  double worst = 0, last = processor_ms();
  options.context.is_cancelled = [&] {
    const double now = processor_ms();
    worst = std::max(worst, now - last);
    last = now;
    return false;
  };
  (void)tune(graph, registry, options);
  return worst;
}

}  // namespace

int main(int count, char** values) {
  const Settings settings = read_settings(count, values);
  const auto graph = open_graph(settings.graph);
  if (!graph) {
    fmt::print(stderr, "tune_benchmark: {}\n", graph.error().message);
    return 1;
  }
  const PassRegistry registry = built_in_passes();
  Json answer;
  Best best;
  std::optional<std::int64_t> found_ns;
  const std::int64_t peak = step_figures(*graph, {})->figures.peak_bytes;
  answer["presets"] = presets(*graph, registry, peak, best);
  answer["tuned"] = tuned(*graph, registry, settings, best.any_ns, found_ns, answer);
  answer["unasked_ms"] = unasked_ms(*graph, registry);
  answer["cancel_ms"] = cancel_ms(*graph, registry, settings);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  answer["peak_rss_bytes"] = usage.ru_maxrss * 1024L;
  fmt::print("{}\n", answer.dump(1));
  if (found_ns && *found_ns <= best.within_ns) return 0;
  fmt::print(stderr, "tune_benchmark: a preset's step takes {:.3f} ms within the peak, and {}\n",
             static_cast<double>(best.within_ns) / 1e6,
             found_ns ? fmt::format("the best that was found {:.3f} ms",
                                    static_cast<double>(*found_ns) / 1e6)
                      : std::string("nothing was found"));
  return 1;
}
