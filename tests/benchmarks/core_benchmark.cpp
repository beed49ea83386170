// Speed of the core on real graphs: the bundled 8B sample and, if the shared captures are
// available, Llama3-8B (10,944 nodes) and DeepSeek-V3 671B (54,681 nodes).

#include <benchmark/benchmark.h>

#include <map>
#include <stdexcept>

#include "core/bench/calibrate.h"
#include "core/capture/native_reader.h"
#include "core/cost/measured.h"
#include "core/edit/edit.h"
#include "core/graph/canonical.h"
#include "core/graph/dependencies.h"
#include "core/graph/literal.h"
#include "core/open/open.h"
#include "core/partition/partition.h"
#include "core/policy/remat.h"
#include "core/policy/tagging.h"
#include "core/schedule/analysis.h"
#include "tests/support/paths.h"

namespace jointer {
namespace {

const std::map<std::string, std::string>& captures() {
  static const auto paths = [] {
    std::map<std::string, std::string> found{
        {"sample_8b", test::source_path("resources/samples/llama_8b_tp2_fsdp2.joint.json.zst")}};
    if (const std::string shared = test::shared_directory(); !shared.empty()) {
      found["8b"] = shared + "/captures/llama3_8b_tp2_fsdp2.joint.json.zst";
      found["671b"] = shared + "/captures/deepseek_v3_671b_tp8_fsdp32_ep32.joint.json.zst";
    }
    return found;
  }();
  return paths;
}

const Graph& graph_of(const std::string& name) {
  static std::map<std::string, Graph> graphs;
  auto it = graphs.find(name);
  if (it == graphs.end()) {
    auto graph = open_graph({.path = captures().at(name)});
    if (!graph) throw std::runtime_error(graph.error().message);
    it = graphs.emplace(name, *std::move(graph)).first;
  }
  return it->second;
}

// torchtitan's tags for a whole forward, as an edit.
void tag_sac(benchmark::State& state, const std::string& name) {
  const Graph& graph = graph_of(name);
  for (auto _ : state) benchmark::DoNotOptimize(apply_sac(graph, {.whole_forward = true}));
}

// Applies that edit and undoes it: a tag for every call of the forward.
void apply_tags(benchmark::State& state, const std::string& name) {
  Graph graph = graph_of(name);
  const auto edit = apply_sac(graph, {.whole_forward = true});
  Editor editor(graph);
  for (auto _ : state) {
    const auto inverse = editor.apply(*edit);
    benchmark::DoNotOptimize(editor.apply(*inverse));
  }
}

// The same with 5,000 tags.
void apply_5000_tags(benchmark::State& state, const std::string& name) {
  Graph graph = graph_of(name);
  Edit edit = *apply_sac(graph, {.whole_forward = true});
  std::size_t left = 5000;
  for (Change& change : edit.changes)
    if (auto* set = std::get_if<SetPolicy>(&change); set != nullptr && set->nodes.size() > left)
      set->nodes.resize(left);
    else if (set != nullptr)
      left -= set->nodes.size();
  Editor editor(graph);
  for (auto _ : state) {
    const auto inverse = editor.apply(edit);
    benchmark::DoNotOptimize(editor.apply(*inverse));
  }
}

void read_capture(benchmark::State& state, const std::string& name) {
  const auto bytes = read_bytes(captures().at(name));
  for (auto _ : state) benchmark::DoNotOptimize(read_native(name, *bytes));
}

// Follows the same rules as torch's build_memory_profile, and so does the same work.
void torch_memory_profile(benchmark::State& state, const std::string& name) {
  const Graph& graph = graph_of(name);
  for (auto _ : state)
    benchmark::DoNotOptimize(MemoryTimeline(graph, {.rules = MemoryRules::torch}));
}

void memory_timeline(benchmark::State& state, const std::string& name) {
  const Graph& graph = graph_of(name);
  for (auto _ : state) benchmark::DoNotOptimize(MemoryTimeline(graph));
}

void reserved_memory(benchmark::State& state, const std::string& name) {
  const Graph& graph = graph_of(name);
  const MemoryTimeline timeline(graph);
  for (auto _ : state) benchmark::DoNotOptimize(simulate_reserved(timeline, graph.main_device()));
}

void estimate_costs(benchmark::State& state, const std::string& name) {
  const Graph& graph = graph_of(name);
  const auto estimator = *make_estimator({});
  for (auto _ : state) benchmark::DoNotOptimize(estimate_all(graph, *estimator));
}

// With a measured cost for every call, looked up as for a GPU after a run.
void estimate_measured(benchmark::State& state, const std::string& name) {
  const Graph& graph = graph_of(name);
  Measurement measurement{.device = "NVIDIA H200", .device_type = "cuda"};
  for (const NodeId id : graph.order()) measurement.nodes.push_back({.node = id, .own_ns = 1000});
  DeviceCosts costs{.device = {.name = measurement.device, .type = measurement.device_type}};
  const CostSamples samples = cost_samples(graph, measurement);
  costs.nodes.insert(samples.nodes.begin(), samples.nodes.end());
  costs.collectives.insert(samples.collectives.begin(), samples.collectives.end());
  const MeasuredEstimator estimator(std::move(costs), *make_estimator({}), 8);
  for (auto _ : state) benchmark::DoNotOptimize(estimate_all(graph, estimator));
}

void simulate_step(benchmark::State& state, const std::string& name) {
  const Graph& graph = graph_of(name);
  const std::vector<NodeCost> costs = estimate_all(graph, **make_estimator({}));
  for (auto _ : state) benchmark::DoNotOptimize(Simulation(graph, costs));
}

void hash_graph(benchmark::State& state, const std::string& name) {
  const Graph& graph = graph_of(name);
  for (auto _ : state) benchmark::DoNotOptimize(graph_hash(graph));
}

void find_dependencies(benchmark::State& state, const std::string& name) {
  const Graph& graph = graph_of(name);
  for (auto _ : state) benchmark::DoNotOptimize(Dependencies(graph));
}

// All of torch's min_cut_rematerialization_partition except emitting the halves: clean-up, tags,
// the cut, reasons. Solving again after a tag has changed is the same work.
void partition_min_cut(benchmark::State& state, const std::string& name) {
  const Graph& graph = graph_of(name);
  for (auto _ : state) benchmark::DoNotOptimize(partition(graph));
}

// Includes the halves: everything that torch's function returns.
void partition_and_emit(benchmark::State& state, const std::string& name) {
  const Graph& graph = graph_of(name);
  for (auto _ : state) {
    const auto done = partition(graph);
    benchmark::DoNotOptimize(emit_pair(done->joint, done->plan));
  }
}

// The last part of every edit that changes more than tags and order.
void finish_again(benchmark::State& state, const std::string& name) {
  Graph graph = graph_of(name);
  for (auto _ : state) benchmark::DoNotOptimize(graph.finish());
}

// A flat step with about `nodes` nodes. Each layer recomputes four of its five values in the
// backward.
Graph flat_step(std::int64_t nodes) {
  constexpr int kAgain = 4;
  const std::int64_t layers = nodes / (2 * (kAgain + 1));
  std::string text = "kind train_step\nw: f32[64] = parameter\nx: f32[64] = input\n";
  std::string last = "x";
  for (std::int64_t l = 0; l < layers; ++l) {
    text +=
        fmt::format("s{0}: f32[64] = aten.mul.Tensor({1}, w)  {{layers.{0} MUST_SAVE}}\n", l, last);
    last = fmt::format("s{}", l);
    for (int i = 0; i < kAgain; ++i) {
      text += fmt::format("r{0}_{1}: f32[64] = aten.sin({2})  {{layers.{0} PREFER_RECOMPUTE}}\n", l,
                          i, last);
      last = fmt::format("r{}_{}", l, i);
    }
  }
  text += fmt::format(
      "loss: f32[64] = aten.exp({})\ng: f32[64] = aten.ones_like(loss)  {{backward}}\n", last);
  last = "g";
  for (std::int64_t l = layers; l-- > 0;)
    for (int i = kAgain; i >= 0; --i) {
      const std::string of = i == kAgain ? fmt::format("s{}", l) : fmt::format("r{}_{}", l, i);
      text +=
          fmt::format("g{0}_{1}: f32[64] = aten.mul.Tensor({2}, {3})  {{layers.{0} backward}}\n", l,
                      i, last, of);
      last = fmt::format("g{}_{}", l, i);
    }
  text += fmt::format("return [loss, {}]\n", last);
  auto graph = parse_literal(text);
  if (!graph) throw std::runtime_error(graph.error().message);
  return *std::move(graph);
}

// Upstream's selective_activation_remat as an edit, and applying it, by number of nodes: shows
// whether the time is linear.
void remat(benchmark::State& state) {
  const Graph graph = flat_step(state.range(0));
  for (auto _ : state) {
    Graph changed = graph;
    const auto edit = selective_activation_remat(changed);
    if (!edit || !apply(changed, *edit)) state.SkipWithError("the edit was refused");
    benchmark::DoNotOptimize(changed);
  }
  state.counters["nodes"] = static_cast<double>(graph.order().size());
  state.SetComplexityN(state.range(0));
}
BENCHMARK(remat)
    ->RangeMultiplier(2)
    ->Range(6'250, 50'000)
    ->Unit(benchmark::kMillisecond)
    ->Complexity(benchmark::oNLogN);

const int registered = [] {
  using Function = void (*)(benchmark::State&, const std::string&);
  for (const auto& [title, function] : {std::pair<const char*, Function>{"read", read_capture},
                                        {"torch_memory_profile", torch_memory_profile},
                                        {"memory_timeline", memory_timeline},
                                        {"reserved_memory", reserved_memory},
                                        {"estimate", estimate_costs},
                                        {"estimate_measured", estimate_measured},
                                        {"simulate", simulate_step},
                                        {"hash", hash_graph},
                                        {"dependencies", find_dependencies},
                                        {"partition", partition_min_cut},
                                        {"partition_and_emit", partition_and_emit},
                                        {"tag_sac", tag_sac},
                                        {"apply_tags", apply_tags},
                                        {"finish_again", finish_again},
                                        {"apply_5000_tags", apply_5000_tags}})
    for (const auto& [name, path] : captures())
      benchmark::RegisterBenchmark((std::string(title) + "/" + name).c_str(), function, name)
          ->Unit(benchmark::kMillisecond);
  return 0;
}();

}  // namespace
}  // namespace jointer
